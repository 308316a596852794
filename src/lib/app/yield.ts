import { StewardError } from '../errors';
import type { Period } from '../platform/time/period';
import { addDays, dayBounds, dayOf } from '../platform/time/time';
import { yieldCommits } from '../sense/yield-commits';
import { KEPT_DAYS } from '../usage/collect';
import { rowsSince } from '../usage/ledger';
import type { Grouping } from '../usage/rollup';
import type { UsageReport } from '../usage/view';
import { commitYield, groupYield, type YieldRow } from '../usage/yield';
import { issueStates } from '../work/board';
import type { Context } from './context';
import { openSense } from './sense';
import { openTime } from './time';
import { openUsage } from './usage';
import { openWork } from './work';
import { openWorkNames } from './work-names';

/** Returns the usage of a period; by issue, branch or commit, with your time and the results of the work. */
export async function openUsageReport(
  context: Context,
  { by, period, machine }: { by: Grouping | 'commit'; period: Period; machine?: string | undefined },
): Promise<UsageReport> {
  const { deps, report: read } = await openUsage(context);
  const report = await read({ period, machine, by: by === 'commit' ? 'session' : by });
  if (by !== 'commit' && by !== 'issue' && by !== 'branch') return report;
  if (machine !== undefined && by === 'commit')
    throw new StewardError('usage', 'Commits are known on this machine only.', { hint: 'Omit --machine.' });
  const oldest = addDays(dayOf(deps.clock.now(), deps.zone), 1 - KEPT_DAYS);
  const { deps: sense } = await openSense(context);
  const { issue: issueOf } = (await openWorkNames(context))();
  const found = await yieldCommits({ ...sense, run: context.run, issueOf }, period, oldest);
  const { commits, isKnown, notes: ofCommits, ...spans } = found;
  const notes = [...report.notes, ...ofCommits];
  const statesOf = issueStates((await openWork(context)).deps);
  const made = (rows: YieldRow[]): UsageReport => {
    return { ...report, by, notes, made: { ...report.usage, rows, ...(notes.length > 0 && { notes }) } };
  };
  if (by === 'commit') {
    const { startMs: oldestMs } = dayBounds(oldest, deps.zone);
    const responses = rowsSince(deps.state, oldestMs, oldest);
    const known = { ...spans, oldestMs, fromMs: period.startMs, prices: deps.prices, responses };
    return made(commitYield({ ...known, commits }, statesOf));
  }
  const { rows } = (await openTime(context, period, { by, machine })).report;
  const times = rows.map(
    ({ key, working, minutes }) => [key, { agentMinutes: working, yourMinutes: minutes }] as const,
  );
  const own = isKnown && machine === undefined ? commits.filter(({ ms }) => ms >= period.startMs) : undefined;
  return made(groupYield(report.usage.rows, by, new Map(times), own, statesOf));
}
