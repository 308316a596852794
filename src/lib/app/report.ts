import { machineIn, oneOf, route, type Route } from '../daemon/route';
import { StewardError, toStewardError } from '../errors';
import type { CommitFacts, DayFacts, IssueFacts, Report, ReportInput, ReportTime } from '../report/model';
import { buildReport } from '../report/build';
import { daysOf, readPeriod, type Period } from '../report/period';
import { changeOf, type SenseEvent } from '../time/event';
import { commonSpelling } from '../time/focus-tally';
import { timeRows } from '../time/ledger/rows';
import { ledgersOf } from '../sense/ledgers';
import { machinesOver } from '../time/machines/view';
import type { ReadDeps } from '../sense/read';
import type { DailyRecord } from '../time/record';
import { readDay } from '../sense/roll';
import { currentSessions } from '../sessions/state';
import { isReminder, itemsOf, type Item } from '../work/board';
import { parseTitle } from '../work/issue';
import { staleness } from '../work/poll';
import type { Context } from './context';
import { withMachines } from './machines';
import type { ReportUnion } from './report-machines';
import { openSense } from './sense';
import { openSessions } from './sessions';
import { usageOfDays } from './usage';
import { openWork, type WorkContext } from './work';

export interface ReportOptions {
  repo?: string | undefined;
  /** Whether to fetch the last comment on each closed issue from GitHub. */
  evidence: boolean;
  reminders: boolean;
  usage?: boolean;
  machine?: string | undefined;
}

const MAX_EVIDENCE = 30;

/** Reports the work done in a period. Writes nothing. Lists unreadable data in the report's notes. */
export async function openReport(context: Context, period: Period, options: ReportOptions): Promise<Report> {
  const notes: string[] = [];
  const sense = await openSense(context);
  const deps = await withMachines(context, sense.deps, options.machine, (text) => notes.push(text));
  const union = await unionOf(deps, period);
  const work = await openWork(context);
  const issues = issuesFrom(work, notes, options);
  const days = union === undefined ? daysFrom(deps, period, notes) : union.days(notes);
  const times = days.flatMap(({ apps }) => apps);
  const input = {
    ...{ period, repo: options.repo, days },
    spelling: commonSpelling(times.map(({ app, minutes }) => [app, minutes])),
    pollIntervalSec: sense.deps.config.pollIntervalSec,
    sessions: union?.hasOwn === false ? [] : await sessionsFrom(context, notes),
    issues,
    time: timeOfDays(deps, period, union),
    ...(union && { machines: machinesOver([...union.records.values()]) ?? [] }),
    ...(options.usage === true ? { usage: await usageOfDays(context, period, options, notes) } : {}),
  };
  const report = (evidence: ReadonlyMap<number, string>): Report =>
    buildReport({ ...input, evidence, notes: [...new Set(notes)] });
  const first = report(new Map());
  if (!options.evidence || first.issues === null) return first;
  const numbers = first.issues.closed.map(({ number }) => number);
  return report(await evidenceOf(work, numbers, notes));
}

/** The longest period of a report, in days. A longer report would block the daemon. */
const MAX_DAYS = 366;

/**
 * Handles `GET /api/report?from=2026-11-16&to=2026-11-20`. Returns the output of `steward standup --json`, or
 * with `usage=1`, of `steward week --json`.
 */
export function reportRoute(context: Context): Route {
  return route({
    method: 'GET',
    path: '/api/report',
    input: ({ query }) => ({
      since: query.get('from') ?? 'yesterday',
      until: query.get('to') ?? 'today',
      usage: oneOf(query, 'usage', ['0', '1']) === '1',
      machine: machineIn(query),
    }),
    async run({ since, until, usage, machine }): Promise<Report> {
      const period = await readPeriod({ since, until }, await reportNow(context));
      if (daysOf(period).length > MAX_DAYS)
        throw new StewardError(
          'usage',
          `The period from ${period.from} to ${period.to} is longer than a year.`,
          {
            hint: 'Choose a shorter period.',
          },
        );
      return openReport(context, period, { evidence: false, reminders: false, usage, machine });
    },
  });
}

function timeOfDays(deps: ReadDeps, period: Period, union: ReportUnion | undefined): ReportTime[] {
  const ledgers = union
    ? [...union.records.values()].flatMap(({ ledger }) => ledger ?? [])
    : daysOf(period).flatMap((day) => {
        try {
          return ledgersOf(deps, [day]).ledgers;
        } catch {
          // `daysFrom` already reports unreadable days.
          return [];
        }
      });
  const names = { session: (id: string) => id, issue: () => undefined, goal: () => undefined };
  return timeRows(ledgers, 'repo', names);
}

