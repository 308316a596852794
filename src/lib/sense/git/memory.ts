import { basename, dirname } from 'node:path';

import * as v from 'valibot';

import { unless } from '../../errors';
import { gitFolderAt } from '../../platform/files/git-folder';
import { isObject } from '../../platform/files/json-object';
import type { CollectInput } from '../source';
import { isSha } from './queries';

const MS = v.pipe(v.number(), v.finite(), v.minValue(0));
const SHAS = v.array(v.custom<string>(isSha));

const MEMORY = v.object({
  /** Start of the day of the first capture. */
  dayStartMs: MS,
  /** Whether a scan has succeeded. Before the first successful scan, commits since `dayStartMs` count. */
  scanned: v.optional(v.boolean(), false),
  /** Commit ids of all branch tips and HEADs at the last scan. */
  tips: v.optional(SHAS, () => []),
  /** Commit ids of earlier tips. All commits reachable from these tips have been scanned. */
  former: v.optional(SHAS, () => []),
  /** Committer date of the newest change removed from `seen`, in ms, or 0 if none was removed. */
  floorMs: v.optional(MS, 0),
  /** Whether `tips` was truncated. */
  cut: v.optional(v.boolean(), false),
  /**
   * Counted changes, oldest first. The first value is a hash of the author and author date; the second is the
   * committer date.
   */
  seen: v.optional(v.array(v.custom<[authorSecond: string, committedSec: number]>(isSeen)), () => []),
  /** Fingerprint of the files that contain refs. Empty if the repository must be scanned. */
  print: v.optional(v.string(), ''),
  /** Device and inode of git's common directory, which identify the repository after a rename. */
  id: v.string(),
  /** Earlier paths of the common directory, oldest first. */
  formerDirs: v.optional(v.array(v.string()), () => []),
  /**
   * The configured path. The entry doesn't expire while this path is configured, even if the repository is
   * missing.
   */
  path: v.string(),
  scannedMs: v.optional(MS, 0),
  /** Whether everyone's commits count, because no e-mail address is configured. */
  anyAuthor: v.optional(v.boolean(), false),
  /** Number of consecutive timeouts. */
  timeouts: v.optional(MS, 0),
});

export type RepositoryMemory = v.InferOutput<typeof MEMORY>;

/** The cached state of each repository, by the path of git's common directory. */
export type Memories = Map<string, RepositoryMemory>;

const MAX_TIPS = 256;
const MAX_FORMER = 64;
const MAX_SEEN = 500;
const MAX_FORMER_DIRS = 20;
const MAX_REPOSITORIES = 1000;
/** How long to remember a repository after it is removed from the configuration. */
const UNWATCHED_MS = 3 * 86_400_000;
const VERSION = 1;

export function newMemory(dayStartMs: number, id: string, path: string): RepositoryMemory {
  return v.parse(MEMORY, { dayStartMs, id, path });
}

/** Returns the memory of a repository that was moved from `before`. */
export function movedMemory(memory: RepositoryMemory, before: string, path: string): RepositoryMemory {
  const formerDirs = [...new Set([...memory.formerDirs, before])].slice(-MAX_FORMER_DIRS);
  return { ...memory, path, print: '', formerDirs };
}

/** Returns a function that looks up the id of the repository that is or was at a path. */
export function repositoryIds(
  cursor: unknown,
  nowMs: number,
): (path: string | undefined) => string | undefined {
  const former = new Map<string, string>();
  for (const [dir, { id, formerDirs }] of readCursor({ cursor, nowMs }))
    for (const each of [...formerDirs, dir]) former.set(basename(each) === '.git' ? dirname(each) : each, id);
  const ids = new Map<string, string | undefined>();
  return (path) => {
    if (path === undefined) return undefined;
    const found = (): string | undefined => unless(['EACCES', 'EPERM'], () => gitFolderAt(path))?.id;
    if (!ids.has(path)) ids.set(path, found() ?? former.get(path));
    return ids.get(path);
  };
}

/** Parses the cursor. Drops damaged entries, and returns an empty map if the format is unknown. */
export function readCursor({ cursor: value, nowMs }: Pick<CollectInput, 'cursor' | 'nowMs'>): Memories {
  const memories: Memories = new Map();
  if (!isObject(value) || value['version'] !== VERSION || !isObject(value['repositories'])) return memories;
  for (const [path, stored] of Object.entries(value['repositories'])) {
    const { success, output } = v.safeParse(MEMORY, stored);
    if (!success) continue;
    const { scannedMs, floorMs } = output;
    memories.set(path, {
      ...output,
      scannedMs: Math.min(scannedMs, nowMs),
      floorMs: Math.min(floorMs, nowMs),
    });
  }
  return memories;
}

/** Returns the cursor to store. Omits repositories that haven't been watched for three days. */
export function writeCursor(memories: Memories, repos: readonly string[], nowMs: number): unknown {
  const watched = new Set(repos);
  const isWatched = (memory: RepositoryMemory): boolean => watched.has(memory.path);
  const remembered = [...memories]
    .filter(([, memory]) => isWatched(memory) || Math.abs(nowMs - memory.scannedMs) < UNWATCHED_MS)
    .sort(([, a], [, b]) => Number(isWatched(b)) - Number(isWatched(a)) || b.scannedMs - a.scannedMs)
    .slice(0, Math.max(MAX_REPOSITORIES, watched.size));
  return { version: VERSION, repositories: Object.fromEntries(remembered) };
}

/** Returns the fields to update after a scan that found the given tips and commits. */
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
