import { byCodeUnits } from '../platform/files/short-hash';
import type { PhaseId } from '../sessions/phases';
import type { Session } from '../sessions/session';
import { notKnown } from './gaps';
import type { CommitFacts, DayFacts, IssueFacts, Report, ReportClosed, ReportCommit, ReportInput, ReportIssue, ReportSession } from './model'; // prettier-ignore

/** Builds the report for a period. The order of the input doesn't matter. */
export function buildReport(input: ReportInput): Report {
  const { period, repo } = input;
  const days = input.days
    .filter(({ date }) => date >= period.from && date <= period.to)
    .sort((a, b) => byCodeUnits(a.date, b.date));
  const commits = commitsOf(days, repo);
  const sessions = sessionsOf(input, days);
  // Application time isn't recorded per repository, so omit it from a report about one repository.
  const timed = repo === undefined ? days.filter(({ backfilled }) => backfilled !== true) : [];
  return {
    from: period.from,
    to: period.to,
    timezone: period.timezone,
    repo: repo ?? null,
    totalMinutes: total(timed, (day) => day.totalMinutes),
    creationMinutes: total(timed, (day) => day.creationMinutes),
    consumptionMinutes: total(timed, (day) => day.consumptionMinutes),
    apps: appsOf(timed, input.spelling),
    repos: reposOf(commits.repos, sessions.repos, days),
    commits: { count: commits.items.length + commits.unnamed, items: commits.items },
    sessions: { count: sessions.count, items: sessions.items },
    issues: input.issues === undefined ? null : issuesOf(input.issues, input, commits.items, sessions.items),
    ...(input.usage === undefined ? {} : { usage: input.usage }),
    ...timeOf(input),
    ...(input.machines && { machines: input.machines }),
    notKnown: notKnown(input, days, commits.unnamed),
  };
}

/** Returns the time per repository; empty if no repository is known. */
function timeOf({ time = [], repo }: ReportInput): Pick<Report, 'time'> {
  const rows = time.filter(({ key }) => isRepo(key, repo));
  return rows.some(({ key }) => key !== 'unknown' && key !== 'other folders') ? { time: rows } : {};
}

/** Sums the values as integers (tenths of a minute) to avoid rounding errors; null if no day was recorded. */
function total(days: readonly DayFacts[], of: (day: DayFacts) => number): number | null {
  if (days.length === 0) return null;
  return days.reduce((sum, day) => sum + Math.round(of(day) * 10), 0) / 10;
}

