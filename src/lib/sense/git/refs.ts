import { isAbsolute, join, sep } from 'node:path';

import { StewardError, toStewardError } from '../../errors';
import { gitFolderAt, type GitFolder } from '../../platform/files/git-folder';
import { entriesIn, stampOf, targetOf, type Stamp } from '../../platform/files/stat';
import type { Clock } from '../../platform/time/clock';
import type { CollectInput } from '../source';
import { movedMemory, newMemory, type Memories, type RepositoryMemory } from './memory';

/** Files that git reads at startup. git hangs if one of them is a pipe or device. */
const READ_BY_GIT = [
  ...['config', 'config.worktree', 'shallow', 'info/grafts', 'objects/info/alternates'],
  ...['HEAD', 'packed-refs'],
];
/** Size limit for files that git reads at startup. Even a packed-refs file with a million branches fits. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;
/** Maximum number of loose refs in a fingerprint. Repositories with more are scanned in every capture. */
const MAX_LOOSE = 1000;
/** The coarsest resolution of file timestamps (on FAT), in ms. */
const TICK_MS = 2000;
/** The pause after a timeout. Each further timeout doubles the pause, up to the maximum. */
const FIRST_PAUSE_MS = 120_000;
const MAX_PAUSE_MS = 3_600_000;

/** A problem with a watched repository. */
export interface Fault {
  path: string;
  text: string;
  /** Set if only a part of the repository could not be read. */
  partial?: boolean;
}

export function faultOf(path: string, { message, hint }: StewardError): Fault {
  const problem = message.replace(/\.$/, '');
  return { path, text: hint === undefined ? problem : `${problem}; ${hint}` };
}

export interface DueRepository {
  path: string;
  folder: GitFolder;
  fingerprint: Fingerprint;
  memory: RepositoryMemory;
}

/** Returns the repositories to scan, least recently scanned first. Doesn't run git. */
export function findDue(
  repos: ReadonlyMap<string, GitFolder | undefined>,
  input: CollectInput,
  clock: Clock,
  memories: Memories,
  faults: Fault[],
): { due: DueRepository[]; watched: number } {
  const due: DueRepository[] = [];
  const ids = new Set<string>();
  let duplicates = 0;
  for (const [path, found] of repos) {
    try {
      const folder = isAbsolute(path) ? (found ?? gitFolderAt(path)) : undefined;
      if (folder === undefined) {
        faults.push({ path, text: 'not a git repository; was it moved?' });
      } else if (ids.has(folder.id)) {
        // The path is another worktree of, or a link to, a repository that is already listed.
        duplicates += 1;
      } else {
        ids.add(folder.id);
        const memory = recall(memories, folder, path, input);
        memories.set(folder.commonDir, memory);
        if (isPaused(memory, input.nowMs)) {
          faults.push({ path, text: 'git timed out; retrying within the hour' });
          continue;
        }
        if (!isUnchanged(folder, memory.print))
          due.push({ path, folder, fingerprint: fingerprintOf(folder, clock.now()), memory });
      }
    } catch (error) {
      faults.push(faultOf(path, toStewardError(error)));
    }
  }
  due.sort((a, b) => a.memory.scannedMs - b.memory.scannedMs);
  return { due, watched: repos.size - duplicates };
}

/** Returns a repository's cached state, even after the repository was renamed. */
function recall(memories: Memories, folder: GitFolder, path: string, input: CollectInput): RepositoryMemory {
  const known = memories.get(folder.commonDir);
  if (known !== undefined) return { ...known, path };
  for (const [before, memory] of memories) {
    if (memory.id !== folder.id) continue;
    memories.delete(before);
    return movedMemory(memory, before, path);
  }
  return newMemory(input.dayStartMs, folder.id, path);
}

function isPaused({ timeouts, scannedMs }: RepositoryMemory, nowMs: number): boolean {
  if (timeouts === 0) return false;
  const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(timeouts - 1, 10));
  return nowMs - scannedMs < pauseMs;
}

