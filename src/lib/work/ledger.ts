import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { parseObject, isObject } from '../platform/files/json-object';

/**
 * Which issue belongs to what, and what was about to be created (decisions.md 6: identity). An entry without a
 * number is an intention: from before the request until its answer, nobody else knows of the issue.
 */
export interface Entry {
  /** null: about to be created. */
  number: number | null;
  url: string | null;
  /** When the intention was written, or the number; ISO-8601 UTC. */
  at: string;
}

export interface Ledger {
  repo: string;
  entries: Map<string, Entry>;
}

const VERSION = 1;
const MAX_BYTES = 64 * 1024 * 1024;

/** The ledger of a repository. One of another repository is none of this one's. */
export function readLedger(path: string, repo: string): Ledger {
  const stored = readStored(path);
  const entries = new Map<string, Entry>();
  const all = isObject(stored?.['repos']) ? stored['repos'] : {};
  const own = all[repo.toLowerCase()];
  for (const [key, entry] of Object.entries(isObject(own) ? own : {})) {
    if (isObject(entry) && typeof entry['at'] === 'string') entries.set(key, entry as unknown as Entry);
  }
  return { repo, entries };
}

/** Writes one entry, durably; undefined takes it out. The entries of other repositories stay. */
export function writeEntry(path: string, repo: string, key: string, entry: Entry | undefined): void {
  const stored = readStored(path);
  const repos = isObject(stored?.['repos']) ? stored['repos'] : {};
  const own = isObject(repos[repo.toLowerCase()]) ? { ...(repos[repo.toLowerCase()] as object) } : {};
  const next = { ...own, [key]: entry };
  replaceFile(
    path,
    `${JSON.stringify({ version: VERSION, repos: { ...repos, [repo.toLowerCase()]: next } })}\n`,
  );
}

/** A ledger that cannot be read is made anew: the issues themselves say whose they are. */
function readStored(path: string): Record<string, unknown> | undefined {
  const stored = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '');
  if (typeof stored?.['version'] === 'number' && stored['version'] > VERSION) {
    throw new StewardError('config', `${path} was written by a newer steward.`, {
      hint: 'Update steward: without it an issue might be made twice.',
    });
  }
  return stored;
}
