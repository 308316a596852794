import { StewardError } from '../errors';
import { addDays, dayOf, type Day } from '../platform/time/time';
import { daysOf, readPeriod, readWeek, type Period } from '../report/period';
import { commonSpelling } from '../time/focus-tally';
import { intervalsOf, type Interval } from '../time/ledger/exports';
import type { DayLedger } from '../time/ledger/model';
import { goalReasons, keyOf, timeRows, type TimeKey, type TimeReport } from '../time/ledger/rows';
import type { TimeBeside } from '../time/ledger/view';
import { dayPieces, daysWithoutLog, ledgersOf } from '../sense/ledgers';
import type { Context } from './context';
import { openSense, type SenseContext } from './sense';
import { withMachines } from './machines';
import { openWorkNames } from './work-names';

export interface TimeInput {
  /** A day in natural language, or a period: `week`, `month`, `year`, `last week` or `last month`. */
  of: string;
  by: TimeKey;
  machine?: string | undefined;
}

export interface TimeResult {
  report: TimeReport;
  beside: TimeBeside;
  /** Notes about damaged records. The report omits these records. */
  notes: readonly string[];
  reasons: () => ReturnType<typeof goalReasons>;
  /**
   * Returns your time on this machine as intervals. Covers only days that still have an event log. Throws
   * `usage` if the report is about another machine.
   */
  intervals: () => Interval[];
  /** Returns the recorded days whose event log was deleted. */
  withoutLog: () => readonly Day[];
}

/** Returns how time was spent in a period. Writes nothing. */
export async function openTime(context: Context, { of, by, machine }: TimeInput): Promise<TimeResult> {
  const sense = await openSense(context);
  const period = await periodOf(sense, of);
  const notes: string[] = [];
  const deps = await withMachines(context, sense.deps, machine, (text) => notes.push(text));
  const days = daysOf(period);
  const { damaged, machines, ...recorded } = ledgersOf(deps, days);
  const { ledgers } = recorded;
  const machineNames = new Map(machines?.map(({ id, name }) => [id, name]));
  const names = { ...(await openWorkNames(context))(), machine: (id: string) => machineNames.get(id) ?? id };
  const rows = timeRows(ledgers, by, names);
  const { from, to } = period;
  const { timezone = period.timezone } = recorded;
  return {
    report: { from, to, timezone, totalMinutes: totalOf(ledgers), rows, ...(machines && { machines }) },
    beside: { by, ...recorded },
    notes: [...damaged.map(({ message, hint = '' }) => `${message} ${hint}`), ...notes],
    reasons: () => goalReasons(ledgers, names),
    intervals() {
      if (deps.machines?.()?.hasOwn === false) throw otherMachine(machine);
      const pieces = days.flatMap((day) => dayPieces(deps, day));
      const spelling = commonSpelling(pieces.map(({ app, span: [start, end] }) => [app, end - start]));
      return intervalsOf(pieces, ({ app, ...work }) =>
        by === 'app' ? spelling(app) : keyOf(work, by, names),
      );
    },
    withoutLog: () => daysWithoutLog(deps, days),
  };
}

function otherMachine(machine = ''): StewardError {
  return new StewardError('usage', `This machine has no intervals for machine ${JSON.stringify(machine)}.`, {
    hint: 'Intervals come from the event log, which is never published. Run the command on that machine, or print totals with --csv.',
  });
}

function totalOf(ledgers: readonly DayLedger[]): number {
  const rows = ledgers.flatMap(({ attention }) => attention);
  return rows.reduce((sum, { minutes }) => sum + Math.round(minutes * 10), 0) / 10;
}

async function periodOf({ deps }: SenseContext, of: string): Promise<Period> {
  const now = { nowMs: deps.clock.now(), zone: deps.timezone };
  const today = dayOf(now.nowMs, now.zone);
  const firstOfMonth = `${today.slice(0, 8)}01`;
  const word = of
    .trim()
    .toLowerCase()
    .replace(/^this /, '');
  if (word === 'week') return readWeek(today, now);
  if (word === 'last week') return readWeek(addDays(today, -7), now);
  if (word === 'month') return readPeriod({ since: firstOfMonth }, now);
  if (word === 'last month') {
    const until = addDays(firstOfMonth, -1);
    return readPeriod({ since: `${until.slice(0, 8)}01`, until }, now);
  }
  if (word === 'year') return readPeriod({ since: addDays(today, -364) }, now);
  if (/^(?:last year|\d{4}-\d{2})$/.test(word)) {
    throw new StewardError('usage', `Invalid day ${JSON.stringify(of)}.`, {
      hint: 'Use a day such as 2026-11-20, or "week", "month" or "year".',
    });
  }
  return readPeriod({ since: of, until: of }, now);
}
