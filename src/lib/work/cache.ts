import { readText, replaceFile } from '../platform/files/atomic-file';
import { parseIso, toIso } from '../platform/time/clock';
import { isObject, parseObject } from '../platform/files/json-object';
import { markOfTarget } from '../platform/files/stat';
import type { HostIssue } from './host';
import { isIssue, parseBody, parseTitle, type Issue } from './issue';

/** Where the kept state of the repository lies. */
export interface CachePaths {
  cache: string;
  poll: string;
}

/** What was last read of the repository, and where to go on (service.md: the kanban serves cached state). */
export interface Cache {
  repo: string;
  issues: Issue[];
  /** Issues that were skipped since the last full question, for they were malformed. */
  malformed: number;
  /** Where the next question begins, ISO-8601 UTC; null: ask for everything. */
  since: string | null;
  /** When everything was last asked for: what was deleted is noticed then only. */
  fullAt: string | null;
  /** Of the question from `since`, for the token that asked it. */
  etag: { value: string; tokenHash: string } | null;
  /** Labels of the repository. */
  labels: { names: string[]; etag: string | null; tokenHash: string } | null;
}

/** Apart from the cache: it changes every minute, and is small. */
export interface Poll {
  /** When the cache was last known to be what the service has. */
  lastFetch: string | null;
  /** What went wrong since; null when the last attempt was good. */
  failure: { at: string; message: string; hint: string } | null;
}

const VERSION = 1;
const MAX_BYTES = 256 * 1024 * 1024;

function emptyCache(repo: string): Cache {
  return { repo, issues: [], malformed: 0, since: null, fullAt: null, etag: null, labels: null };
}

/**
 * The cache of a repository; an empty one where none is, or that of another one, or one that is broken. What is
 * malformed in it is skipped, and the next question asks for everything.
 */
export function readCache(path: string, repo: string): Cache {
  const stored = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '');
  if (stored?.['version'] !== VERSION || stored['repo'] !== repo) return emptyCache(repo);
  const { issues: all, malformed, since, fullAt, etag, labels } = stored;
  if (!Array.isArray(all)) return emptyCache(repo);
  const issues = (all as unknown[]).filter(isIssue);
  const lost = all.length - issues.length;
  // Nobody knows what was there: that is not "no issues".
  if (lost > 0 && issues.length === 0) return emptyCache(repo);
  return {
    repo,
    issues,
    malformed: (Number.isSafeInteger(malformed) ? Math.max(0, malformed as number) : 0) + lost,
    since: lost === 0 && isTime(since) ? since : null,
    fullAt: isTime(fullAt) ? fullAt : null,
    etag: lost === 0 && isEtag(etag) ? etag : null,
    labels: isLabels(labels) ? labels : null,
  };
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && parseIso(value) !== undefined;
}

function isEtag(value: unknown): value is NonNullable<Cache['etag']> {
  return isObject(value) && typeof value['value'] === 'string' && typeof value['tokenHash'] === 'string';
}

function isLabels(value: unknown): value is NonNullable<Cache['labels']> {
  if (!isObject(value)) return false;
  const { names, etag, tokenHash } = value;
  const isText = (one: unknown): boolean => typeof one === 'string';
  const isMark = (one: unknown): boolean => one === null || isText(one);
  return Array.isArray(names) && names.every(isText) && isMark(etag) && isMark(tokenHash);
}

export function writeCache(path: string, cache: Cache): void {
  replaceFile(path, `${JSON.stringify({ version: VERSION, ...cache })}\n`);
}

export function readPoll(path: string, repo: string): Poll {
  const stored = parseObject(readText(path, { maxBytes: 64 * 1024 }) ?? '');
  const none: Poll = { lastFetch: null, failure: null };
  if (stored === undefined || stored['repo'] !== repo) return none;
  const { lastFetch, failure } = stored;
  return {
    lastFetch: typeof lastFetch === 'string' && parseIso(lastFetch) !== undefined ? lastFetch : null,
    failure: isObject(failure) ? (failure as unknown as Poll['failure']) : null,
  };
}

