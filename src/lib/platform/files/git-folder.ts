import { basename, dirname, join, resolve } from 'node:path';

import { StewardError, unless } from '../../errors';
import { readText } from './atomic-file';
import { kindOf, targetOf, type Target } from './stat';

/** Where a git repository keeps its things; found by reading a few files, no process. */
export interface GitFolder {
  /** The checkout (or the bare repository) that was asked for; git is started here. */
  root: string;
  /** The folder of this checkout's HEAD: `.git`, `…/.git/worktrees/x`, `…/.git/modules/x`. */
  gitDir: string;
  /** The folder of the refs and objects, one for all worktrees of a repository. */
  commonDir: string;
  /** The main checkout (or the bare repository): `root`, unless that is a linked worktree. */
  mainRoot: string;
  /** The repository's folder name, the same in each of its worktrees; `.git` of a bare one is left out. */
  name: string;
  /** `dev:ino` of commonDir: one repository under two paths is told by it. */
  id: string;
}

/** The repository at exactly this path, or what is there instead: undefined, when it is something else or nothing. */
export function gitFolderAt(path: string): GitFolder | undefined {
  const root = resolve(path);
  const dotGit = join(root, '.git');
  const found = targetOf(dotGit);
  if (found?.kind === 'folder') return folderAt(root, dotGit, found);
  if (found?.kind === 'file') {
    const gitDir = linkIn(dotGit);
    return gitDir === undefined ? undefined : folderAt(root, gitDir);
  }
  // A bare repository, or a .git folder itself; the names alone are no rare ones. This one is: every hook walks up.
  if (kindOf(join(root, 'HEAD')) === undefined) return undefined;
  const isBare = kindOf(join(root, 'objects')) === 'folder' && kindOf(join(root, 'refs')) !== undefined;
  return isBare || kindOf(join(root, 'commondir')) === 'file' ? folderAt(root, root) : undefined;
}

/** Returns the name and the main checkout of the repository that a path lies in. */
export function repositoryOf(path: string): { name: string; root: string } | undefined {
  const found = checkoutOf(path);
  return found === undefined ? undefined : { name: found.name, root: found.mainRoot };
}

/** Returns the checkout that a path lies in. Walks up and starts no process; the path may be gone or invalid. */
export function checkoutOf(path: string): GitFolder | undefined {
  if (path.includes('\0')) return undefined;
  for (let at = resolve(path); ; at = dirname(at)) {
    // A folder that may not be looked into holds no repository of this user.
    const found = unless(['EACCES', 'EPERM'], () => gitFolderAt(at));
    if (found !== undefined) return found;
    if (dirname(at) === at) return undefined;
  }
}

/** Returns the branch that HEAD names; null when it is detached or unreadable. */
export function branchOf(gitDir: string): string | null {
  const branch = /^ref: refs\/heads\/(.+)$/.exec(readLink(join(gitDir, 'HEAD')) ?? '')?.[1];
  // Repositories with reftables keep a HEAD that only says so.
  return branch === undefined || branch === '.invalid' ? null : branch;
}

function folderAt(root: string, gitDir: string, found?: Target): GitFolder | undefined {
  if (kindOf(join(gitDir, 'HEAD')) === undefined) return undefined;
  const commonDir = commonDirOf(gitDir);
  const id = (commonDir === gitDir && found !== undefined ? found : targetOf(commonDir))?.id;
  if (id === undefined) return undefined;
  const linked = commonDir !== gitDir;
  const holder = linked || root === gitDir ? ownerOf(commonDir) : root;
  return { root, gitDir, commonDir, mainRoot: holder, name: nameOf(holder), id };
}

/** The checkout that a common folder belongs to; a bare repository is its own. */
function ownerOf(commonDir: string): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}

function nameOf(folder: string): string {
  const name = basename(folder);
  // `project/.bare` with worktrees beside it: the project is the folder around it.
  if (name.startsWith('.') && name.length > 1) return basename(dirname(folder)) || name;
  return name.length > 4 && name.endsWith('.git') ? name.slice(0, -4) : name || folder;
}

const MAX_LINK_BYTES = 8192;

/** Where a `.git` file (worktree, submodule, --separate-git-dir) points. */
function linkIn(dotGit: string): string | undefined {
  const target = /^gitdir: ([^\0]+)$/.exec(readLink(dotGit) ?? '')?.[1];
  return target === undefined ? undefined : resolve(dirname(dotGit), target);
}

/** A linked worktree names the folder that it shares with the main checkout. */
function commonDirOf(gitDir: string): string {
  const path = join(gitDir, 'commondir');
  if (kindOf(path) === undefined) return gitDir;
  const text = readLink(path);
  return text === undefined || text === '' || text.includes('\0') ? gitDir : resolve(gitDir, text);
}

/** Returns the file's text without its line end; undefined if it is not a regular file or too large to be a link of git's. */
function readLink(path: string): string | undefined {
  try {
    return readText(path, { followLink: true, maxBytes: MAX_LINK_BYTES })?.replace(/(?<![\r\n])[\r\n]+$/, '');
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'config') return undefined;
    throw error;
  }
}
