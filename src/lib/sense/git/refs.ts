import { hash } from 'node:crypto';
import { isAbsolute, join, sep } from 'node:path';

import { StewardError, toStewardError } from '../../errors';
import { gitFolderAt, type GitFolder } from '../../platform/files/git-folder';
import { entriesIn, stampOf, targetOf, type Stamp } from '../../platform/files/stat';
import type { Clock } from '../../platform/time/clock';
import type { CollectInput } from '../source';
import { newMemory, type Memories, type RepositoryMemory } from './memory';

/** What git reads beside the refs before it answers; a pipe or a device there would hold it up, or never end. */
const READ_BY_GIT = [
  ...['config', 'config.worktree', 'shallow', 'info/grafts', 'objects/info/alternates'],
  ...['HEAD', 'packed-refs'],
];
/** A packed-refs of a million branches is smaller. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;
/** A repository with more loose refs than this is scanned at each capture. */
const MAX_LOOSE = 20_000;
const MAX_DEPTH = 40;
/** File systems date changes by 1 ns (most), 4 ms, 1 s or 2 s (FAT). */
const TICK_MS = 2000;
/** After a timeout a repository is left alone: 2 minutes, then twice as long each time, an hour at most. */
const FIRST_REST_MS = 120_000;
const MAX_REST_MS = 3_600_000;

/** What is wrong with one watched repository. */
export interface Fault {
  path: string;
  text: string;
  /** The rest of the repository could be read. */
  partial?: boolean;
}

export function faultOf(path: string, { message, hint }: StewardError): Fault {
  const what = message.replace(/\.$/, '');
  return { path, text: hint === undefined ? what : `${what}; ${hint}` };
}

/** A repository that has to be scanned. */
export interface Due {
  path: string;
  folder: GitFolder;
  print: Fingerprint;
  memory: RepositoryMemory;
}

/** Which repositories have to be scanned; no process. Longest unscanned first, so that all get their turn. */
export function findDue(
  repos: readonly string[],
  input: CollectInput,
  clock: Clock,
  memories: Memories,
  faults: Fault[],
): { due: Due[]; watched: number } {
  const due: Due[] = [];
  const ids = new Set<string>();
  const paths = new Set(repos);
  let doubles = 0;
  for (const path of paths) {
    try {
      const folder = isAbsolute(path) ? gitFolderAt(path) : undefined;
      if (folder === undefined) {
        faults.push({ path, text: 'no git repository is there (moved away?)' });
      } else if (ids.has(folder.id)) {
        // Worktrees, links and double entries of a repository are that one repository.
        doubles += 1;
      } else {
        ids.add(folder.id);
        const memory = recall(memories, folder, path, input);
        memories.set(folder.commonDir, memory);
        if (isResting(memory, input.nowMs)) {
          faults.push({ path, text: 'git took too long there; it is tried again within the hour' });
          continue;
        }
        const print = fingerprintOf(folder, clock.now());
        if (print.print === '' || print.print !== memory.print) due.push({ path, folder, print, memory });
      }
    } catch (error) {
      faults.push(faultOf(path, toStewardError(error)));
    }
  }
  due.sort((a, b) => a.memory.scannedMs - b.memory.scannedMs);
  return { due, watched: paths.size - doubles };
}

/** What is remembered of a repository, also under the path that it had before it was renamed. */
function recall(memories: Memories, folder: GitFolder, path: string, input: CollectInput): RepositoryMemory {
  const known = memories.get(folder.commonDir);
  if (known !== undefined) return { ...known, path };
  for (const [before, memory] of memories) {
    if (memory.id !== folder.id) continue;
    memories.delete(before);
    return { ...memory, path, print: '' };
  }
  return newMemory(input.dayStartMs, folder.id, path);
}

function isResting({ timeouts, scannedMs }: RepositoryMemory, nowMs: number): boolean {
  if (timeouts === 0) return false;
  const rest = Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** Math.min(timeouts - 1, 10));
  const since = nowMs - scannedMs;
  // A time in the future is a clock that was set back: the rest is over.
  return since >= 0 && since < rest;
}

