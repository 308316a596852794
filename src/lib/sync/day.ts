import type { DayParts } from '../time/day-parts';
import { definedOnly } from '../platform/files/json-object';
import { byCodeUnits } from '../platform/files/short-hash';
import { toIso } from '../platform/time/clock';
import type { AgentRow, AttentionRow, Cells, DayLedger } from '../time/ledger/model';
import type { DailyRecord } from '../time/record';
import { assistantOfKey, sessionKey } from '../sessions/session-key';
import type { RepoCheck } from '../sessions/restricted-repos';
import type { DayRow } from '../usage/days';
import {
  commitId,
  FORMAT,
  hashedId,
  type DaySet,
  type PublishedCommit,
  type PublishedDay,
  type PublishedSession,
  type PublishedUsage,
} from './format';

type SessionDetails = Pick<PublishedSession, 'slug' | 'title' | 'issue'>;

/** The rules that decide which data may leave this machine. */
export interface Disclosure extends Pick<RepoCheck, 'isRestrictedRepo' | 'isCheckedRepo'> {
  /** Whether commit subjects, paths and session titles may leave this machine. */
  details: boolean;
  /** Returns whether a session is known and not restricted, so that its data may leave this machine. */
  isShown: (session: string) => boolean;
  isRestricted: (session: string) => boolean;
  /** Returns whether the hashed id belongs to a known, restricted session. */
  isRestrictedHash: (id: string) => boolean;
  /** Returns the details of a known session. */
  about: (session: string) => SessionDetails | undefined;
}

/**
 * This machine's data for a day. If the event log still exists, `record` and `parts` contain no restricted
 * data.
 */
export interface LocalDay {
  record: DailyRecord | undefined;
  /** The day's times and commits; undefined if the event log was deleted. */
  parts: DayParts | undefined;
  usage: readonly DayRow[];
}

/** Returns a day in the form that this machine publishes. */
export function publishedDay(
  { record, parts }: LocalDay & { record: DailyRecord },
  before: PublishedDay | undefined,
  shown: Disclosure,
): PublishedDay {
  const spans = parts?.spans.map(({ repo, ...span }) => ({
    ...span,
    ...(repo !== undefined && { repo: repoName(repo) }),
  }));
  const commits = parts?.commits.map(({ change, patch, repo, at, subject, path }) => ({
    ...commitId(repoName(repo), change, patch),
    repo: repoName(repo),
    ts: at,
    ...(subject === '' ? {} : { subject }),
    ...(path === undefined ? {} : { path }),
  }));
  const remaining = parts === undefined && before !== undefined ? remainingParts(before, shown) : undefined;
  return {
    format: FORMAT,
    record: publishedRecord(record, parts, shown),
    spans: spans ?? remaining?.spans ?? [],
    commits: (commits ?? remaining?.commits ?? []).map((commit) =>
      shown.details ? commit : withoutCommitDetails(commit),
    ),
  };
}

/**
 * Returns the times and commits that were published before the day's event log was deleted. Leaves out
 * restricted repositories.
 */
function remainingParts(
  { spans, commits }: PublishedDay,
  { isRestrictedRepo }: Disclosure,
): Pick<PublishedDay, 'spans' | 'commits'> {
  return {
    spans: spans.map((span) => {
      if (span.repo === undefined || !isRestrictedRepo(span.repo)) return span;
      const shown = { ...span };
      delete shown.repo;
      return shown;
    }),
    commits: commits.filter(({ repo, path }) => !isRestrictedRepo(repo, path)),
  };
}

/**
 * Keeps the sums that were published before the day's event log was deleted, because the local record's sums
 * include sessions that must not be published. Omits sums that contain restricted data.
 */
