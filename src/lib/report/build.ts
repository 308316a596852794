import { byCodeUnits } from '../platform/files/order';
import { longDay } from '../platform/terminal/format';
import { type Day, addDays } from '../platform/time/time';
import type { PhaseId } from '../sessions/phases';
import type { Session } from '../sessions/session';
import type {
  CommitFacts,
  DayFacts,
  IssueFacts,
  Report,
  ReportClosed,
  ReportCommit,
  ReportInput,
  ReportIssue,
  ReportSession,
} from './model';
import { daysOf } from './period';

/**
 * What was done in a period. Pure: no clock, no files; the same input in any order gives the same report. Nothing is
 * guessed: what is not known is said in `notKnown`.
 */
export function buildReport(input: ReportInput): Report {
  const { period, repo } = input;
  const days = [...input.days]
    .filter(({ date }) => date >= period.from && date <= period.to)
    .sort((a, b) => byCodeUnits(a.date, b.date));
  const commits = commitsOf(days, repo);
  const sessions = sessionsOf(input.sessions, days, input);
  // The time of an application is not known by repository.
  const timed = repo === undefined ? days : [];
  return {
    from: period.from,
    to: period.to,
    timezone: period.timezone,
    repo: repo ?? null,
    totalMinutes: total(timed, (day) => day.totalMinutes),
    creationMinutes: total(timed, (day) => day.creationMinutes),
    consumptionMinutes: total(timed, (day) => day.consumptionMinutes),
    apps: appsOf(timed),
    repos: reposOf(commits, sessions),
    commits: { count: commits.count, items: commits.items },
    sessions: { count: sessions.count, items: sessions.items },
    issues: input.issues === undefined ? null : issuesOf(input.issues, input, commits.items, sessions.items),
    notKnown: notKnown(input, days, commits),
  };
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

function reposOf(commits: Commits, sessions: Sessions): Report['repos'] {
  const names = new Set([...commits.repos.keys(), ...sessions.repos.keys()]);
  return [...names]
    .map((repo) => ({
      repo,
      commits: commits.repos.get(repo) ?? 0,
      sessions: sessions.repos.get(repo)?.sessions ?? 0,
      assistantMinutes: sessions.hasRaw ? (sessions.repos.get(repo)?.minutes ?? 0) : null,
    }))
    .sort(
      (a, b) =>
        b.commits - a.commits ||
        (b.assistantMinutes ?? 0) - (a.assistantMinutes ?? 0) ||
        b.sessions - a.sessions ||
        byCodeUnits(a.repo, b.repo),
    );
}

/** In tenths, so that sums of decimals do not depend on their order. */
function total(days: readonly DayFacts[], of: (day: DayFacts) => number): number {
  return days.reduce((sum, day) => sum + Math.round(of(day) * 10), 0) / 10;
}

export interface Commits {
  count: number;
  /** Those whose raw log is kept, the oldest first. */
  items: ReportCommit[];
  /** Commits by the name of their repository. */
  repos: Map<string, number>;
  /** Commits of days whose raw log is discarded: their subjects are gone. */
  unnamed: number;
}

/** The commits of some days, of one repository where it is named. A change that was captured on two days counts once. */
export function commitsOf(days: readonly DayFacts[], repo: string | undefined): Commits {
  const isWanted = (name: string): boolean => isRepo(name, repo);
  const found = new Map<string, CommitFacts>();
  for (const commit of days.flatMap((day) => day.raw?.commits ?? [])) {
    if (!isWanted(commit.repo)) continue;
    const key = JSON.stringify([commit.path || commit.repo, commit.change]);
    const known = found.get(key);
    if (known === undefined || order(commit, known) < 0) found.set(key, commit);
  }
  const kept = [...found.values()].sort(order);
  const nameOf = namesOf(kept);
  const items = kept.map((commit) => ({
    repo: nameOf(commit),
    sha: commit.sha,
    subject: commit.subject,
    at: commit.at,
  }));
  const repos = new Map<string, number>();
  const count = (name: string, more: number): void => {
    repos.set(name, (repos.get(name) ?? 0) + more);
  };
  for (const item of items) count(item.repo, 1);
  let unnamed = 0;
  for (const row of days.filter(({ raw }) => raw === undefined).flatMap((day) => day.commits)) {
    if (!isWanted(row.repo)) continue;
    count(row.repo, row.commits);
    unnamed += row.commits;
  }
  return { count: items.length + unnamed, items, repos, unnamed };
}

/** Is this the repository that is asked for? Without case, by the name of its folder; any when none is asked for. */
export function isRepo(name: string | null, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const own = name?.toLowerCase();
  return own === wanted.toLowerCase() || own?.endsWith(`/${wanted.toLowerCase()}`) === true;
}

/** The name of a folder; with the folder above where two repositories have the same. */
function namesOf(commits: readonly CommitFacts[]): (commit: CommitFacts) => string {
  const paths = new Map<string, Set<string>>();
  for (const { repo, path } of commits) paths.set(repo, (paths.get(repo) ?? new Set()).add(path));
  return ({ repo, path }) => {
    if ((paths.get(repo)?.size ?? 0) < 2 || path === '') return repo;
    return path
      .split(/[\\/]+/)
      .filter((part) => part !== '')
      .slice(-2)
      .join('/');
  };
}

function order(a: CommitFacts, b: CommitFacts): number {
  const [x, y] = [a, b].map(({ at, sha, repo, path }) => `${at}\n${sha}\n${repo}\n${path}`) as [
    string,
    string,
  ];
  return x < y ? -1 : x > y ? 1 : 0;
}

const UNDER_WAY: ReadonlySet<string | null> = new Set(['in-progress', 'in-review', 'blocked', 'needs-human']);

/** What became of the issues in the period: each once, where it says most. */
export function issuesOf(
  all: readonly IssueFacts[],
  { period, repo, evidence }: Pick<ReportInput, 'period' | 'repo' | 'evidence'>,
  commits: readonly ReportCommit[],
  sessions: readonly ReportSession[],
): NonNullable<Report['issues']> {
  const isIn = (iso: string | null): boolean => {
    const ms = Date.parse(iso ?? '');
    return ms >= period.startMs && ms < period.endMs;
  };
  const named = naming(commits);
  const slugs = new Set(sessions.map(({ slug }) => slug));
  const numbers = new Set(sessions.map(({ issue }) => issue));
  // The issues of all repositories lie in one: which are this one's is told by its name, sessions and commits.
  const isOwn = (issue: IssueFacts): boolean =>
    repo === undefined ||
    isRepo(issue.property, repo) ||
    named.has(issue.number) ||
    numbers.has(issue.number) ||
    (issue.slug !== null && slugs.has(issue.slug));
  const own = all.filter(isOwn).sort((a, b) => a.number - b.number);
  const closed = own.filter(({ state, closedAt }) => state === 'closed' && isIn(closedAt));
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
    opened: own.filter((issue) => isIn(issue.createdAt) && !shown.has(issue)).map(rowOf),
  };
}