export function writePoll(path: string, repo: string, poll: Poll): void {
  replaceFile(path, `${JSON.stringify({ version: VERSION, repo, ...poll })}\n`);
}

/** Reads the cache again only when its file has changed: for the daemon, which is asked all day. */
export function cacheReader(path: string): (repo: string) => Cache {
  let held: { mark: string | undefined; cache: Cache } | undefined;
  return (repo) => {
    const mark = markOfTarget(path);
    if (held === undefined || held.mark !== mark || held.cache.repo !== repo) {
      held = { mark, cache: readCache(path, repo) };
    }
    return held.cache;
  };
}

/** What is kept of an issue. */
export function keptIssue(issue: HostIssue): Issue {
  const { body, ...rest } = issue;
  const marker = parseBody(body);
  return { ...rest, identity: marker.identity ?? parseTitle(issue.title).identity, due: marker.due };
}

/** A list may lag behind a write: what is this young is asked for again. */
const OVERLAP_MS = 60_000;
/** More than a page is no question to repeat every minute. */
const PAGE = 100;

/** The cache with what a question brought; with `all` it is the whole list, and what it lacks is gone. */
export function merged(
  cache: Cache,
  issues: readonly Issue[],
  options: { all: boolean; nowMs: number; malformed: number },
): Cache {
  const byNumber = new Map(options.all ? [] : cache.issues.map((issue) => [issue.number, issue]));
  for (const issue of issues) byNumber.set(issue.number, issue);
  const kept = [...byNumber.values()].sort((a, b) => a.number - b.number);
  return {
    ...cache,
    issues: kept,
    // Questions overlap: the same one may come again.
    malformed: options.all ? options.malformed : Math.max(cache.malformed, options.malformed),
    since: nextSince(kept) ?? cache.since,
    fullAt: options.all ? toIso(options.nowMs) : cache.fullAt,
    etag: null,
  };
}

function nextSince(issues: readonly Issue[]): string | null {
  const times = issues.map(({ updatedAt }) => parseIso(updatedAt) ?? 0);
  const newest = times.reduce((max, ms) => Math.max(max, ms), 0);
  if (newest === 0) return null;
  const overlapping = times.filter((ms) => ms >= newest - OVERLAP_MS).length;
  return toIso(Math.floor((overlapping < PAGE ? newest - OVERLAP_MS : newest) / 1000) * 1000);
}

const FULL_EVERY_MS = 24 * 3_600_000;

/** Is it time to ask for everything? A date in the future was written by a clock that was put back since. */
export function isFullDue(cache: Cache, nowMs: number): boolean {
  const at = parseIso(cache.fullAt ?? '');
  return cache.since === null || at === undefined || Math.abs(nowMs - at) > FULL_EVERY_MS;
}

/** Puts what writes answered into the cache, so that the next look shows it; the next poll confirms it. */
export function remember(
  deps: { paths: Pick<CachePaths, 'cache'> },
  repo: string,
  ...written: readonly HostIssue[]
): void {
  const cache = readCache(deps.paths.cache, repo);
  const byNumber = new Map(cache.issues.map((issue) => [issue.number, issue]));
  for (const issue of written) byNumber.set(issue.number, keptIssue(issue));
  const issues = [...byNumber.values()].sort((a, b) => a.number - b.number);
  // The question that goes on from `since` would answer as if this were news: its ETag says nothing any more.
  writeCache(deps.paths.cache, { ...cache, issues, etag: null });
}

/**
 * The same for many writes in a row: the file of thousands of issues is written once, at their end or their failure.
 * A kill before that loses nothing, since the next poll asks for what has changed.
 */
export async function rememberAll(
  deps: { paths: Pick<CachePaths, 'cache'> },
  repo: string,
  write: (keep: (issue: HostIssue) => void) => Promise<void>,
): Promise<void> {
  const written: HostIssue[] = [];
  const keep = (): void => {
    if (written.length > 0) remember(deps, repo, ...written);
  };
  try {
    await write((issue) => written.push(issue));
  } catch (error) {
    try {
      keep();
    } catch {
      // What stopped the writes is what to tell of: the next poll writes the cache again, and tells of its own failure.
    }
    throw error;
  }
  keep();
}
