import { readText } from '../platform/files/atomic-file';
import { isObject, parseObject } from '../platform/files/json-object';
import { StewardError } from '../errors';
import { parseIso, toIso } from '../platform/time/clock';
import { remember, writeStored } from './cache';
import { alone, type Open } from './deps';
import type { HostIssue } from './host';
import { failureOf, isAmbiguous, isGone } from './host/failure';
import {
  identityKey,
  keptIssue,
  makeBody,
  makeTitle,
  type Identity,
  type Issue,
  type TitleKind,
} from './issue';
import { labelNames, onlyExisting } from './labels';
import { freshCache } from './poll';

/**
 * An entry of the ledger: which issue belongs to what. Without a number it is an intention: from before the request
 * until its answer, nobody else knows of the issue.
 */
export interface Entry {
  number: number | null;
  url: string | null;
  /** When the intention was written, or the number; ISO-8601 UTC. */
  at: string;
}

const LEDGER_VERSION = 1;
const MAX_LEDGER_BYTES = 64 * 1024 * 1024;

/** The entries of a repository, by identity. One written by a newer version is `config`. */
export function readLedger(path: string, repo: string): ReadonlyMap<string, Entry> {
  const own = ledgerOf(path)[repo.toLowerCase()];
  return new Map(
    Object.entries(own ?? {}).filter(([, entry]) => isObject(entry) && typeof entry.at === 'string'),
  );
}

/** Writes one entry, durably; undefined takes it out. The entries of other repositories stay. */
export function writeEntry({ deps, repo }: Open, key: string, entry: Entry | undefined): void {
  const repos = ledgerOf(deps.paths.ledger);
  const name = repo.toLowerCase();
  const own = { ...repos[name], [key]: entry };
  writeStored(deps.paths.ledger, { version: LEDGER_VERSION, repos: { ...repos, [name]: own } });
}

