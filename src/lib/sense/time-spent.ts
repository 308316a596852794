import type { Goal } from '../goals/record';
import { goalTimes } from '../goals/view';
import { daysOf, type Period } from '../platform/time/period';
import { intervalsOf } from '../time/ledger/exports';
import type { DayLedger } from '../time/ledger/model';
import { appNames, isAppKey, keyOf, timeRows, type TimeKey, type WorkNames } from '../time/ledger/rows';
import { ledgersOf, piecesOf } from './ledgers';
import type { ReadDeps } from './read';

/** Returns how time was spent in a period. Writes nothing. */
export function timeSpent(
  deps: ReadDeps & { goals: readonly Goal[]; names: WorkNames },
  { period, by }: { period: Period; by: TimeKey },
) {
  const days = daysOf(period);
  const { damaged, machines, ...recorded } = ledgersOf(deps, days);
  const { ledgers } = recorded;
  const machineNames = new Map(machines?.map(({ id, name }) => [id, name]));
  const names = { ...deps.names, machine: (id: string) => machineNames.get(id) ?? id };
  const rows = timeRows(ledgers, by, names);
  const label = (key: string): string => {
    const goal = deps.goals.find(({ id }) => by === 'goal' && id === key);
    return goal === undefined ? key : `${key} ${goal.text}`;
  };
  const { from, to } = period;
  const { timezone = period.timezone, notRecorded } = recorded;
  const totalMinutes = notRecorded + damaged.length === days.length ? null : totalOf(ledgers);
  return {
    report: { from, to, timezone, totalMinutes, rows, ...(machines && { machines }) },
    beside: { by, label, ...recorded },
    notes: damaged.map(({ message, hint = '' }) => `${message} ${hint}`),
    goals: () => goalTimes(deps.goals, rows),
    intervals() {
      const { pieces, skipped } = piecesOf(deps, days);
      const nameOf = appNames(
        by,
        pieces.map(({ app, span: [start, end] }) => [app, end - start]),
      );
      const keyed = intervalsOf(pieces, (work) => (isAppKey(by) ? nameOf(work.app) : keyOf(work, by, names)));
      return { intervals: keyed, skipped };
    },
  };
}

function totalOf(ledgers: readonly DayLedger[]): number {
  const rows = ledgers.flatMap(({ attention }) => attention);
  return rows.reduce((sum, { minutes }) => sum + Math.round(minutes * 10), 0) / 10;
}
