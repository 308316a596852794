import { isObject } from '../../platform/files/json-object';
import type { FolderFacts } from '../../platform/files/stat';
import type { CollectInput } from '../source';
import { MAX_WATCHED, type Watch, type WatchedFile } from './fingerprint';

/** What is remembered of one repository between captures. All of it is bounded; see the limits below. */
export interface RepositoryMemory {
  /** First millisecond of the day of the first capture. */
  dayStartMs: number;
  /** False until a first scan succeeded: then the commits since `dayStartMs` are still to be taken. */
  scanned: boolean;
  /** The commits at the tips of all branches and HEADs that were scanned. */
  tips: string[];
  /** There were more tips than are kept. */
  cut: boolean;
  /** Commits that were tips once: what was reachable from them has been looked at. */
  former: string[];
  /** Author seconds of counted changes, oldest first, each with its committer date (s since the epoch). */
  seen: [authorSecond: string, committedSec: number][];
  /** Committer date (ms) of the newest author second that was forgotten; 0 when none was. */
  floorMs: number;
  /** Fingerprint of the files that hold the refs; empty: to be scanned again in any case. */
  print: string;
  /** What is enough to see that the print still holds. */
  watch?: Watch | undefined;
  /** `dev:ino` of its common folder: tells it again when it was renamed. */
  id: string;
  /** The configured path under which it was found last: keeps its memory while it is away. */
  path: string;
  /** Wall-clock time of the last scan, ms. */
  scannedMs: number;
  /** Nobody's e-mail is configured there, so everybody's commits count. */
  anyAuthor: boolean;
  /** Time-outs in a row. */
  timeouts: number;
  /** Kept while the clock is before the first day that was known: what holds again when that day is reached. */
  later?: Later | undefined;
}

type Later = Pick<RepositoryMemory, 'dayStartMs' | 'scanned' | 'tips' | 'former' | 'floorMs'>;

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
  return {
    dayStartMs,
    scanned: false,
    tips: [],
    cut: false,
    former: [],
    seen: [],
    floorMs: 0,
    print: '',
    id,
    path,
    scannedMs: 0,
    anyAuthor: false,
    timeouts: 0,
  };
}

/** The cursor as it was stored. What is no cursor of this format is none; a repository that is damaged starts over. */
export function readCursor({ cursor: value, nowMs, dayStartMs }: CollectInput): Memories {
  const memories: Memories = new Map();
  if (!isObject(value) || value['version'] !== VERSION || !isObject(value['repositories'])) return memories;
  for (const [path, stored] of Object.entries(value['repositories'])) {
    const memory = readMemory(stored);
    if (memory !== undefined) memories.set(path, inTime(memory, nowMs, dayStartMs));
  }
  return memories;
}

/**
 * A memory without times that are still to come: the clock was set back since. If its first day is still to come, all
 * commits of today are looked at again; what was counted is known by its author seconds. Either that day or today is
 * wrong, so what was known is kept until the clock reaches that day.
 */
function inTime(stored: RepositoryMemory, nowMs: number, dayStartMs: number): RepositoryMemory {
  const memory = clockReturned(stored, dayStartMs);
  const scannedMs = Math.min(memory.scannedMs, nowMs);
  const floorMs = Math.min(memory.floorMs, nowMs);
  if (memory.dayStartMs <= dayStartMs) return { ...memory, scannedMs, floorMs };
  const { id, path, seen, anyAuthor, timeouts, scanned, tips, former } = memory;
  const later = memory.later ?? {
    dayStartMs: memory.dayStartMs,
    scanned,
    tips,
    former,
    floorMs: memory.floorMs,
  };
  return { ...newMemory(dayStartMs, id, path), seen, anyAuthor, timeouts, scannedMs, floorMs, later };
}

