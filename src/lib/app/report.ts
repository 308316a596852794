import { StewardError, toStewardError } from '../errors';
import { nameOfRepo } from '../platform/files/git-folder';
import { daysOf, type Period } from '../platform/time/period';
import { buildReport } from '../report/build';
import { ownFacts, unionFacts } from '../report/facts';
import type { Report, ReportInput, ReportOptions } from '../report/model';
import { ledgersOf } from '../sense/ledgers';
import type { ReadDeps } from '../sense/read';
import { recordReader } from '../sense/roll';
import { currentSessions } from '../sessions/state';
import { hashedId } from '../sync/format';
import { commonSpelling } from '../time/focus-tally';
import { timeRows } from '../time/ledger/rows';
import { unionDays } from '../time/machines/read';
import { machinesOver } from '../time/machines/view';
import { closingComments, issueFacts } from '../work/issue-facts';
import type { Context } from './context';
import { openMachines } from './machines';
import { openSense } from './sense';
import { openSessions } from './sessions';
import { openUsage } from './usage';
import { openWork } from './work';

/** Reports the work done in a period. Writes nothing. Lists unreadable data in the report's notes. */
export async function openReport(context: Context, period: Period, options: ReportOptions): Promise<Report> {
  if (options.maxDays !== undefined && daysOf(period).length > options.maxDays)
    throw new StewardError('usage', `The period from ${period.from} to ${period.to} is longer than a year.`, {
      hint: 'Choose a shorter period.',
    });
  const notes: string[] = [];
  const sense = await openSense(context);
  const deps = await openMachines(context, sense.deps, options.machine, (text) => notes.push(text));
  const work = await openWork(context);
  const issues = issueFacts(work.deps, options, notes);
  const { days, hasOwn, ledgers, machines } = daysIn(deps, period, notes);
  const times = days.flatMap(({ apps }) => apps);
  const usage = options.usage === true ? await openUsage(context) : undefined;
  const input = {
    period,
    repo: options.repo === undefined ? undefined : nameOfRepo(options.repo),
    days,
    spelling: commonSpelling(times.map(({ app, minutes }) => [app, minutes])),
    pollIntervalSec: sense.deps.config.pollIntervalSec,
    sessions: hasOwn ? await sessionsFrom(context, notes) : [],
    issues,
    time: timeRows(ledgers, 'repo', { session: (id) => id, issue: () => undefined, goal: () => undefined }),
    ...(machines && { machines }),
    ...(usage && { usage: await usage.ofDays(period, options, notes) }),
  };
  const report = (evidence: ReadonlyMap<number, string>): Report =>
    buildReport({ ...input, evidence, notes: [...new Set(notes)] });
  const first = report(new Map());
  if (!options.evidence || first.issues === null) return first;
  const numbers = first.issues.closed.map(({ number }) => number);
  return report(await closingComments(work.deps, numbers, notes));
}

function daysIn(deps: ReadDeps, period: Period, notes: string[]) {
  const { store } = deps;
  const record = recordReader(deps);
  const events = (day: string) => (store.logBytes(day) === undefined ? undefined : store.readLog(day).events);
  const own = () => ownFacts({ record, events }, period, notes);
  const machines = deps.machines?.();
  if (machines === undefined)
    return { days: own(), hasOwn: true, ledgers: ledgersOf(deps, daysOf(period)).ledgers };
  const records = [...unionDays(machines, daysOf(period)).values()];
  return {
    days: unionFacts(records, machines.hasOwn ? own() : [], (id) => hashedId('session', id)),
    hasOwn: machines.hasOwn,
    ledgers: records.map(({ ledger }) => ledger),
    machines: machinesOver(records) ?? [],
  };
}

async function sessionsFrom(context: Context, notes: string[]): Promise<ReportInput['sessions']> {
  try {
    return Object.values(currentSessions(await openSessions(context)).sessions);
  } catch (error) {
    notes.push(`Sessions: ${toStewardError(error).message}`);
    return [];
  }
}
