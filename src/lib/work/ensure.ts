import { undefinedIf } from '../errors';
import { isObject } from '../platform/files/json-object';
import { readObject, refuseNewer } from '../platform/files/object-file';
import { parseIso, toIso } from '../platform/time/clock';
import { cacheIssue, writeStored } from './cache';
import { withWorkLock, type OpenRepo } from './deps';
import type { NewIssue } from './host';
import { failureOf, isAmbiguous, isGone } from './host/failure';
import {
  identityKey,
  makeBody,
  makeTitle,
  toIssue,
  type Identity,
  type Issue,
  type TitleKind,
} from './issue';
import { existingLabels, labelNames } from './labels';
import { freshCache } from './poll';

/** A ledger entry: the issue created for an identity. The entry has no number until the request succeeds. */
interface LedgerEntry {
  number: number | null;
  url: string | null;
  /** When the entry was written, as ISO 8601 in UTC. */
  at: string;
}

const LEDGER_VERSION = 1;

export function readLedger(path: string, repo: string): ReadonlyMap<string, LedgerEntry> {
  const own = ledgerOf(path)[repo.toLowerCase()];
  return new Map(
    Object.entries(own ?? {}).filter(([, entry]) => isObject(entry) && typeof entry.at === 'string'),
  );
}

/** Writes a ledger entry, or removes it if `entry` is undefined. */
export function writeEntry({ deps, repo }: OpenRepo, key: string, entry: LedgerEntry | undefined): void {
  const repos = ledgerOf(deps.paths.ledger);
  const name = repo.toLowerCase();
  const own = { ...repos[name], [key]: entry };
  writeStored(deps.paths.ledger, { version: LEDGER_VERSION, repos: { ...repos, [name]: own } });
}

/** Returns the ledger. A damaged ledger counts as empty, because the issues also contain the identities. */
function ledgerOf(path: string): Record<string, Record<string, LedgerEntry>> {
  const stored = readObject(path);
  refuseNewer(path, stored?.['version'], LEDGER_VERSION);
  const repos = isObject(stored?.['repos']) ? stored['repos'] : {};
  return Object.fromEntries(Object.entries(repos).filter(([, own]) => isObject(own))) as ReturnType<
    typeof ledgerOf
  >;
}

/** An issue that must be created exactly once. */
export interface Wanted {
  identity: Identity;
  kind: TitleKind | null;
  text: string;
  body: string;
  labels: readonly string[];
  /** When the reminder is due, as ISO 8601 in UTC. */
  due?: string;
  /** The issue number in the session file. */
  known?: number;
  /** Whether to create a new issue if all existing issues are closed. */
  openOnly?: boolean;
}

export interface Ensured {
  action: 'created' | 'found';
  issue: Issue;
  /** Requested labels that the repository doesn't have. */
  missingLabels: string[];
}

export function wantedTitle({ kind, text, identity }: Wanted): string {
  return makeTitle(kind, text, identity);
}

interface Batch extends OpenRepo {
  issues: readonly Issue[];
  /** The names of the repository's labels, fetched when first needed. */
  names: string[] | undefined;
}

/**
 * Finds or creates exactly one issue for each identity. If a crash left a ledger entry without a number,
 * searches before creating an issue. Throws at the first failure.
 */
export function ensureIssues(
  open: OpenRepo,
  wanted: readonly Wanted[],
  onDone: (ensured: Ensured) => void = () => undefined,
): Promise<Ensured[]> {
  return withWorkLock(open.deps, 'create', async () => {
    const batch: Batch = { ...open, issues: await fetchIssues(open), names: undefined };
    const all: Ensured[] = [];
    for (const each of wanted) {
      const ensured = await ensureOne(batch, each);
      all.push(ensured);
      onDone(ensured);
    }
    return all;
  });
}

export async function ensureIssue(open: OpenRepo, wanted: Wanted): Promise<Ensured> {
  const [ensured] = await ensureIssues(open, [wanted]);
  return ensured as Ensured;
}

/** Searches for an issue whose creation was requested at `at` (ISO 8601) but never confirmed. */
export function lostIssue(open: OpenRepo, key: string, at: string): Promise<Issue | undefined> {
  return searchAfterLag({ ...open, issues: [], names: undefined }, key, at);
}

