import { join } from 'node:path';

import { StewardError } from '../errors';
import { parseIso, toIso } from '../platform/time/clock';
import { withLock } from '../platform/files/lock';
import { keptIssue, remember } from './cache';
import type { Host, HostIssue } from './host';
import { failureOf, isAmbiguous } from './host/failure';
import { identityKey, makeBody, makeTitle, type Identity, type Issue, type TitleKind } from './issue';
import { labelNames, onlyExisting } from './labels';
import { readLedger, writeEntry } from './ledger';
import { freshCache, type PollDeps } from './poll';

export interface EnsureDeps extends PollDeps {
  /** `work/ledger.json` */
  ledger: string;
  /** Machine-local folder of the lock. */
  locks: string;
  machineId: string;
  /** Waits; so many ms. */
  sleep: (ms: number) => Promise<void>;
  /** How long after a creation without an answer the list may still lack its issue, ms. */
  settleMs: number;
}

/** An issue that is to be there, exactly once. */
export interface Wanted {
  identity: Identity;
  kind: TitleKind | null;
  text: string;
  body: string;
  labels: readonly string[];
  /** ISO-8601 UTC, of a reminder. */
  due?: string;
  /** The number that the artifact names, where it does. */
  known?: number;
  /** Only an open issue counts; one that was closed is followed by a new one. */
  openOnly?: boolean;
}

export interface Ensured {
  action: 'created' | 'found';
  issue: Issue;
  /** Wanted labels that the repository does not have: logged by name, and never made up. */
  missingLabels: string[];
}

/** Its title on the service; what a dry run shows, too. */
export function wantedTitle({ kind, text, identity }: Wanted): string {
  return makeTitle(kind, text, identity);
}

const LOCK_WAIT_MS = 60_000;

/**
 * Makes the issues of some identities, or finds them: local ledger, then the number of the artifact, then marker or
 * title in the full list; never the search (decisions.md 6). An intention stands in the ledger before its request,
 * so that whoever is killed at any point is followed by one who looks before he creates: in the end it is one
 * issue. A batch reads the list and the labels once. The first failure is thrown; `onDone` has been told of what
 * was done before.
 */
export function ensureIssues(
  deps: EnsureDeps,
  host: Host,
  repo: string,
  wanted: readonly Wanted[],
  onDone: (ensured: Ensured) => void = () => undefined,
): Promise<Ensured[]> {
  const { clock, machineId } = deps;
  const lock = join(deps.locks, 'work-create.lock');
  return withLock(lock, { clock, machineId, waitMs: LOCK_WAIT_MS }, async () => {
    const issues = await listed(deps, host, repo);
    const work: Work = { deps, host, repo, issues, names: undefined, made: [] };
    const all: Ensured[] = [];
    try {
      for (const one of wanted) {
        const ensured = await ensureOne(work, one);
        all.push(ensured);
        onDone(ensured);
      }
    } finally {
      rememberMade(work);
    }
    return all;
  });
}

/** The same for one. */
export async function ensureIssue(
  deps: EnsureDeps,
  host: Host,
  repo: string,
  wanted: Wanted,
): Promise<Ensured> {
  const [ensured] = await ensureIssues(deps, host, repo, [wanted]);
  return ensured as Ensured;
}

/** The issue of a creation that was begun at `at` and whose answer was lost, once the list has settled. */
export async function lostIssue(
  deps: EnsureDeps,
  host: Host,
  repo: string,
  { key, at }: { key: string; at: string },
): Promise<Issue | undefined> {
  const look = async (): Promise<Issue | undefined> => ofIdentity(await listed(deps, host, repo), key);
  const early = await look();
  if (early !== undefined) return early;
  await settle(deps, at);
  return look();
}

interface Work {
  deps: EnsureDeps;
  host: Host;
  repo: string;
  issues: readonly Issue[];
  /** Labels of the repository, once they were needed. */
  names: string[] | undefined;
  /** Created, and not in the cache yet. */
  made: HostIssue[];
}

/**
 * The cache of thousands of issues is written once a batch: a kill before that loses nothing, since the ledger has
 * each number by then, and the next poll asks for what is new.
 */
function rememberMade(work: Work): void {
  if (work.made.length > 0) remember(work.deps, work.repo, ...work.made);
  work.made = [];
}

async function ensureOne(work: Work, wanted: Wanted): Promise<Ensured> {
  const key = identityKey(wanted.identity);
  const issue = await find(work, key, wanted);
  if (issue === undefined) return create(work, key, wanted);
  note(work, key, issue);
  return { action: 'found', issue, missingLabels: [] };
}