export function withSumsBefore(
  published: PublishedDay,
  { record: { commits, sessions, ledger } }: PublishedDay,
  { isRestrictedRepo }: Disclosure,
): PublishedDay {
  const { record } = published;
  const counted = { ...record, commits: commitsIn(commits, isRestrictedRepo) };
  const rowsOf = (day: Pick<DailyRecord, 'sessions' | 'ledger'>) => [
    ...day.sessions.items.map((item) => ({ ...item, repo: null })),
    ...(day.ledger?.agents ?? []),
    ...(day.ledger?.attention ?? []),
  ];
  const known = new Set(rowsOf(record).map(({ session }) => session));
  const isAllShown = rowsOf({ sessions, ...(ledger && { ledger }) }).every(
    ({ session, repo }) =>
      (session === null || known.has(session)) && (repo === null || !isRestrictedRepo(repo)),
  );
  const sums = isAllShown ? { sessions, ...(ledger && { ledger }) } : {};
  return { ...published, record: { ...counted, ...sums } };
}

/** Returns a day's sessions in the form that this machine publishes, sorted by id. */
export function publishedSessions(
  { parts }: Pick<LocalDay, 'parts'>,
  before: readonly PublishedSession[],
  shown: Disclosure,
): PublishedSession[] {
  const known = new Map(before.map((session) => [session.id, session]));
  const sessions = parts?.sessions
    .filter(({ id }) => shown.isShown(id))
    .map(({ id: key, repo, branch, parts: times }): PublishedSession => {
      const id = hashedId('session', key);
      const basics = {
        id,
        assistant: assistantOfKey(key),
        repo: repo === null ? null : repoName(repo),
        branch,
      };
      return { ...basics, parts: times, ...detailsIn(shown.about(key) ?? known.get(id) ?? {}) };
    });
  return (sessions ?? [...before])
    .map((session) => (shown.details ? session : withoutSessionDetails(session)))
    .sort((a, b) => byCodeUnits(a.id, b.id));
}

function detailsIn({ slug, title, issue }: SessionDetails): SessionDetails {
  return definedOnly({ slug, title, issue });
}

function withoutSessionDetails({ id, assistant, repo, branch, parts }: PublishedSession): PublishedSession {
  return { id, assistant, repo, branch, parts };
}

function withoutCommitDetails({ id, patch, repo, ts }: PublishedCommit): PublishedCommit {
  return { id, ...(patch !== undefined && { patch }), repo, ts };
}

/** Removes the details of a published day, unless they may leave this machine. */
export function withoutDetails(set: DaySet, { details }: Pick<Disclosure, 'details'>): DaySet {
  if (details) return set;
  return {
    ...set,
    day: set.day && { ...set.day, commits: set.day.commits.map(withoutCommitDetails) },
    sessions: set.sessions.map(withoutSessionDetails),
  };
}

/**
 * Returns a day's usage without restricted sessions. Omits the repositories of unknown sessions.
 */
export function publishedUsage(rows: readonly DayRow[], shown: Disclosure): PublishedUsage {
  const sums = new Map<string, DayRow>();
  for (const row of rows) {
    const { assistant, session, repo, model, ...amounts } = row;
    const key = sessionKey(assistant, session);
    if (shown.isRestricted(key) || isHiddenRepo(repo, shown)) continue;
    const isShown = shown.isShown(key);
    const named = { assistant, session: hashedId('session', key), model };
    const published = { ...named, repo: isShown && repo !== null ? repoName(repo) : null };
    const sum = sums.get(JSON.stringify(published)) ?? { ...published, ...zeroed(amounts) };
    for (const [name, amount] of entriesOf(amounts)) sum[name] += amount;
    sums.set(JSON.stringify(published), sum);
  }
  const sorted = [...sums].sort(([a], [b]) => byCodeUnits(a, b)).map(([, row]) => row);
  return { format: FORMAT, rows: sorted };
}

type Amounts = Omit<DayRow, 'assistant' | 'session' | 'repo' | 'model'>;

function entriesOf(amounts: Amounts): [keyof Amounts, number][] {
  return Object.entries(amounts) as [keyof Amounts, number][];
}

function zeroed(amounts: Amounts): Amounts {
  return Object.fromEntries(entriesOf(amounts).map(([name]) => [name, 0])) as unknown as Amounts;
}

