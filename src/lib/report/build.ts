import { byCodeUnits } from '../platform/files/short-hash';
import { longDay, plural } from '../platform/terminal/format';
import { addDays, type Day } from '../platform/time/time';
import type { PhaseId } from '../sessions/phases';
import type { Session } from '../sessions/session';
import type { CommitFacts, DayFacts, IssueFacts, Report, ReportClosed, ReportCommit, ReportInput, ReportIssue, ReportSession } from './model'; // prettier-ignore
import { daysOf } from './period';

/** What was done in a period. Pure: the same input in any order gives the same report; gaps are named in `notKnown`. */
export function buildReport(input: ReportInput): Report {
  const { period, repo } = input;
  const days = input.days
    .filter(({ date }) => date >= period.from && date <= period.to)
    .sort((a, b) => byCodeUnits(a.date, b.date));
  const commits = commitsOf(days, repo);
  const sessions = sessionsOf(input, days);
  // The time of an application is not known by repository.
  const timed = repo === undefined ? days : [];
  const { count, items } = sessions;
  return {
    ...{ from: period.from, to: period.to, timezone: period.timezone, repo: repo ?? null },
    totalMinutes: total(timed, (day) => day.totalMinutes),
    creationMinutes: total(timed, (day) => day.creationMinutes),
    consumptionMinutes: total(timed, (day) => day.consumptionMinutes),
    apps: appsOf(timed),
    repos: reposOf(commits.repos, sessions.repos, days),
    commits: { count: commits.items.length + commits.unnamed, items: commits.items },
    sessions: { count, items },
    issues: input.issues === undefined ? null : issuesOf(input.issues, input, commits.items, items),
    notKnown: notKnown(input, days, commits.unnamed),
  };
}

/** In tenths, so that sums of decimals do not depend on their order. */
function total(days: readonly DayFacts[], of: (day: DayFacts) => number): number {
  return days.reduce((sum, day) => sum + Math.round(of(day) * 10), 0) / 10;
}

function appsOf(days: readonly DayFacts[]): Report['apps'] {
  const tenths = new Map<string, { app: string; kind: string; tenths: number }>();
  for (const { app, kind, minutes } of days.flatMap((day) => day.apps)) {
    const key = `${kind}\n${app}`;
    const row = tenths.get(key) ?? { app, kind, tenths: 0 };
    row.tenths += Math.round(minutes * 10);
    tenths.set(key, row);
  }
  return [...tenths.values()]
    .sort((a, b) => b.tenths - a.tenths || byCodeUnits(a.app, b.app) || byCodeUnits(a.kind, b.kind))
    .map(({ app, kind, tenths: sum }) => ({ app, kind, minutes: sum / 10 }));
}

function reposOf(
  commits: ReadonlyMap<string, number>,
  sessions: ReadonlyMap<string, { sessions: number; minutes: number }>,
  days: readonly DayFacts[],
): Report['repos'] {
  const hasRaw = days.some(({ raw }) => raw !== undefined);
  return [...new Set([...commits.keys(), ...sessions.keys()])]
    .map((repo) => ({
      repo,
      commits: commits.get(repo) ?? 0,
      sessions: sessions.get(repo)?.sessions ?? 0,
      assistantMinutes: hasRaw ? (sessions.get(repo)?.minutes ?? 0) : null,
    }))
    .sort(
      (a, b) =>
        b.commits - a.commits ||
        (b.assistantMinutes ?? 0) - (a.assistantMinutes ?? 0) ||
        b.sessions - a.sessions ||
        byCodeUnits(a.repo, b.repo),
    );
}

/** Is this the repository that is asked for? Without case, by the name of its folder; any when none is asked for. */
function isRepo(name: string | null, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const [own, asked] = [name?.toLowerCase(), wanted.toLowerCase()];
  return own === asked || own?.endsWith(`/${asked}`) === true;
}

/**
 * The commits of some days, the oldest first; a change that was captured on two days counts once. `unnamed`: those of
 * days whose raw log, and with it their subjects, is discarded.
 */
function commitsOf(
  days: readonly DayFacts[],
  wanted: string | undefined,
): { items: ReportCommit[]; repos: Map<string, number>; unnamed: number } {
  const found = new Map<string, CommitFacts>();
  for (const commit of days.flatMap((day) => day.raw?.commits ?? [])) {
    if (!isRepo(commit.repo, wanted)) continue;
    const key = JSON.stringify([commit.path || commit.repo, commit.change]);
    const known = found.get(key);
    if (known === undefined || order(commit, known) < 0) found.set(key, commit);
  }
  const kept = [...found.values()].sort(order);
  const items = kept.map((commit) => {
    const { sha, subject, at } = commit;
    return { repo: nameOf(commit, kept), sha, subject, at };
  });
  const discarded = days
    .filter(({ raw }) => raw === undefined)
    .flatMap((day) => day.commits.filter(({ repo }) => isRepo(repo, wanted)));
  const repos = new Map<string, number>();
  for (const { repo, commits } of [...items.map(({ repo }) => ({ repo, commits: 1 })), ...discarded])
    repos.set(repo, (repos.get(repo) ?? 0) + commits);
  return { items, repos, unnamed: discarded.reduce((sum, { commits }) => sum + commits, 0) };
}

