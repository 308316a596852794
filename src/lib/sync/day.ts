import type { DayParts } from '../time/day-parts';
import { definedOnly } from '../platform/files/json-object';
import { byCodeUnits } from '../platform/files/short-hash';
import { toIso } from '../platform/time/clock';
import type { AttentionRow, DayLedger } from '../time/ledger/model';
import type { DailyRecord } from '../time/record';
import { assistantOfKey, sessionKey } from '../sessions/session-key';
import type { DayRow } from '../usage/days';
import {
  commitId,
  FORMAT,
  hashedId,
  type DaySet,
  type PublishedCommit,
  type PublishedDay,
  type PublishedSession,
} from './format';

type SessionDetails = Pick<PublishedSession, 'slug' | 'title' | 'issue'>;

/** The rules that decide which data may leave this machine. */
export interface Disclosure {
  /** Whether commit subjects, paths and session titles may leave this machine. */
  details: boolean;
  /** Returns the details of a known session. */
  about: (session: string) => SessionDetails | undefined;
}

/** This machine's data for a day. */
export interface LocalDay {
  record: DailyRecord | undefined;
  /** The day's times and commits; undefined if the event log was deleted. */
  parts: DayParts | undefined;
  usage: readonly DayRow[];
}

/** Returns a day in the form that this machine publishes, with details. */
export function publishedDay(
  { record, parts }: Pick<LocalDay, 'parts'> & { record: DailyRecord },
  before: PublishedDay | undefined,
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
  const remaining = parts === undefined ? before : undefined;
  return {
    format: FORMAT,
    record: publishedRecord(record, parts),
    spans: spans ?? remaining?.spans ?? [],
    commits: commits ?? remaining?.commits ?? [],
  };
}

/** Returns a day's sessions in the form that this machine publishes, with details, sorted by id. */
export function publishedSessions(
  { parts }: Pick<LocalDay, 'parts'>,
  before: readonly PublishedSession[],
  about: Disclosure['about'],
): PublishedSession[] {
  const known = new Map(before.map((session) => [session.id, session]));
  const sessions = parts?.sessions.map(({ id: key, repo, branch, parts: times }): PublishedSession => {
    const id = hashedId('session', key);
    const basics = { id, assistant: assistantOfKey(key), repo: nameOf(repo), branch };
    return { ...basics, parts: times, ...detailsIn(about(key) ?? known.get(id) ?? {}) };
  });
  return (sessions ?? [...before]).sort((a, b) => byCodeUnits(a.id, b.id));
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

/** Returns a day in the form that leaves this machine: without details, unless they may. */
export function withoutDetails(set: DaySet, { details }: Pick<Disclosure, 'details'>): DaySet {
  if (details) return set;
  return {
    ...set,
    day: set.day && { ...set.day, commits: set.day.commits.map(withoutCommitDetails) },
    sessions: set.sessions.map(withoutSessionDetails),
  };
}

export function publishedUsage(rows: readonly DayRow[]) {
  const sums = new Map<string, DayRow>();
  for (const row of rows) {
    const { assistant, session, repo, model, ...amounts } = row;
    const id = hashedId('session', sessionKey(assistant, session));
    const published = { assistant, session: id, model, repo: nameOf(repo) };
    const key = JSON.stringify(published);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...published, ...amounts });
    else for (const [name, amount] of entriesOf(amounts)) sum[name] += amount;
  }
  const sorted = [...sums].sort(([a], [b]) => byCodeUnits(a, b)).map(([, row]) => row);
  return { format: FORMAT, rows: sorted };
}

type Amounts = Omit<DayRow, 'assistant' | 'session' | 'repo' | 'model'>;

function entriesOf(amounts: Amounts): [keyof Amounts, number][] {
  return Object.entries(amounts) as [keyof Amounts, number][];
}

/** Returns the record with hashed session ids, and with names instead of paths. */
function publishedRecord(record: DailyRecord, parts: DayParts | undefined): DailyRecord {
  const { commits, sessions, ledger } = record;
  return {
    ...record,
    // An unfinished day's record is rebuilt on each run. Use the time of the last event as `generatedAt`, so
    // that the published file changes only if the day's data does.
    generatedAt: record.final || parts === undefined ? record.generatedAt : toIso(parts.lastAt * 1000),
    commits: commitsIn(commits),
    sessions: { ...sessions, items: sessions.items.map(withHash) },
    ledger: publishedLedger(ledger),
    // Other machines compute the goal tags themselves, from the ledger and their own goals.
    goalTags: {},
  };
}

function commitsIn({ repos }: DailyRecord['commits']): DailyRecord['commits'] {
  const counts = new Map<string, number>();
  for (const { repo, commits } of repos) {
    const name = repoName(repo);
    counts.set(name, (counts.get(name) ?? 0) + commits);
  }
  const rows = [...counts].map(([repo, commits]) => ({ repo, commits }));
  return { count: rows.reduce((sum, { commits }) => sum + commits, 0), repos: rows };
}

function publishedLedger(ledger: DayLedger): DayLedger {
  const agents = ledger.agents.map((row) => ({ ...withHash(row), repo: nameOf(row.repo) }));
  return { ...ledger, agents, attention: publishedAttention(ledger.attention) };
}

function withHash<T extends { session: string }>(row: T): T {
  return { ...row, session: hashedId('session', row.session) };
}

/** Adds up the rows of repositories with the same name. */
function publishedAttention(rows: readonly AttentionRow[]): AttentionRow[] {
  const sums = new Map<string, AttentionRow>();
  for (const row of rows) {
    const session = row.session === null ? null : hashedId('session', row.session);
    const published = { ...row, session, repo: nameOf(row.repo), minutes: 0 };
    const key = JSON.stringify(published);
    const sum = sums.get(key)?.minutes ?? 0;
    sums.set(key, { ...published, minutes: Math.round((sum + row.minutes) * 10) / 10 });
  }
  return [...sums.values()];
}

function nameOf(repo: string | null): string | null {
  return repo === null ? null : repoName(repo);
}

function repoName(text: string): string {
  return text.split(/[\\/]+/).findLast((part) => part !== '') ?? text;
}