/** When the clock is back: scanned anew from the earlier tips; what was counted meanwhile is known by its identities. */
function clockReturned(memory: RepositoryMemory, dayStartMs: number): RepositoryMemory {
  const { later } = memory;
  if (later === undefined || later.dayStartMs > dayStartMs) return memory;
  const floorMs = Math.max(memory.floorMs, later.floorMs);
  return { ...memory, ...later, floorMs, cut: true, print: '', watch: undefined, later: undefined };
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
  scan: { tips: readonly string[]; counted: readonly [authorSecond: string, committedSec: number][] },
): Pick<RepositoryMemory, 'scanned' | 'tips' | 'cut' | 'former' | 'seen' | 'floorMs'> {
  const now = new Set(scan.tips);
  const gone = memory.tips.filter((tip) => !now.has(tip));
  const former = [...new Set([...gone, ...memory.former.filter((tip) => !now.has(tip))])];
  const seen = [...memory.seen, ...scan.counted].sort((a, b) => a[1] - b[1]);
  const forgotten = seen.splice(0, Math.max(0, seen.length - MAX_SEEN));
  const newest = forgotten[forgotten.length - 1];
  return {
    scanned: true,
    tips: scan.tips.slice(0, MAX_TIPS),
    cut: scan.tips.length > MAX_TIPS,
    former: former.slice(0, MAX_FORMER),
    seen,
    floorMs: newest === undefined ? memory.floorMs : Math.max(memory.floorMs, newest[1] * 1000),
  };
}

function readMemory(value: unknown): RepositoryMemory | undefined {
  if (!isObject(value)) return undefined;
  const { dayStartMs, scanned, tips, cut, former, seen, floorMs, print, id, path, scannedMs, timeouts } =
    value;
  const anyAuthor = value['anyAuthor'] === true;
  if (!isMs(dayStartMs) || !isMs(floorMs) || !isMs(scannedMs) || !isMs(timeouts)) return undefined;
  if (typeof scanned !== 'boolean' || typeof cut !== 'boolean') return undefined;
  if (typeof print !== 'string' || typeof id !== 'string' || typeof path !== 'string') return undefined;
  if (!isListOf(tips, isSha) || !isListOf(former, isSha) || !isListOf(seen, isSeen)) return undefined;
  return {
    dayStartMs,
    scanned,
    tips,
    cut,
    former,
    seen,
    floorMs,
    print,
    id,
    path,
    scannedMs,
    anyAuthor,
    timeouts,
    watch: readWatch(value['watch']),
    later: readLater(value['later']),
  };
}

function readLater(value: unknown): Later | undefined {
  if (!isObject(value)) return undefined;
  const { dayStartMs, scanned, tips, former, floorMs } = value;
  if (!isMs(dayStartMs) || !isMs(floorMs) || typeof scanned !== 'boolean') return undefined;
  if (!isListOf(tips, isSha) || !isListOf(former, isSha)) return undefined;
  return { dayStartMs, scanned, tips, former, floorMs };
}

function readWatch(value: unknown): Watch | undefined {
  if (!isObject(value)) return undefined;
  const { folder, files } = value;
  if (!isFolderFacts(folder) || !isListOf(files, isWatchedFile)) return undefined;
  return files.length > 0 && files.length <= MAX_WATCHED ? { folder, files } : undefined;
}

function isFolderFacts(value: unknown): value is FolderFacts {
  return Array.isArray(value) && value.length === 4 && value.every((fact) => typeof fact === 'number');
}

function isWatchedFile(value: unknown): value is WatchedFile {
  if (!Array.isArray(value) || value.length !== 4) return false;
  const [name, ...facts] = value as unknown[];
  return typeof name === 'string' && !name.includes('\0') && facts.every((fact) => typeof fact === 'number');
}

/** A commit's name: 40 (or, in a SHA-256 repository, 64) hexadecimal digits. */
export function isSha(value: unknown): value is string {
  return typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
}

function isSeen(value: unknown): value is [string, number] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && isMs(value[1]);
}

function isMs(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isListOf<T>(value: unknown, is: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(is);
}