/** The name of a folder; with the folder above where two repositories have the same. */
function nameOf({ repo, path }: CommitFacts, all: readonly CommitFacts[]): string {
  if (path === '' || all.every((other) => other.repo !== repo || other.path === path)) return repo;
  const parts = path.split(/[\\/]+/).filter((part) => part !== '');
  return parts.slice(-2).join('/');
}

function order(a: CommitFacts, b: CommitFacts): number {
  const key = ({ at, sha, repo, path }: CommitFacts): string => `${at}\n${sha}\n${repo}\n${path}`;
  return byCodeUnits(key(a), key(b));
}

/**
 * The sessions in which something happened in the period: by the captured events of its days, or because they began,
 * ended or changed their phase in it. Those with a task first, in the order in which they began.
 */
function sessionsOf(
  { period, repo, pollIntervalSec, sessions: all }: ReportInput,
  days: readonly DayFacts[],
): { count: number; items: ReportSession[]; repos: ReturnType<typeof byRepo> } {
  const isIn = (iso: string): boolean => isWithin(iso, period);
  const seen = new Set(days.flatMap((day) => day.sessions));
  const key = ({ task, startedAt, slug }: Session): string =>
    `${task === null ? 1 : 0}\n${startedAt}\n${slug}`;
  const own = all
    .filter(
      (session) =>
        isRepo(session.repo, repo) &&
        (isIn(session.startedAt) ||
          isIn(session.updatedAt) ||
          session.phaseHistory.some(({ at }) => isIn(at)) ||
          session.sessionIds.some((id) => seen.has(id))),
    )
    .sort((a, b) => byCodeUnits(key(a), key(b)));
  const activity = days.flatMap((day) => day.raw?.activity ?? []).filter((one) => isRepo(one.repo, repo));
  const known = new Set(all.flatMap(({ sessionIds }) => sessionIds));
  // Only its raw events tell the repository of a session that the state has forgotten.
  const ids = repo === undefined ? [...seen] : activity.map(({ session }) => session);
  const forgotten = new Set(ids.filter((id) => !known.has(id)));
  return {
    count: own.length + forgotten.size,
    items: own.map((session) => {
      const { slug, task, project, github_issue: issue } = session;
      return { slug, task, repo: session.repo, project, phases: phasesOf(session, period), issue };
    }),
    repos: byRepo(own, activity, forgotten, pollIntervalSec),
  };
}

function byRepo(
  sessions: readonly Session[],
  activity: NonNullable<DayFacts['raw']>['activity'],
  forgotten: ReadonlySet<string>,
  pollIntervalSec: number,
): Map<string, { sessions: number; minutes: number }> {
  const repos = new Map<string, { sessions: Set<string>; polls: Set<number> }>();
  const rowOf = (repo: string): { sessions: Set<string>; polls: Set<number> } => {
    const row = repos.get(repo) ?? { sessions: new Set(), polls: new Set() };
    repos.set(repo, row);
    return row;
  };
  for (const { repo, slug } of sessions) if (repo !== null) rowOf(repo).sessions.add(slug);
  for (const { repo, session, atMs } of activity) {
    const row = rowOf(repo);
    // Sessions side by side take one person's time once.
    row.polls.add(Math.floor(atMs / (pollIntervalSec * 1000)));
    if (forgotten.has(session)) row.sessions.add(`\n${session}`);
  }
  const minutes = (polls: number): number => Math.round((polls * pollIntervalSec) / 6) / 10;
  return new Map(
    [...repos].map(([repo, row]) => [
      repo,
      { sessions: row.sessions.size, minutes: minutes(row.polls.size) },
    ]),
  );
}

/** The phase that it was in when the period began, if it had begun, and those that it came to. */
function phasesOf({ phase, phaseHistory }: Session, { startMs, endMs }: ReportInput['period']): PhaseId[] {
  if (phaseHistory.length === 0) return [phase];
  const history = phaseHistory.filter(({ at }) => Date.parse(at) < endMs);
  const first = history.findIndex(({ at }) => Date.parse(at) >= startMs);
  const from = first === -1 ? history.length - 1 : first - 1;
  return history.slice(Math.max(0, from)).map((entry) => entry.phase);
}