async function fetchIssues({ deps, host, repo }: OpenRepo): Promise<readonly Issue[]> {
  return (await freshCache(deps, host, repo)).issues;
}

async function ensureOne(batch: Batch, wanted: Wanted): Promise<Ensured> {
  const key = identityKey(wanted.identity);
  const issue = await find(batch, key, wanted);
  if (issue === undefined) return create(batch, key, wanted);
  recordNumber(batch, key, issue);
  return { action: 'found', issue, missingLabels: [] };
}

async function find(batch: Batch, key: string, { known, openOnly = false }: Wanted) {
  const counts = (issue: Issue): boolean => !openOnly || issue.state === 'open';
  const entry = readLedger(batch.deps.paths.ledger, batch.repo).get(key);
  for (const number of [entry?.number, known]) {
    if (number === undefined || number === null) continue;
    const issue = batch.issues.find((each) => each.number === number) ?? (await fetchIssue(batch, number));
    // A copied session file may contain another session's issue number.
    if (issue !== undefined && counts(issue) && (issue.identity === null || issue.identity === key))
      return issue;
  }
  const listed = ofIdentity(batch.issues.filter(counts), key);
  if (listed !== undefined || entry === undefined || entry.number !== null) return listed;
  return searchAfterLag(batch, key, entry.at);
}

/** Returns the issue with this identity; if there are several, the one with the lowest number. */
export function ofIdentity(issues: readonly Issue[], key: string): Issue | undefined {
  return issues.filter(({ identity }) => identity === key).sort((a, b) => a.number - b.number)[0];
}

async function fetchIssue({ host, repo }: OpenRepo, number: number): Promise<Issue | undefined> {
  const found = await host.issue(repo, number).catch(undefinedIf(isGone));
  return found && toIssue(found);
}

/**
 * Searches the issue list. If the issue is missing, waits for GitHub's list to catch up and searches again.
 */
async function searchAfterLag(batch: Batch, key: string, at: string): Promise<Issue | undefined> {
  const search = async (): Promise<Issue | undefined> => {
    batch.issues = await fetchIssues(batch);
    return ofIdentity(batch.issues, key);
  };
  const early = await search();
  if (early !== undefined) return early;
  const { clock, settleMs, sleep } = batch.deps;
  const age = Math.max(0, clock.now() - (parseIso(at) ?? 0));
  if (age < settleMs) await sleep(settleMs - age);
  return search();
}

async function create(batch: Batch, key: string, wanted: Wanted): Promise<Ensured> {
  batch.names ??= await labelNames(batch);
  const { labels, missing } = existingLabels(wanted.labels, batch.names, batch.repo);
  const body = makeBody(wanted.body, wanted.identity, { due: wanted.due });
  writeEntry(batch, key, { number: null, url: null, at: toIso(batch.deps.clock.now()) });
  const issue = await createOrFind(batch, key, { title: wantedTitle(wanted), body, labels });
  recordNumber(batch, key, issue);
  // The list that is fetched next may not have it yet.
  cacheIssue(batch.deps, batch.repo, issue);
  batch.issues = [...batch.issues, issue];
  return { action: 'created', issue, missingLabels: missing };
}

async function createOrFind(batch: Batch, key: string, issue: NewIssue): Promise<Issue> {
  try {
    return toIssue(await batch.host.createIssue(batch.repo, issue));
  } catch (error) {
    if (!isAmbiguous(error)) {
      writeEntry(batch, key, undefined);
      throw error;
    }
    // GitHub may have created the issue despite the error, so keep the ledger entry and search for the issue.
    const found = await findAfterFailure(batch, key);
    if (found === undefined) throw error;
    return found;
  }
}

/** If GitHub is still unreachable, returns undefined. The next run finds the ledger entry and searches first. */
function findAfterFailure(batch: Batch, key: string): Promise<Issue | undefined> {
  const searched = searchAfterLag(batch, key, toIso(batch.deps.clock.now()));
  return searched.catch(undefinedIf((error) => failureOf(error) !== undefined));
}

function recordNumber(batch: Batch, key: string, { number, url }: Pick<Issue, 'number' | 'url'>): void {
  const { deps, repo } = batch;
  if (readLedger(deps.paths.ledger, repo).get(key)?.number === number) return;
  writeEntry(batch, key, { number, url, at: toIso(deps.clock.now()) });
}