export interface Fingerprint {
  /** Changes when a branch or a HEAD does. Empty when it cannot be trusted: a file changed only just now. */
  print: string;
  /** Names of linked worktrees. */
  worktrees: string[];
}

/** A fingerprint in the making. */
interface Look {
  folder: GitFolder;
  nowMs: number;
  /** The files that hold the refs, with their stats. */
  marks: string[];
  trusted: boolean;
  loose: number;
}

/**
 * The state of a repository's refs from the stats of the files that hold them; no process, and no content read. A file
 * that changed within the clock's tick of `nowMs` may change again unseen. Throws `unavailable` for an odd file.
 */
function fingerprintOf(folder: GitFolder, nowMs: number): Fingerprint {
  const { gitDir, commonDir } = folder;
  const look: Look = { folder, nowMs, marks: [], trusted: true, loose: 0 };
  for (const base of new Set([gitDir, commonDir]))
    for (const name of ['HEAD', 'logs/HEAD']) add(look, name, base);
  add(look, 'packed-refs');
  // With a reftable, a file stands in this folder's place.
  if (addLoose(look, 'refs/heads', 0) !== 'folder') add(look, 'reftable/tables.list');
  const hasWorktrees = add(look, 'worktrees') !== undefined;
  const worktrees = hasWorktrees ? entriesIn(join(commonDir, 'worktrees')).map(({ name }) => name) : [];
  for (const name of worktrees) {
    add(look, `worktrees/${name}/HEAD`);
    add(look, `worktrees/${name}/reftable/tables.list`);
  }
  return { print: look.trusted ? hash('sha1', look.marks.join('\n'), 'base64url') : '', worktrees };
}

function add(look: Look, name: string, base = look.folder.commonDir): Stamp['kind'] | undefined {
  const path = base + sep + name;
  const stamp = stampOf(path);
  if (stamp === undefined) return undefined;
  const isOdd = stamp.kind === 'link' || stamp.kind === 'other';
  if (isOdd) refuseOddFile(path, { folder: false });
  // What a link leads to may change while the link stays.
  if (isOdd || Math.abs(look.nowMs - stamp.mtimeMs) <= TICK_MS) look.trusted = false;
  look.marks.push(`${path} ${stamp.mark}`);
  return stamp.kind;
}

/** Adds a folder of loose refs with all that is in it. */
function addLoose(look: Look, name: string, depth: number): Stamp['kind'] | undefined {
  const kind = add(look, name);
  for (const entry of kind === undefined ? [] : entriesIn(look.folder.commonDir + sep + name)) {
    look.loose += 1;
    if (look.loose > MAX_LOOSE || depth > MAX_DEPTH) {
      look.trusted = false;
      break;
    }
    const below = name + sep + entry.name;
    if (entry.isFolder) addLoose(look, below, depth + 1);
    else add(look, below);
  }
  return kind;
}

/** Before git is started: everything that it reads at once has to be a regular file of a sane size. */
export function refuseOddFiles({ gitDir, commonDir }: GitFolder): void {
  for (const name of READ_BY_GIT) refuseOddFile(join(commonDir, name));
  for (const name of ['commondir', 'config.worktree']) refuseOddFile(join(gitDir, name));
}

/** `folder: false`: nor may it be a folder (git would follow a link among the refs to wherever it leads). */
function refuseOddFile(path: string, allow: { folder: boolean } = { folder: true }): void {
  const target = targetOf(path);
  if (target === undefined || (target.kind === 'file' && target.bytes <= MAX_FILE_BYTES)) return;
  if (target.kind === 'folder' && allow.folder) return;
  const what = target.kind === 'file' ? "is too large to be git's" : 'is no regular file';
  throw new StewardError('unavailable', `${path} ${what}`, {
    hint: 'Move it away; git makes what it needs.',
  });
}