function appsOf(days: readonly DayFacts[], spelling: ReportInput['spelling']): Report['apps'] {
  const rows = new Map<string, { app: string; kind: string; tenths: number }>();
  for (const { app: name, kind, minutes } of days.flatMap((day) => day.apps)) {
    const app = spelling(name);
    const key = `${kind}\n${app}`;
    const row = rows.get(key) ?? { app, kind, tenths: 0 };
    rows.set(key, { ...row, tenths: row.tenths + Math.round(minutes * 10) });
  }
  return [...rows.values()]
    .sort((a, b) => b.tenths - a.tenths || byCodeUnits(a.app, b.app) || byCodeUnits(a.kind, b.kind))
    .map(({ app, kind, tenths }) => ({ app, kind, minutes: tenths / 10 }));
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

/** Returns whether a repository matches the requested name, ignoring case and parent folders. */
function isRepo(name: string | null, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const [own, asked] = [name?.toLowerCase(), wanted.toLowerCase()];
  return own === asked || own?.endsWith(`/${asked}`) === true;
}

/**
 * Returns the commits from the given days, oldest first. A change captured on two days counts once. `unnamed`
 * counts commits whose subject is unknown.
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
    if (known === undefined || byTime(commit, known) < 0) found.set(key, commit);
  }
  const commits = [...found.values()].sort(byTime);
  const items = commits.map((commit) => {
    const { sha, subject, at } = commit;
    return { repo: nameOf(commit, commits), sha, subject, at };
  });
  const counted = days
    .flatMap((day) => (day.raw === undefined ? day.commits : (day.elsewhere ?? [])))
    .filter(({ repo }) => isRepo(repo, wanted));
  const repos = new Map<string, number>();
  for (const { repo, commits: count } of [...items.map(({ repo }) => ({ repo, commits: 1 })), ...counted])
    repos.set(repo, (repos.get(repo) ?? 0) + count);
  return { items, repos, unnamed: counted.reduce((sum, { commits: count }) => sum + count, 0) };
}

/** Returns the folder name, with its parent folder if two repositories have the same name. */
function nameOf({ repo, path }: CommitFacts, all: readonly CommitFacts[]): string {
  if (path === '' || all.every((other) => other.repo !== repo || other.path === path)) return repo;
  const parts = path.split(/[\\/]+/).filter((part) => part !== '');
  return parts.slice(-2).join('/');
}

function byTime(a: CommitFacts, b: CommitFacts): number {
  const key = ({ at, sha, repo, path }: CommitFacts): string => `${at}\n${sha}\n${repo}\n${path}`;
  return byCodeUnits(key(a), key(b));
}

/**
 * Returns the sessions that were active in the period, according to the captured events or the session data.
 * Sessions with a task come first.
 */
function sessionsOf(
  { period, repo, pollIntervalSec, sessions: all }: ReportInput,
  days: readonly DayFacts[],
): { count: number; items: ReportSession[]; repos: ReturnType<typeof byRepo> } {
  const isIn = (iso: string): boolean => isWithin(iso, period);
  const active = new Set(days.flatMap((day) => day.sessions));
  const key = ({ task, startedAt, slug }: Session): string =>
    `${task === null ? 1 : 0}\n${startedAt}\n${slug}`;
  const own = all
    .filter(
      (session) =>
        isRepo(session.repo, repo) &&
        (isIn(session.startedAt) ||
          isIn(session.updatedAt) ||
          session.phaseHistory.some(({ at }) => isIn(at)) ||
          session.sessionIds.some((id) => active.has(id))),
    )
    .sort((a, b) => byCodeUnits(key(a), key(b)));
  const activity = days.flatMap((day) => day.raw?.activity ?? []).filter((poll) => isRepo(poll.repo, repo));
  const known = new Set(all.flatMap(({ sessionIds }) => sessionIds));
  // The repository of a session that is no longer stored is known only from the raw events.
  const ids = repo === undefined ? [...active] : activity.map(({ session }) => session);
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

/** Returns the phase at the start of the period and each phase reached within the period. */
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

function issuesOf(
  all: readonly IssueFacts[],
  { period, repo, evidence }: ReportInput,
  commits: readonly ReportCommit[],
  sessions: readonly ReportSession[],
): NonNullable<Report['issues']> {
  const mentions = mentionsIn(commits);
  const slugs = new Set(sessions.map(({ slug }) => slug));
  const numbers = new Set(sessions.map(({ issue }) => issue));
  // The work repository contains the issues of every repository, so keep only this repository's issues.
  const isOwn = ({ property, number, slug }: IssueFacts): boolean =>
    isRepo(property, repo) ||
    mentions.has(number) ||
    numbers.has(number) ||
    (slug !== null && slugs.has(slug));
  const own = all.filter(isOwn).sort((a, b) => a.number - b.number);
  const closed = own.filter(({ state, closedAt }) => state === 'closed' && isWithin(closedAt, period));
  const underWay = own.filter(
    ({ state, status }) => period.current && state === 'open' && UNDER_WAY.has(status),
  );
  const listed = new Set([...closed, ...underWay]);
  return {
    closed: closed.map((issue): ReportClosed => ({
      ...rowOf(issue),
      completed: issue.completed,
      evidence: evidence.get(issue.number) ?? null,
      commits: mentions.get(issue.number) ?? [],
    })),
    inProgress: underWay.map(rowOf),
    opened: own.filter((issue) => isWithin(issue.createdAt, period) && !listed.has(issue)).map(rowOf),
  };
}

/** Groups commit hashes by issue. The subject `Fix the login (#12)` mentions issue 12. */
function mentionsIn(commits: readonly ReportCommit[]): Map<number, string[]> {
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