/** Returns the record without hidden data. Hashes session ids, and replaces paths with names. */
function publishedRecord(record: DailyRecord, parts: DayParts | undefined, all: Disclosure): DailyRecord {
  const { commits, sessions, ledger } = record;
  // Data from an event log was already filtered by path, which is more exact than filtering by name.
  const isRestrictedRepo = (repo: string): boolean =>
    parts === undefined && (all.isRestrictedRepo(repo) || !all.isCheckedRepo(repo));
  const shown = { ...all, isRestrictedRepo };
  const items = sessions.items.filter(({ session }) => shown.isShown(session));
  return {
    ...record,
    // An unfinished day's record is rebuilt on each run. Use the time of the last event as `generatedAt`, so
    // that the published file changes only if the day's data does.
    generatedAt: record.final || parts === undefined ? record.generatedAt : toIso(parts.lastAt * 1000),
    commits: commitsIn(commits, shown.isRestrictedRepo),
    sessions: {
      count: items.length,
      items: items.map((item) => ({ ...item, session: hashedId('session', item.session) })),
    },
    ...(ledger && { ledger: publishedLedger(ledger, shown) }),
    // Other machines compute the goal tags themselves, from the ledger and their own goals.
    goalTags: {},
  };
}

function commitsIn(
  { repos }: DailyRecord['commits'],
  isRestrictedRepo: Disclosure['isRestrictedRepo'],
): DailyRecord['commits'] {
  const counts = new Map<string, number>();
  for (const { repo, commits } of repos) {
    const name = repoName(repo);
    if (!isRestrictedRepo(name)) counts.set(name, (counts.get(name) ?? 0) + commits);
  }
  const rows = [...counts].map(([repo, commits]) => ({ repo, commits }));
  return { count: rows.reduce((sum, { commits }) => sum + commits, 0), repos: rows };
}

/** Recomputes the sums without hidden sessions. Omits sums that can't be recomputed. */
function publishedLedger(ledger: DayLedger, shown: Disclosure): DayLedger {
  const agents = ledger.agents
    .filter(({ session, repo }) => shown.isShown(session) && !isHiddenRepo(repo, shown))
    .map(publishedAgent);
  const attention = publishedAttention(ledger.attention, shown);
  if (agents.length === ledger.agents.length) return { ...ledger, attention, agents };
  const cells = sumOf(agents.map((row) => row.cells));
  return {
    ...{ attention, agents, cells, apps: [], heldUpMinutes: cells.waiting?.desk ?? 0 },
    answers: { count: 0, medianMinutes: null, longestMinutes: null },
    parallel: { most: 0, mean: 0 },
  };
}

function isHiddenRepo(repo: string | null, { isRestrictedRepo }: Disclosure): boolean {
  return repo !== null && isRestrictedRepo(repoName(repo));
}

function publishedAgent(row: AgentRow): AgentRow {
  return {
    ...row,
    session: hashedId('session', row.session),
    repo: row.repo === null ? null : repoName(row.repo),
  };
}

function publishedAttention(rows: readonly AttentionRow[], shown: Disclosure): AttentionRow[] {
  const sums = new Map<string, AttentionRow>();
  for (const row of rows) {
    const isHidden = (row.session !== null && !shown.isShown(row.session)) || isHiddenRepo(row.repo, shown);
    const published = {
      ...row,
      ...(isHidden ? { branch: null, assistant: null } : {}),
      session: isHidden || row.session === null ? null : hashedId('session', row.session),
      repo: isHidden || row.repo === null ? null : repoName(row.repo),
      minutes: 0,
    };
    const key = JSON.stringify(published);
    const sum = sums.get(key)?.minutes ?? 0;
    sums.set(key, { ...published, minutes: Math.round((sum + row.minutes) * 10) / 10 });
  }
  return [...sums.values()];
}

function sumOf(all: readonly Cells[]): Cells {
  const sum: Record<string, Record<string, number>> = {};
  for (const cells of all) {
    for (const [state, places] of Object.entries(cells)) {
      const row = (sum[state] ??= {});
      for (const [place, minutes] of Object.entries(places))
        row[place] = Math.round(((row[place] ?? 0) + minutes) * 10) / 10;
    }
  }
  return sum;
}

function repoName(text: string): string {
  return text.split(/[\\/]+/).findLast((part) => part !== '') ?? text;
}
