import * as v from 'valibot';

import { isObject } from '../../platform/files/json-object';
import type { CollectInput } from '../source';
import { isSha } from './queries';

const MS = v.pipe(v.number(), v.finite(), v.minValue(0));
const SHAS = v.array(v.custom<string>(isSha));

/** What holds again when a clock that is behind reaches the first day that was known. */
const LATER = v.object({
  /** First millisecond of the day of the first capture. */
  dayStartMs: MS,
  /** False until a first scan succeeded: then the commits since `dayStartMs` are still to be taken. */
  scanned: v.boolean(),
  /** The commits at the tips of all branches and HEADs that were scanned. */
  tips: SHAS,
  /** Commits that were tips once: what was reachable from them has been looked at. */
  former: SHAS,
  /** Committer date (ms) of the newest author second that was forgotten; 0 when none was. */
  floorMs: MS,
});

const MEMORY = v.object({
  ...LATER.entries,
  /** There were more tips than are kept. */
  cut: v.boolean(),
  /** Author seconds of counted changes, oldest first, each with its committer date (s since the epoch). */
  seen: v.array(v.custom<[authorSecond: string, committedSec: number]>(isSeen)),
  /** Fingerprint of the files that hold the refs; empty: to be scanned again in any case. */
  print: v.string(),
  /** `dev:ino` of its common folder: tells it again when it was renamed. */
  id: v.string(),
  /** The configured path under which it was found last: keeps its memory while it is away. */
  path: v.string(),
  /** Wall-clock time of the last scan, ms. */
  scannedMs: MS,
  /** No e-mail is configured there, so everybody's commits count. */
  anyAuthor: v.optional(v.boolean(), false),
  /** Timeouts in a row. */
  timeouts: MS,
  /** Kept while the clock is before the first day that was known. */
  later: v.optional(LATER),
});

/** What is remembered of one repository between captures; bounded by the limits below. */
export type RepositoryMemory = v.InferOutput<typeof MEMORY>;

/** By the path of the common folder. */
export type Memories = Map<string, RepositoryMemory>;

const MAX_TIPS = 256;
const MAX_FORMER = 64;
const MAX_SEEN = 500;
const MAX_REPOSITORIES = 1000;
/** A repository that was taken off the list: as long as its commits of "today" could count twice. */
const KEPT_UNLISTED_MS = 3 * 86_400_000;
const VERSION = 1;

export function newMemory(dayStartMs: number, id: string, path: string): RepositoryMemory {
  const nothing = { tips: [], former: [], seen: [], cut: false, print: '' };
  return {
    ...{ dayStartMs, id, path, scanned: false, anyAuthor: false },
    ...{ floorMs: 0, scannedMs: 0, timeouts: 0 },
    ...nothing,
  };
}

/** The cursor as it was stored. One of another format is empty; a repository that is damaged starts over. */
export function readCursor({ cursor: value, nowMs, dayStartMs }: CollectInput): Memories {
  const memories: Memories = new Map();
  if (!isObject(value) || value['version'] !== VERSION || !isObject(value['repositories'])) return memories;
  for (const [path, stored] of Object.entries(value['repositories'])) {
    const parsed = v.safeParse(MEMORY, stored);
    if (parsed.success) memories.set(path, inTime(parsed.output, nowMs, dayStartMs));
  }
  return memories;
}

/**
 * A memory without times that are still to come: the clock was set back since. If its first day is still to come, all
 * commits of today are looked at again (those counted are known by their author seconds) until the clock reaches it.
 */
function inTime(stored: RepositoryMemory, nowMs: number, dayStartMs: number): RepositoryMemory {
  const memory = clockReturned(stored, dayStartMs);
  const scannedMs = Math.min(memory.scannedMs, nowMs);
  const floorMs = Math.min(memory.floorMs, nowMs);
  if (memory.dayStartMs <= dayStartMs) return { ...memory, scannedMs, floorMs };
  const { id, path, seen, anyAuthor, timeouts } = memory;
  const later = memory.later ?? v.parse(LATER, memory);
  return { ...newMemory(dayStartMs, id, path), seen, anyAuthor, timeouts, scannedMs, floorMs, later };
}

/** When the clock is back: scanned anew from the earlier tips; what was counted meanwhile is known by its identities. */
function clockReturned({ later, ...memory }: RepositoryMemory, dayStartMs: number): RepositoryMemory {
  if (later === undefined || later.dayStartMs > dayStartMs) return { ...memory, later };
  const floorMs = Math.max(memory.floorMs, later.floorMs);
  return { ...memory, ...later, floorMs, cut: true, print: '' };
}

/** The cursor to store: repositories that are not listed any more are forgotten after some days. */
export function writeCursor(memories: Memories, repos: readonly string[], nowMs: number): unknown {
  const listed = new Set(repos);
  const isListed = (memory: RepositoryMemory): boolean => listed.has(memory.path);
  const kept = [...memories]
    .filter(([, memory]) => isListed(memory) || Math.abs(nowMs - memory.scannedMs) < KEPT_UNLISTED_MS)
    .sort(([, a], [, b]) => Number(isListed(b)) - Number(isListed(a)) || b.scannedMs - a.scannedMs)
    .slice(0, Math.max(MAX_REPOSITORIES, listed.size));
  return { version: VERSION, repositories: Object.fromEntries(kept) };
}

/** The memory after a scan that found these tips and counted these commits. */
export function afterScan(
  memory: RepositoryMemory,
  tips: readonly string[],
  counted: readonly [authorSecond: string, committedSec: number][],
): Pick<RepositoryMemory, 'scanned' | 'tips' | 'cut' | 'former' | 'seen' | 'floorMs'> {
  const now = new Set(tips);
  const former = [...new Set([...memory.tips, ...memory.former])].filter((tip) => !now.has(tip));
  const seen = [...memory.seen, ...counted].sort((a, b) => a[1] - b[1]);
  const newest = seen.splice(0, Math.max(0, seen.length - MAX_SEEN)).at(-1);
  return {
    scanned: true,
    tips: tips.slice(0, MAX_TIPS),
    cut: tips.length > MAX_TIPS,
    former: former.slice(0, MAX_FORMER),
    seen,
    floorMs: Math.max(memory.floorMs, (newest?.[1] ?? 0) * 1000),
  };
}

function isSeen(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && v.is(MS, value[1]);
}
