import * as v from 'valibot';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { parseObject } from '../platform/files/json-object';
import { markOfTarget } from '../platform/files/stat';
import { isIso, parseIso, toIso } from '../platform/time/clock';
import { isIssue, type Issue } from './issue';

/** Returns the parsed content of a JSON file, or undefined if it is missing or doesn't match the schema. */
export function readStored<T>(path: string, schema: v.GenericSchema<unknown, T>, maxBytes = 4 * 1024 * 1024) {
  const found = v.safeParse(schema, parseObject(readText(path, { maxBytes }) ?? ''));
  return found.success ? found.output : undefined;
}

export function writeStored(path: string, value: object): void {
  replaceFile(path, `${JSON.stringify(value)}\n`);
}

export const Time = v.custom<string>(isIso);
const VERSION = 1;
const MAX_BYTES = 256 * 1024 * 1024;

function orNull<T>(schema: v.GenericSchema<unknown, T>) {
  return v.fallback(v.nullable(schema), null);
}

const StoredCache = v.object({
  version: v.literal(VERSION),
  repo: v.string(),
  issues: v.array(v.unknown()),
  /** Number of malformed issues skipped since the last full fetch. */
  malformed: v.fallback(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 0),
  /** The next fetch requests changes since this time (ISO 8601 in UTC); `null` for a full fetch. */
  since: orNull(Time),
  /** Time of the last full fetch. Only a full fetch detects deleted issues. */
  fullAt: orNull(Time),
  /** The ETag for the query with this `since`, and a hash of the token used for the query. */
  etag: orNull(v.object({ value: v.string(), tokenHash: v.string() })),
  labels: orNull(
    v.object({ names: v.array(v.string()), etag: v.nullable(v.string()), tokenHash: v.string() }),
  ),
});

/** A repository's fetched issues, and the state that the next fetch needs. */
export type Cache = Omit<v.InferOutput<typeof StoredCache>, 'version' | 'issues'> & { issues: Issue[] };

export function emptyCache(repo: string): Cache {
  return { repo, issues: [], malformed: 0, since: null, fullAt: null, etag: null, labels: null };
}

/**
 * Returns a repository's cache, or an empty cache if the file is missing, damaged or for another repository.
 * If the file contains malformed issues, skips them and requests a full fetch.
 */
export function readCache(path: string, repo: string): Cache {
  const empty = emptyCache(repo);
  const stored = readStored(path, StoredCache, MAX_BYTES);
  if (stored?.repo !== repo) return empty;
  const { malformed, since, fullAt, etag, labels } = stored;
  const issues = stored.issues.filter(isIssue);
  const lost = stored.issues.length - issues.length;
  if (lost === 0) return { repo, issues, malformed, since, fullAt, etag, labels };
  // If all issues are malformed, the issue count is unknown rather than zero.
  if (issues.length === 0) return empty;
  return { repo, issues, malformed: malformed + lost, since: null, fullAt, etag: null, labels };
}

/** Returns the open issues, for completion. Parses only their lines, because a key stroke waits. */
export function openIssues(path: string, repo: string): Issue[] {
  const [head = '', ...lines] = (readText(path, { maxBytes: MAX_BYTES }) ?? '').split('\n');
  if (parseObject(`${head}]}`)?.['repo'] !== repo) return [];
  const open = lines.filter((line) => line.includes('"state":"open"'));
  return open.map((line) => parseObject(line.replace(/,$/, ''))).filter(isIssue);
}

export function writeCache(path: string, cache: Cache): void {
  replaceFile(path, cacheText(cache));
}

/** Formats a cache as JSON with one issue a line. */
export function cacheText({ issues, ...state }: Cache): string {
  const head = JSON.stringify({ version: VERSION, ...state }).slice(0, -1);
  return `${head},"issues":[\n${issues.map((issue) => JSON.stringify(issue)).join(',\n')}\n]}\n`;
}

/** Returns a reader that parses the cache again only when its file has changed. */
export function cacheReader(path: string): (repo: string) => Cache {
  let last: { mark: string | undefined; cache: Cache } | undefined;
  return (repo) => {
    const mark = markOfTarget(path);
    if (last === undefined || last.mark !== mark || last.cache.repo !== repo)
      last = { mark, cache: readCache(path, repo) };
    return last.cache;
  };
}

/** The result of the last poll. Stored in a separate small file, because the result changes every minute. */
type Poll = ReturnType<typeof readPoll>;

const StoredPoll = v.object({
  repo: v.string(),
  lastFetch: orNull(Time),
  failure: orNull(v.object({ at: v.string(), message: v.string(), hint: v.string() })),
});

export function readPoll(path: string, repo: string) {
  const stored = readStored(path, StoredPoll);
  if (stored?.repo !== repo) return { lastFetch: null, failure: null };
  return { lastFetch: stored.lastFetch, failure: stored.failure };
}

export function writePoll(path: string, repo: string, poll: Poll): void {
  writeStored(path, { version: VERSION, repo, ...poll });
}

/** How far consecutive fetches overlap, in ms. They overlap because GitHub's list may lag behind a write. */
const OVERLAP_MS = 60_000;
/**
 * Issues per page. If the overlap would need more than one page, fetches don't overlap, because each page
 * costs a request.
 */
const PAGE = 100;

/** Merges fetched issues into the cache. A full fetch replaces the list. */
export function merged(
  cache: Cache,
  fetched: readonly Issue[],
  options: { full: boolean; nowMs: number; malformed: number },
): Cache {
  const issues = updated(options.full ? [] : cache.issues, fetched);
  return {
    ...cache,
    issues,
    // Overlapping fetches may count a malformed issue twice, so don't add up the counts.
    malformed: options.full ? options.malformed : Math.max(cache.malformed, options.malformed),
    since: nextSince(issues) ?? cache.since,
    fullAt: options.full ? toIso(options.nowMs) : cache.fullAt,
    etag: null,
  };
}

function updated(issues: readonly Issue[], changed: readonly Issue[]): Issue[] {
  const byNumber = new Map([...issues, ...changed].map((issue) => [issue.number, issue]));
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

function nextSince(issues: readonly Issue[]): string | null {
  const times = issues.map(({ updatedAt }) => parseIso(updatedAt) ?? 0);
  const newest = times.reduce((max, ms) => Math.max(max, ms), 0);
  if (newest === 0) return null;
  const overlapping = times.filter((ms) => ms >= newest - OVERLAP_MS).length;
  return toIso(Math.floor((overlapping < PAGE ? newest - OVERLAP_MS : newest) / 1000) * 1000);
}

/** Caches the issue that a write returned, so that the board shows it immediately. */
export function cacheIssue({ paths }: { paths: { cache: string } }, repo: string, written: Issue): void {
  const cache = readCache(paths.cache, repo);
  writeCache(paths.cache, { ...cache, issues: updated(cache.issues, [written]), etag: null });
}
