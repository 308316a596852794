import { hash } from 'node:crypto';
import { join, sep } from 'node:path';

import { StewardError } from '../../errors';
import type { GitFolder } from '../../platform/files/git-folder';
import {
  entriesIn,
  hasFacts,
  hasFolderFacts,
  stampOf,
  targetOf,
  type Facts,
  type FolderFacts,
  type Stamp,
} from '../../platform/files/stat';

/** What git reads beside the refs before it answers; a pipe or a device there would hold it up, or never end. */
const READ_BY_GIT = ['config', 'config.worktree', 'shallow', 'info/grafts', 'objects/info/alternates'];
const HEAD_LOG = 'logs/HEAD';
/** A packed-refs of a million branches is smaller. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;
/** More loose refs than this are not looked at one by one: such a repository is scanned at each capture. */
const MAX_LOOSE = 20_000;
/** File systems date changes by 1 ns (most), 4 ms, 1 s or 2 s (FAT). */
const TICK_MS = 2000;

/** More names than this are not kept: such a repository is looked at in full at each capture. */
export const MAX_WATCHED = 64;

export interface Fingerprint {
  /** Changes when a branch or a HEAD does. Empty when it cannot be trusted: a file changed only just now. */
  print: string;
  /** Names of linked worktrees. */
  worktrees: string[];
  /** Of a plain repository: what is enough to see that nothing changed. */
  watch?: Watch;
}

/** Of a `.git` folder that is the whole of its repository: no worktrees, no reftable. */
export interface Watch {
  /** As long as the folder is the same, no file came into it and none left. */
  folder: FolderFacts;
  /** The files and folders in it that make the print, by their paths, as they were; but for the log of HEAD. */
  files: WatchedFile[];
}

export type WatchedFile = readonly [name: string, ...facts: Facts];

/**
 * The state of a repository's refs from the stats of the files that hold them, no process and no content
 * read. `nowMs` is the wall clock: a file that changed within the clock's tick of it may change again
 * unseen. Throws `unavailable` for a file that is no regular file (git would hang on it).
 */
export function fingerprintOf(folder: GitFolder, nowMs: number): Fingerprint {
  const { gitDir, commonDir } = folder;
  const around = targetOf(commonDir);
  const names: string[] = [];
  const marks: string[] = [];
  const files: WatchedFile[] = [];
  let trusted = true;
  let loose = 0;
  const isTrusted = ({ mtimeMs }: Pick<Stamp, 'mtimeMs'>): boolean => Math.abs(nowMs - mtimeMs) > TICK_MS;
  const add = (name: string, base = commonDir): Stamp['kind'] | undefined => {
    const path = base + sep + name;
    const stamp = stampOf(path);
    if (stamp === undefined) return undefined;
    if (stamp.kind === 'link' || stamp.kind === 'other') {
      refuseOddFile(path, { folder: false });
      // What a link leads to may change while the link stays.
      trusted = false;
    }
    if (!isTrusted(stamp)) trusted = false;
    names.push(base === commonDir ? name : path);
    marks.push(stamp.mark);
    // Whatever the log of HEAD tells shows in HEAD or among the branches.
    if (name !== HEAD_LOG) files.push([name, ...stamp.facts]);
    return stamp.kind;
  };
  const walk = (name: string, depth: number): Stamp['kind'] | undefined => {
    const kind = add(name);
    for (const entry of kind === undefined ? [] : entriesIn(commonDir + sep + name)) {
      loose += 1;
      if (loose > MAX_LOOSE || depth > 40) {
        trusted = false;
        return kind;
      }
      const below = name + sep + entry.name;
      if (entry.isFolder) walk(below, depth + 1);
      else add(below);
    }
    return kind;
  };
  for (const base of new Set([gitDir, commonDir])) for (const name of ['HEAD', HEAD_LOG]) add(name, base);
  add('packed-refs');
  const heads = walk('refs/heads', 0);
  // With a reftable, a file stands in this folder's place.
  if (heads !== 'folder') add('reftable/tables.list');
  const hasWorktrees = add('worktrees') !== undefined;
  const worktrees = hasWorktrees ? entriesIn(join(commonDir, 'worktrees')).map((entry) => entry.name) : [];
  for (const name of worktrees) {
    add(`worktrees/${name}/HEAD`);
    add(`worktrees/${name}/reftable/tables.list`);
  }
  const isPlain = gitDir === commonDir && heads === 'folder' && !hasWorktrees && names.length <= MAX_WATCHED;
  return {
    print: trusted ? digest(names, marks) : '',
    worktrees,
    ...(trusted && isPlain && around !== undefined && isTrusted(around)
      ? { watch: { folder: around.facts, files } }
      : {}),
  };
}

/**
 * Is a plain repository as it was when its print was taken? Half of the stats of a look at all of it, and no
 * folder is read. False does not say that something changed.
 */
export function isUnchanged(
  commonDir: string,
  { print, watch }: { print: string; watch?: Watch | undefined },
): boolean {
  if (watch === undefined || print === '' || !hasFolderFacts(commonDir, watch.folder)) return false;
  return watch.files.every(([name, ...facts]) => hasFacts(commonDir + sep + name, facts));
}

function digest(names: readonly string[], marks: readonly string[]): string {
  return hash('sha1', `${names.join('\n')}\n\n${marks.join('\n')}`, 'base64url');
}

/** Before git is started: everything that it reads at once has to be a regular file of a sane size. */
export function refuseOddFiles(folder: GitFolder): void {
  for (const name of READ_BY_GIT) refuseOddFile(join(folder.commonDir, name));
  refuseOddFile(join(folder.gitDir, 'commondir'));
  if (folder.gitDir !== folder.commonDir) refuseOddFile(join(folder.gitDir, 'config.worktree'));
  for (const name of ['HEAD', 'packed-refs']) refuseOddFile(join(folder.commonDir, name));
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