async function find(
  work: Work,
  key: string,
  { known, openOnly = false }: Pick<Wanted, 'known' | 'openOnly'>,
): Promise<Issue | undefined> {
  const counts = (issue: Issue): boolean => !openOnly || issue.state === 'open';
  const entry = readLedger(work.deps.ledger, work.repo).entries.get(key);
  for (const number of [entry?.number, known]) {
    if (number === undefined || number === null) continue;
    const issue = work.issues.find((one) => one.number === number) ?? (await existing(work, number));
    // An artifact that was copied names the issue of another one.
    if (issue !== undefined && counts(issue) && (issue.identity === null || issue.identity === key))
      return issue;
  }
  const there = ofIdentity(work.issues.filter(counts), key);
  if (there !== undefined || entry === undefined || entry.number !== null) return there;
  // Somebody was about to create it, and the list may lag behind.
  await settle(work.deps, entry.at);
  return lookAgain(work, key);
}

/** The lowest number counts where there are several. */
export function ofIdentity(issues: readonly Issue[], key: string): Issue | undefined {
  return issues.filter(({ identity }) => identity === key).sort((a, b) => a.number - b.number)[0];
}

async function existing({ host, repo }: Work, number: number): Promise<Issue | undefined> {
  try {
    return keptIssue(await host.issue(repo, number));
  } catch (error) {
    const reason = failureOf(error)?.reason;
    if (reason === 'missing' || reason === 'gone') return undefined;
    throw error;
  }
}

async function listed(deps: EnsureDeps, host: Host, repo: string): Promise<readonly Issue[]> {
  return (await freshCache(deps, host, repo)).issues;
}

async function lookAgain(work: Work, key: string): Promise<Issue | undefined> {
  // The list may not have them yet.
  rememberMade(work);
  work.issues = await listed(work.deps, work.host, work.repo);
  return ofIdentity(work.issues, key);
}

async function settle(deps: EnsureDeps, since: string): Promise<void> {
  const age = deps.clock.now() - (parseIso(since) ?? 0);
  // A date in the future was written by a clock that was put back since.
  const left = age < 0 ? deps.settleMs : deps.settleMs - age;
  if (left > 0) await deps.sleep(left);
}

async function create(work: Work, key: string, wanted: Wanted): Promise<Ensured> {
  const { deps, host, repo } = work;
  work.names ??= await labelNames(deps, host, repo);
  const { labels, missing } = onlyExisting(wanted.labels, work.names, repo);
  const { identity, due } = wanted;
  const title = wantedTitle(wanted);
  const body = makeBody(wanted.body, identity, due === undefined ? {} : { due });
  writeEntry(deps.ledger, repo, key, { number: null, url: null, at: toIso(deps.clock.now()) });
  const issue = await createOrFind(work, key, { title, body, labels });
  note(work, key, issue);
  work.issues = [...work.issues, issue];
  return { action: 'created', issue, missingLabels: missing };
}

async function createOrFind(
  work: Work,
  key: string,
  issue: { title: string; body: string; labels: readonly string[] },
): Promise<Issue> {
  const { deps, host, repo } = work;
  try {
    const made = await host.createIssue(repo, issue);
    work.made.push(made);
    return keptIssue(made);
  } catch (error) {
    if (!isAmbiguous(error)) {
      writeEntry(deps.ledger, repo, key, undefined);
      throw error;
    }
    // It may have taken effect: the list tells, once it has settled. The intention stays until then.
    const found = await afterSilence(work, key, error);
    if (found === undefined) throw error;
    return found;
  }
}

async function afterSilence(work: Work, key: string, cause: unknown): Promise<Issue | undefined> {
  const at = toIso(work.deps.clock.now());
  try {
    const early = await lookAgain(work, key);
    if (early !== undefined) return early;
    await settle(work.deps, at);
    return await lookAgain(work, key);
  } catch (error) {
    // The service is still away; the next attempt finds the intention and looks first.
    if (failureOf(error) === undefined) throw error;
    throw cause instanceof StewardError ? cause : error;
  }
}

function note({ deps, repo }: Work, key: string, issue: Pick<HostIssue, 'number' | 'url'>): void {
  const entry = readLedger(deps.ledger, repo).entries.get(key);
  if (entry?.number === issue.number) return;
  const { number, url } = issue;
  writeEntry(deps.ledger, repo, key, { number, url, at: toIso(deps.clock.now()) });
}
