import * as v from 'valibot';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { parseObject } from '../platform/files/json-object';
import { markOfTarget } from '../platform/files/stat';
import { parseIso, toIso } from '../platform/time/clock';
import type { HostIssue } from './host';
import { keptIssue, StoredIssue, Time, type Issue } from './issue';

/** What a JSON file holds in this shape; undefined where it is not there, broken, or of another shape. */
export function readStored<T>(
  path: string,
  schema: v.GenericSchema<unknown, T>,
  maxBytes = 4 * 1024 * 1024,
): T | undefined {
  const found = v.safeParse(schema, parseObject(readText(path, { maxBytes }) ?? ''));
  return found.success ? found.output : undefined;
}

export function writeStored(path: string, value: object): void {
  replaceFile(path, `${JSON.stringify(value)}\n`);
}

const VERSION = 1;
const MAX_BYTES = 256 * 1024 * 1024;

function orNull<T>(schema: v.GenericSchema<unknown, T>) {
  return v.fallback(v.nullable(schema), null);
}

const StoredCache = v.object({
  version: v.literal(VERSION),
  repo: v.string(),
  issues: v.array(v.unknown()),
  /** Issues that were skipped since the last full question, for they were malformed. */
  malformed: v.fallback(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 0),
  /** Where the next question begins, ISO-8601 UTC; null: ask for everything. */
  since: orNull(Time),
  /** When everything was last asked for: what was deleted is noticed then only. */
  fullAt: orNull(Time),
  /** Of the question from `since`, for the token that asked it. */
  etag: orNull(v.object({ value: v.string(), tokenHash: v.string() })),
  /** Labels of the repository. */
  labels: orNull(
    v.object({ names: v.array(v.string()), etag: v.nullable(v.string()), tokenHash: v.string() }),
  ),
});

/** What was last read of the repository, and where to go on. */
export type Cache = Omit<v.InferOutput<typeof StoredCache>, 'version' | 'issues'> & { issues: Issue[] };

/**
 * The cache of a repository; an empty one where none is, or that of another one, or one that is broken. What is
 * malformed in it is skipped, and the next question asks for everything.
 */
export function readCache(path: string, repo: string): Cache {
  const empty: Cache = {
    repo,
    issues: [],
    malformed: 0,
    since: null,
    fullAt: null,
    etag: null,
    labels: null,
  };
  const stored = readStored(path, StoredCache, MAX_BYTES);
  if (stored?.repo !== repo) return empty;
  const { issues: all, malformed, since, fullAt, etag, labels } = stored;
  const rest = { repo, malformed, since, fullAt, etag, labels };
  const issues = all.filter((issue): issue is Issue => v.is(StoredIssue, issue));
  const lost = all.length - issues.length;
  if (lost === 0) return { ...rest, issues };
  // Nobody knows what was there: that is not "no issues".
  if (issues.length === 0) return empty;
  return { ...rest, issues, malformed: malformed + lost, since: null, etag: null };
}

export function writeCache(path: string, cache: Cache): void {
  writeStored(path, { version: VERSION, ...cache });
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

/** Apart from the cache: it changes every minute, and is small. */
export interface Poll {
  /** When the cache was last known to be what the service has. */
  lastFetch: string | null;
  /** What went wrong since; null when the last attempt was good. */
  failure: { at: string; message: string; hint: string } | null;
}

const StoredPoll = v.object({
  repo: v.string(),
  lastFetch: orNull(Time),
  failure: orNull(v.object({ at: v.string(), message: v.string(), hint: v.string() })),
});

export function readPoll(path: string, repo: string): Poll {
  const stored = readStored(path, StoredPoll);
  if (stored?.repo !== repo) return { lastFetch: null, failure: null };
  return { lastFetch: stored.lastFetch, failure: stored.failure };
}

export function writePoll(path: string, repo: string, poll: Poll): void {
  writeStored(path, { version: VERSION, repo, ...poll });
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
  const kept = updated(options.all ? [] : cache.issues, issues);
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

type Place = { paths: { cache: string } };

/** Puts what writes answered into the cache, so that the next look shows it; the next poll confirms it. */
export function remember({ paths }: Place, repo: string, ...written: readonly HostIssue[]): void {
  const cache = readCache(paths.cache, repo);
  // The question that goes on from `since` would answer as if this were news: its ETag says nothing any more.
  writeCache(paths.cache, { ...cache, issues: updated(cache.issues, written.map(keptIssue)), etag: null });
}

/**
 * The same for many writes in a row: the file of thousands of issues is written once, at their end or their failure.
 * A kill before that loses nothing, since the next poll asks for what has changed.
 */
export async function rememberAll(
  place: Place,
  repo: string,
  write: (keep: (issue: HostIssue) => void) => Promise<void>,
): Promise<void> {
  const written: HostIssue[] = [];
  const keep = (): void => {
    if (written.length > 0) remember(place, repo, ...written);
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
