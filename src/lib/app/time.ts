import { readGoals } from '../goals/record';
import { goalTimes } from '../goals/view';
import { daysOf, type Period } from '../platform/time/period';
import { intervalsOf } from '../time/ledger/exports';
import type { DayLedger } from '../time/ledger/model';
import { appNames, isAppKey, keyOf, timeRows, type TimeKey } from '../time/ledger/rows';
import { ledgersOf, piecesOf } from '../sense/ledgers';
import type { Context } from './context';
import { openSense } from './sense';
import { openMachines } from './machines';
import { openWorkNames } from './work-names';

/** Returns how time was spent in a period. Writes nothing. */
export async function openTime(
  context: Context,
  period: Period,
  { by, machine }: { by: TimeKey; machine?: string | undefined },
) {
  const sense = await openSense(context);
  const notes: string[] = [];
  const deps = await openMachines(context, sense.deps, machine, (text) => notes.push(text));
  const days = daysOf(period);
  const { damaged, machines, ...recorded } = ledgersOf(deps, days);
  const { ledgers } = recorded;
  const machineNames = new Map(machines?.map(({ id, name }) => [id, name]));
  const names = { ...(await openWorkNames(context))(), machine: (id: string) => machineNames.get(id) ?? id };
  const rows = timeRows(ledgers, by, names);
  const goals = readGoals(context.area.goals);
  const label = (key: string): string => {
    const goal = goals.find(({ id }) => by === 'goal' && id === key);
    return goal === undefined ? key : `${key} ${goal.text}`;
  };
  const { from, to } = period;
  const { timezone = period.timezone, notRecorded } = recorded;
  const totalMinutes = notRecorded + damaged.length === days.length ? null : totalOf(ledgers);
  return {
    report: { from, to, timezone, totalMinutes, rows, ...(machines && { machines }) },
    beside: { by, label, ...recorded },
    notes: [...damaged.map(({ message, hint = '' }) => `${message} ${hint}`), ...notes],
    goals: () => goalTimes(goals, rows),
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