function isWithin(iso: string | null, { startMs, endMs }: ReportInput['period']): boolean {
  const ms = Date.parse(iso ?? '');
  return ms >= startMs && ms < endMs;
}

const UNDER_WAY: ReadonlySet<string | null> = new Set(['in-progress', 'in-review', 'blocked', 'needs-human']);

/** What became of the issues in the period: each once, where it says most. */
function issuesOf(
  all: readonly IssueFacts[],
  { period, repo, evidence }: ReportInput,
  commits: readonly ReportCommit[],
  sessions: readonly ReportSession[],
): NonNullable<Report['issues']> {
  const named = naming(commits);
  const slugs = new Set(sessions.map(({ slug }) => slug));
  const numbers = new Set(sessions.map(({ issue }) => issue));
  // The issues of all repositories are in one: this one's are known by its name, sessions and commits.
  const isOwn = ({ property, number, slug }: IssueFacts): boolean =>
    isRepo(property, repo) || named.has(number) || numbers.has(number) || (slug !== null && slugs.has(slug));
  const own = all.filter(isOwn).sort((a, b) => a.number - b.number);
  const closed = own.filter(({ state, closedAt }) => state === 'closed' && isWithin(closedAt, period));
  const underWay = own.filter(
    ({ state, status }) => period.current && state === 'open' && UNDER_WAY.has(status),
  );
  const shown = new Set([...closed, ...underWay]);
  return {
    closed: closed.map((issue): ReportClosed => ({
      ...rowOf(issue),
      completed: issue.completed,
      evidence: evidence.get(issue.number) ?? null,
      commits: named.get(issue.number) ?? [],
    })),
    inProgress: underWay.map(rowOf),
    opened: own.filter((issue) => isWithin(issue.createdAt, period) && !shown.has(issue)).map(rowOf),
  };
}

/** The commits that name an issue, such as `Fix the login (#12)`. */
function naming(commits: readonly ReportCommit[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const { sha, subject } of commits) {
    for (const [, digits] of subject.matchAll(/(?<![\w#/])#([1-9]\d{0,8})\b/g)) {
      const shas = found.get(Number(digits)) ?? [];
      found.set(Number(digits), [...new Set([...shas, sha])]);
    }
  }
  return found;
}

function rowOf(issue: IssueFacts): ReportIssue {
  const { number, title, url, status, priority, property, createdAt, closedAt } = issue;
  return { number, title, url, status, priority, property, createdAt, closedAt };
}

/** What a report cannot know, in sentences that a person can act on. */
function notKnown(
  { period, repo, issues, notes }: ReportInput,
  days: readonly DayFacts[],
  unnamed: number,
): string[] {
  const stored = new Set(days.map(({ date }) => date));
  const missing = daysOf(period).filter((day) => !stored.has(day));
  const untimed = days.filter(({ backfilled }) => backfilled === true).map(({ date }) => date);
  const raw = days.find((day) => day.raw !== undefined);
  const isDiscarded = days.some(
    (day) => day.raw === undefined && day.commits.length + day.sessions.length > 0,
  );
  const all: [boolean, string][] = [
    [missing.length > 0, `Nothing is stored of ${spans(missing)}.`],
    [unnamed > 0, `The subjects of ${plural(unnamed, 'commit')}: the raw logs of their days are discarded.`],
    [
      raw !== undefined && isDiscarded,
      `Assistant time before ${longDay(raw?.date ?? '')}: the raw logs are discarded.`,
    ],
    [untimed.length > 0, `Application time of ${spans(untimed)}: not recorded.`],
    [repo !== undefined, 'Time by application: it is not known by repository.'],
    [issues === undefined, 'Issues: the work repository is not set up (steward work setup OWNER/REPO).'],
  ];
  return [...all.flatMap(([holds, text]) => (holds ? [text] : [])), ...notes];
}

const MAX_SPANS = 4;

/** `Mon 2 Nov 2026 to Wed 4 Nov 2026 and Fri 6 Nov 2026`; of many the first ones and how many more. */
function spans(days: readonly Day[]): string {
  const found: [Day, Day][] = [];
  for (const day of days) {
    const last = found.at(-1);
    if (last !== undefined && addDays(last[1], 1) === day) last[1] = day;
    else found.push([day, day]);
  }
  const names = found
    .slice(0, MAX_SPANS)
    .map(([from, to]) => (from === to ? longDay(from) : `${longDay(from)} to ${longDay(to)}`));
  const rest = found.slice(MAX_SPANS).flatMap(([from, to]) => daysOf({ from, to })).length;
  if (rest > 0) return `${names.join(', ')} and ${plural(rest, 'day')} more`;
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}
