import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { StewardError } from '../../errors';
import type { GitFolder } from '../../platform/git-folder';
import { entriesIn, entriesOf, stampOf, targetOf, type Stamp } from '../../platform/stat';

/** What git reads beside the refs before it answers; a pipe or a device there would hold it up, or never end. */
const READ_BY_GIT = ['config', 'config.worktree', 'shallow', 'info/grafts', 'objects/info/alternates'];
/** A packed-refs of a million branches is smaller. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;
/** More loose refs than this are not looked at one by one: such a repository is scanned at each capture. */
const MAX_LOOSE = 20_000;
/** File systems date changes by 1 ns (most), 4 ms, 1 s or 2 s (FAT). */
const TICK_MS = 2000;

export interface Fingerprint {
  /** Changes when a branch or a HEAD does. Empty when it cannot be trusted: a file changed only just now. */
  print: string;
  /** Names of linked worktrees. */
  worktrees: string[];
}

/**
 * The state of a repository's refs from the stats of the files that hold them, no process and no content
 * read. `nowMs` is the wall clock: a file that changed within the clock's tick of it may change again
 * unseen. Throws `unavailable` for a file that is no regular file (git would hang on it).
 */
export function fingerprintOf(folder: GitFolder, nowMs: number): Fingerprint {
  const { gitDir, commonDir } = folder;
  const marks: string[] = [];
  let trusted = true;
  let loose = 0;
  const add = (path: string): Stamp['kind'] | undefined => {
    const stamp = stampOf(path);
    if (stamp?.kind === 'link' || stamp?.kind === 'other') {
      refuseOddFile(path, { folder: false });
      // What a link leads to may change while the link stays.
      trusted = false;
    }
    if (stamp !== undefined && Math.abs(nowMs - stamp.mtimeMs) <= TICK_MS) trusted = false;
    marks.push(stamp === undefined ? '-' : stamp.mark);
    return stamp?.kind;
  };
  const walk = (path: string, depth: number): Stamp['kind'] | undefined => {
    const kind = add(path);
    for (const entry of kind === undefined ? [] : entriesIn(path)) {
      loose += 1;
      if (loose > MAX_LOOSE || depth > 40) {
        trusted = false;
        return kind;
      }
      const below = join(path, entry.name);
      marks.push(entry.name);
      if (entry.isFolder) walk(below, depth + 1);
      else add(below);
    }
    return kind;
  };
  for (const name of gitDir === commonDir ? ['HEAD', 'logs/HEAD'] : ['HEAD']) add(join(gitDir, name));
  if (gitDir !== commonDir) for (const name of ['HEAD', 'logs/HEAD']) add(join(commonDir, name));
  add(join(commonDir, 'packed-refs'));
  // With a reftable, a file stands in this folder's place.
  if (walk(join(commonDir, 'refs/heads'), 0) !== 'folder') add(join(commonDir, 'reftable/tables.list'));
  const worktrees = entriesOf(join(commonDir, 'worktrees')).map((entry) => entry.name);
  for (const name of worktrees) {
    marks.push(name);
    add(join(commonDir, 'worktrees', name, 'HEAD'));
    add(join(commonDir, 'worktrees', name, 'reftable/tables.list'));
  }
  const print = createHash('sha1').update(marks.join('\n')).digest('base64url');
  return { print: trusted ? print : '', worktrees };
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