/** A ledger that cannot be read is made anew: the issues themselves say whose they are. */
function ledgerOf(path: string): Record<string, Record<string, Entry>> {
  const stored = parseObject(readText(path, { maxBytes: MAX_LEDGER_BYTES }) ?? '');
  if (typeof stored?.['version'] === 'number' && stored['version'] > LEDGER_VERSION) {
    throw new StewardError('config', `${path} was written by a newer steward.`, {
      hint: 'Update steward: without it an issue might be made twice.',
    });
  }
  const repos = isObject(stored?.['repos']) ? stored['repos'] : {};
  return Object.fromEntries(Object.entries(repos).filter(([, own]) => isObject(own))) as ReturnType<
    typeof ledgerOf
  >;
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

interface Batch extends Open {
  issues: readonly Issue[];
  /** Labels of the repository, once they were needed. */
  names: string[] | undefined;
  /** Created, and not in the cache yet. */
  made: HostIssue[];
}

/**
 * Makes the issues of some identities, or finds them: local ledger, then the number of the artifact, then marker or
 * title in the full list; never the search. An intention stands in the ledger before its request, so that whoever is
 * killed at any point is followed by one who looks before he creates: in the end it is one issue. The first failure
 * is thrown; `onDone` has been told of what was done before.
 */
export function ensureIssues(
  open: Open,
  wanted: readonly Wanted[],
  onDone: (ensured: Ensured) => void = () => undefined,
): Promise<Ensured[]> {
  return alone(open.deps, 'create', async () => {
    const batch: Batch = { ...open, issues: await listed(open), names: undefined, made: [] };
    const all: Ensured[] = [];
    try {
      for (const one of wanted) {
        const ensured = await ensureOne(batch, one);
        all.push(ensured);
        onDone(ensured);
      }
    } finally {
      rememberMade(batch);
    }
    return all;
  });
}

/** The same for one. */
export async function ensureIssue(open: Open, wanted: Wanted): Promise<Ensured> {
  const [ensured] = await ensureIssues(open, [wanted]);
  return ensured as Ensured;
}

/** The issue of a creation that was begun at `at` and whose answer was lost, once the list has settled. */
export function lostIssue(open: Open, key: string, at: string): Promise<Issue | undefined> {
  return afterSettling({ ...open, issues: [], names: undefined, made: [] }, key, at);
}

async function listed({ deps, host, repo }: Open): Promise<readonly Issue[]> {
  return (await freshCache(deps, host, repo)).issues;
}

/** Once a batch: a kill before that loses nothing, since the ledger has each number by then. */
function rememberMade(batch: Batch): void {
  if (batch.made.length > 0) remember(batch.deps, batch.repo, ...batch.made);
  batch.made = [];
}

async function ensureOne(batch: Batch, wanted: Wanted): Promise<Ensured> {
  const key = identityKey(wanted.identity);
  const issue = await find(batch, key, wanted);
  if (issue === undefined) return create(batch, key, wanted);
  note(batch, key, issue);
  return { action: 'found', issue, missingLabels: [] };
}

async function find(
  batch: Batch,
  key: string,
  { known, openOnly = false }: Wanted,
): Promise<Issue | undefined> {
  const counts = (issue: Issue): boolean => !openOnly || issue.state === 'open';
  const entry = readLedger(batch.deps.paths.ledger, batch.repo).get(key);
  for (const number of [entry?.number, known]) {
    if (number === undefined || number === null) continue;
    const issue = batch.issues.find((one) => one.number === number) ?? (await existing(batch, number));
    // An artifact that was copied names the issue of another one.
    if (issue !== undefined && counts(issue) && (issue.identity === null || issue.identity === key))
      return issue;
  }
  const there = ofIdentity(batch.issues.filter(counts), key);
  if (there !== undefined || entry === undefined || entry.number !== null) return there;
  // Somebody was about to create it, and the list may lag behind.
  return afterSettling(batch, key, entry.at);
}

/** The lowest number counts where there are several. */
export function ofIdentity(issues: readonly Issue[], key: string): Issue | undefined {
  return issues.filter(({ identity }) => identity === key).sort((a, b) => a.number - b.number)[0];
}

async function existing({ host, repo }: Open, number: number): Promise<Issue | undefined> {
  try {
    return keptIssue(await host.issue(repo, number));
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Looks for an issue that may be made already: at once, and again when the list has settled since `at`. */
async function afterSettling(batch: Batch, key: string, at: string): Promise<Issue | undefined> {
  const look = async (): Promise<Issue | undefined> => {
    // The list may not have them yet.
    rememberMade(batch);
    batch.issues = await listed(batch);
    return ofIdentity(batch.issues, key);
  };
  const early = await look();
  if (early !== undefined) return early;
  const { clock, settleMs, sleep } = batch.deps;
  const age = clock.now() - (parseIso(at) ?? 0);
  // A date in the future was written by a clock that was put back since.
  const left = age < 0 ? settleMs : settleMs - age;
  if (left > 0) await sleep(left);
  return look();
}

async function create(batch: Batch, key: string, wanted: Wanted): Promise<Ensured> {
  const { identity, due } = wanted;
  batch.names ??= await labelNames(batch);
  const { labels, missing } = onlyExisting(wanted.labels, batch.names, batch.repo);
  const title = wantedTitle(wanted);
  const body = makeBody(wanted.body, identity, due === undefined ? {} : { due });
  writeEntry(batch, key, { number: null, url: null, at: toIso(batch.deps.clock.now()) });
  const issue = await createOrFind(batch, key, { title, body, labels });
  note(batch, key, issue);
  batch.issues = [...batch.issues, issue];
  return { action: 'created', issue, missingLabels: missing };
}

async function createOrFind(
  batch: Batch,
  key: string,
  issue: { title: string; body: string; labels: readonly string[] },
): Promise<Issue> {
  try {
    const made = await batch.host.createIssue(batch.repo, issue);
    batch.made.push(made);
    return keptIssue(made);
  } catch (error) {
    if (!isAmbiguous(error)) {
      writeEntry(batch, key, undefined);
      throw error;
    }
    // It may have taken effect: the list tells, once it has settled. The intention stays until then.
    const found = await foundAfterSilence(batch, key);
    if (found === undefined) throw error;
    return found;
  }
}

async function foundAfterSilence(batch: Batch, key: string): Promise<Issue | undefined> {
  try {
    return await afterSettling(batch, key, toIso(batch.deps.clock.now()));
  } catch (error) {
    // The service is still away; the next attempt finds the intention and looks first.
    if (failureOf(error) === undefined) throw error;
    return undefined;
  }
}

function note(batch: Batch, key: string, { number, url }: Pick<Issue, 'number' | 'url'>): void {
  const { deps, repo } = batch;
  if (readLedger(deps.paths.ledger, repo).get(key)?.number === number) return;
  writeEntry(batch, key, { number, url, at: toIso(deps.clock.now()) });
}