/** Returns the current time and the configured time zone. */
export async function reportNow(context: Context): Promise<{ nowMs: number; zone: string }> {
  const { config } = await context.loadConfig();
  return { nowMs: context.clock.now(), zone: config.user.timezone };
}

function daysFrom(deps: ReadDeps, period: Period, notes: string[]): DayFacts[] {
  const { store } = deps;
  const logged = new Set(store.loggedDays());
  const recorded = new Set(store.recordedDays());
  const { state } = store.readState();
  return daysOf(period).flatMap((day): DayFacts[] => {
    if (!logged.has(day) && !recorded.has(day)) return [];
    try {
      const stored = recorded.has(day) ? store.readRecord(day) : undefined;
      const isOpen = logged.has(day) && stored?.final !== true;
      const record = isOpen ? readDay(deps, state, day).record : stored;
      if (record === undefined) return [];
      const facts = factsOf(record);
      return [logged.has(day) ? { ...facts, raw: rawOf(store.readLog(day).events) } : facts];
    } catch (error) {
      notes.push(`${day}: ${toStewardError(error).message}`);
      return [];
    }
  });
}

async function unionOf(deps: ReadDeps, period: Period): Promise<ReportUnion | undefined> {
  const machines = deps.machines?.();
  if (machines === undefined) return undefined;
  const { reportUnion } = await import('./report-machines');
  return reportUnion(machines, period, (notes) => daysFrom(deps, period, notes));
}

function factsOf(record: DailyRecord): DayFacts {
  const { date, apps, totalMinutes, creationMinutes, consumptionMinutes, commits, sessions } = record;
  return {
    ...{ date, apps, totalMinutes, creationMinutes, consumptionMinutes },
    ...(record.backfilled === true ? { backfilled: true } : {}),
    commits: commits.repos,
    sessions: sessions.items.map(({ session }) => session),
  };
}

function rawOf(events: readonly SenseEvent[]): NonNullable<DayFacts['raw']> {
  return {
    commits: events.filter(({ type }) => type === 'git-commit').map(commitOf),
    activity: events.flatMap(({ type, ts, repo, detail }) => {
      const session = detail?.['session'];
      if (type !== 'agent-session' || repo === undefined || typeof session !== 'string') return [];
      return [{ repo, session, atMs: Date.parse(ts) }];
    }),
  };
}

function commitOf(event: SenseEvent): CommitFacts {
  const { ts, repo, detail } = event;
  const [path = '', sha = '', subject = ''] = ['path', 'sha', 'subject'].map((key) => {
    const value = detail?.[key];
    return typeof value === 'string' ? value : '';
  });
  return { repo: repo ?? (path || 'unknown'), path, sha, subject, at: ts, change: changeOf(event) ?? ts };
}

async function sessionsFrom(context: Context, notes: string[]): Promise<ReportInput['sessions']> {
  try {
    return Object.values(currentSessions(await openSessions(context)).sessions);
  } catch (error) {
    notes.push(`Sessions: ${toStewardError(error).message}`);
    return [];
  }
}

function issuesFrom(
  { deps }: WorkContext,
  notes: string[],
  { reminders }: Pick<ReportOptions, 'reminders'>,
): IssueFacts[] | undefined {
  const repo = deps.workRepo();
  if (repo.repo === undefined) return undefined;
  const { stale, staleReason, lastFetch } = staleness(deps, repo);
  if (lastFetch === null) notes.push('Issues: not fetched yet. Run "steward work board".');
  else if (stale) notes.push(`Issues: last fetched ${lastFetch}; ${staleReason ?? 'the cache is stale'}`);
  return itemsOf(deps, repo)
    .filter((item) => reminders || !isReminder(item))
    .map(issueOf);
}

function issueOf(item: Item): IssueFacts {
  const { number, title, url, state, status, priority, property, slug, createdAt, closedAt } = item;
  return {
    ...{ number, url, state, status, priority, property, slug, createdAt, closedAt },
    title: parseTitle(title).text,
    completed: item.stateReason === null || item.stateReason === 'completed',
  };
}

async function evidenceOf(
  { deps }: WorkContext,
  numbers: readonly number[],
  notes: string[],
): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  const { repo } = deps.workRepo();
  if (repo === undefined || numbers.length === 0) return found;
  try {
    const host = await deps.host();
    for (const number of numbers.slice(0, MAX_EVIDENCE)) {
      const comment = (await host.comments(repo, number)).at(-1)?.body.trim() ?? '';
      if (comment !== '') found.set(number, comment);
    }
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    notes.push(`Closing comments: ${error.message}`);
  }
  if (numbers.length > MAX_EVIDENCE)
    notes.push(`Closing comments: not fetched for ${numbers.length - MAX_EVIDENCE} more issues.`);
  return found;
}