export interface Fingerprint {
  /**
   * HEAD, then the other files that contain refs and the folders of loose refs, each on a line with its mark. Empty
   * if one changed so recently that its timestamp can't be trusted.
   */
  print: string;
  worktrees: string[];
}

interface Marks {
  commonDir: string;
  nowMs: number;
  lines: string[];
  isTrusted: boolean;
}

/** Returns whether each file is as in the fingerprint. A new file changes the mark of its folder. */
function isUnchanged({ commonDir, head }: GitFolder, print: string): boolean {
  const [first, ...lines] = print.split('\n');
  const isSame = (line: string): boolean => {
    const name = line.slice(0, line.lastIndexOf(' '));
    return line === `${name} ${stampOf(commonDir + sep + name)?.mark ?? '-'}`;
  };
  return first === `HEAD ${head}` && lines.every(isSame);
}

/** Computes a fingerprint of the files that contain refs. Throws `unavailable` for pipes and devices. */
function fingerprintOf({ gitDir, commonDir }: GitFolder, nowMs: number): Fingerprint {
  const marks: Marks = { commonDir, nowMs, lines: [], isTrusted: true };
  for (const base of new Set([gitDir, commonDir])) addFile(marks, 'HEAD', base);
  addFile(marks, 'packed-refs');
  // In the reftable format, refs/heads is a file.
  if (addLoose(marks, 'refs/heads') !== 'folder') addFile(marks, 'reftable/tables.list');
  addFile(marks, 'worktrees');
  const worktrees = entriesIn(join(commonDir, 'worktrees')).map(({ name }) => name);
  for (const name of worktrees) {
    addFile(marks, `worktrees/${name}/HEAD`);
    addFile(marks, `worktrees/${name}/reftable/tables.list`);
  }
  return { print: marks.isTrusted ? marks.lines.join('\n') : '', worktrees };
}

function addFile(marks: Marks, name: string, base = marks.commonDir): Stamp['kind'] | undefined {
  const path = base + sep + name;
  const stamp = stampOf(path);
  marks.lines.push(`${name} ${stamp?.mark ?? '-'}`);
  if (stamp === undefined) return undefined;
  const isOdd = stamp.kind === 'link' || stamp.kind === 'other';
  if (isOdd) refuseOddFile(path, { folder: false });
  // A link's own timestamp doesn't change when its target changes.
  if (isOdd || Math.abs(marks.nowMs - stamp.mtimeMs) <= TICK_MS) marks.isTrusted = false;
  return stamp.kind;
}

function addLoose(marks: Marks, name: string): Stamp['kind'] | undefined {
  const kind = addFile(marks, name);
  for (const entry of entriesIn(marks.commonDir + sep + name)) {
    if (marks.lines.length > MAX_LOOSE) {
      marks.isTrusted = false;
      break;
    }
    const below = name + sep + entry.name;
    if (entry.isFolder) addLoose(marks, below);
    else addFile(marks, below);
  }
  return kind;
}

/** Throws `unavailable` if a file that git reads at startup isn't a regular file or is too large. */
export function refuseOddFiles({ gitDir, commonDir }: GitFolder): void {
  for (const name of READ_BY_GIT) refuseOddFile(join(commonDir, name));
  for (const name of ['commondir', 'config.worktree']) refuseOddFile(join(gitDir, name));
}

/** With `folder: false`, also rejects a link to a folder, because git would follow the link. */
function refuseOddFile(path: string, allow: { folder: boolean } = { folder: true }): void {
  const target = targetOf(path);
  if (target === undefined || (target.kind === 'file' && target.bytes <= MAX_FILE_BYTES)) return;
  if (target.kind === 'folder' && allow.folder) return;
  const problem = target.kind === 'file' ? 'is too large for git' : 'is not a regular file';
  throw new StewardError('unavailable', `${path} ${problem}.`, {
    hint: 'Move or rename the file. git recreates it if needed.',
  });
}