/** The commits that name an issue, such as `Fix the login (#12)`. */
function naming(commits: readonly ReportCommit[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const { sha, subject } of commits) {
    for (const [, digits] of subject.matchAll(/(?<![\w#/])#([1-9]\d{0,8})\b/g)) {
      const number = Number(digits);
      const shas = found.get(number) ?? [];
      if (!shas.includes(sha)) found.set(number, [...shas, sha]);
    }
  }
  return found;
}

function rowOf(issue: IssueFacts): ReportIssue {
  const { number, title, url, status, priority, property, createdAt, closedAt } = issue;
  return { number, title, url, status, priority, property, createdAt, closedAt };
}

export interface Sessions {
  /** Those of the list, and those that are known by their id only. */
  count: number;
  items: ReportSession[];
  repos: Map<string, { sessions: number; minutes: number }>;
  /** Is a raw log kept of any day? */
  hasRaw: boolean;
}

/**
 * The sessions in which something happened in the period: by the captured events of its days, or because they began,
 * ended or changed their phase in it. Those with a task first, in the order in which they began.
 */
export function sessionsOf(
  all: readonly Session[],
  days: readonly DayFacts[],
  { period, repo, pollIntervalSec }: Pick<ReportInput, 'period' | 'repo' | 'pollIntervalSec'>,
): Sessions {
  const isIn = (iso: string): boolean => {
    const ms = Date.parse(iso);
    return ms >= period.startMs && ms < period.endMs;
  };
  const seen = new Set(days.flatMap((day) => day.sessions));
  const own = all.filter(
    (session) =>
      isRepo(session.repo, repo) &&
      (isIn(session.startedAt) ||
        isIn(session.updatedAt) ||
        session.phaseHistory.some(({ at }) => isIn(at)) ||
        session.sessionIds.some((id) => seen.has(id))),
  );
  own.sort((a, b) => byCodeUnits(key(a), key(b)));
  const activity = days.flatMap((day) => day.raw?.activity ?? []).filter((one) => isRepo(one.repo, repo));
  const known = new Set(all.flatMap(({ sessionIds }) => sessionIds));
  // Of a session that the state has forgotten only its raw events tell the repository.
  const ids = repo === undefined ? [...seen] : [...new Set(activity.map(({ session }) => session))];
  const forgotten = new Set(ids.filter((id) => !known.has(id)));
  return {
    count: own.length + forgotten.size,
    items: own.map((session) => sessionRow(session, period)),
    repos: byRepo(own, activity, forgotten, pollIntervalSec),
    hasRaw: days.some(({ raw }) => raw !== undefined),
  };
}

type Activity = NonNullable<DayFacts['raw']>['activity'][number];

function byRepo(
  sessions: readonly Session[],
  activity: readonly Activity[],
  forgotten: ReadonlySet<string>,
  pollIntervalSec: number,
): Sessions['repos'] {
  const repos = new Map<string, { sessions: Set<string>; polls: Set<number> }>();
  const of = (repo: string) => {
    const row = repos.get(repo) ?? { sessions: new Set(), polls: new Set() };
    repos.set(repo, row);
    return row;
  };
  for (const { repo, slug } of sessions) if (repo !== null) of(repo).sessions.add(slug);
  for (const { repo, session, atMs } of activity) {
    const row = of(repo);
    // Sessions side by side take one person's time once.
    row.polls.add(Math.floor(atMs / (pollIntervalSec * 1000)));
    if (forgotten.has(session)) row.sessions.add(`\n${session}`);
  }
  return new Map(
    [...repos].map(([repo, row]) => [
      repo,
      { sessions: row.sessions.size, minutes: Math.round((row.polls.size * pollIntervalSec) / 6) / 10 },
    ]),
  );
}

function sessionRow(session: Session, period: ReportInput['period']): ReportSession {
  const { slug, task, repo, project, github_issue: issue } = session;
  return { slug, task, repo, project, phases: phasesOf(session, period), issue };
}

/** The phase that it was in when the period began, if it had begun, and those that it came to. */
function phasesOf(session: Session, { startMs, endMs }: ReportInput['period']): PhaseId[] {
  const history = session.phaseHistory.filter(({ at }) => Date.parse(at) < endMs);
  if (history.length === 0) return session.phaseHistory.length === 0 ? [session.phase] : [];
  const first = history.findIndex(({ at }) => Date.parse(at) >= startMs);
  const from = first === -1 ? history.length - 1 : Math.max(0, first - 1);
  return history.slice(from).map(({ phase }) => phase);
}

function key({ task, startedAt, slug }: Session): string {
  return `${task === null ? 1 : 0}\n${startedAt}\n${slug}`;
}

/** What a report cannot know, in sentences a person can act on. `days`: those of the period, in order. */
export function notKnown(input: ReportInput, days: readonly DayFacts[], commits: Commits): string[] {
  const { period, repo } = input;
  const stored = new Set(days.map(({ date }) => date));
  const missing = daysOf(period).filter((day) => !stored.has(day));
  const raw = days.filter((day) => day.raw !== undefined);
  const discarded = days.filter(
    (day) => day.raw === undefined && (day.commits.length > 0 || day.sessions.length > 0),
  );
  return [
    ...(missing.length === 0 ? [] : [`Nothing is stored of ${spans(missing)}.`]),
    ...(commits.unnamed === 0
      ? []
      : [
          `The subjects of ${commits.unnamed} ${commits.unnamed === 1 ? 'commit' : 'commits'}: the raw logs of their days are discarded.`,
        ]),
    ...(raw.length > 0 && discarded.length > 0
      ? [`Assistant time before ${longDay(raw[0]?.date ?? '')}: the raw logs are discarded.`]
      : []),
    ...(repo === undefined ? [] : ['Time by application: it is not known by repository.']),
    ...(input.issues === undefined
      ? ['Issues: the work repository is not set up (steward work setup OWNER/REPO).']
      : []),
    ...input.notes,
  ];
}

/** `Mon 2 Nov 2026 to Wed 4 Nov 2026 and Fri 6 Nov 2026`; of many the first ones and how many more. */
function spans(days: readonly Day[]): string {
  const found: [Day, Day][] = [];
  for (const day of days) {
    const last = found.at(-1);
    if (last !== undefined && addDays(last[1], 1) === day) last[1] = day;
    else found.push([day, day]);
  }
  const names = found.map(([from, to]) =>
    from === to ? longDay(from) : `${longDay(from)} to ${longDay(to)}`,
  );
  if (names.length > MAX_SPANS) {
    const rest = found.slice(MAX_SPANS).flatMap(([from, to]) => daysOf({ from, to })).length;
    return `${names.slice(0, MAX_SPANS).join(', ')} and ${rest} ${rest === 1 ? 'day' : 'days'} more`;
  }
  return names.length === 1 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

const MAX_SPANS = 4;
