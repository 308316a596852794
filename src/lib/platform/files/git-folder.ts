import { basename, dirname, join, resolve } from 'node:path';

import { StewardError, unless } from '../../errors';
import { readText } from './atomic-file';
import { kindOf, targetOf, type Target } from './stat';

/** A git checkout or bare repository, found by reading a few files instead of starting git. */
export interface GitFolder {
  /** The checkout or bare repository; git commands run here. */
  root: string;
  /** The folder with this checkout's HEAD: `.git`, `…/.git/worktrees/x`, `…/.git/modules/x`. */
  gitDir: string;
  /** The folder with refs and objects, shared by all worktrees of a repository. */
  commonDir: string;
  /** The main checkout or bare repository; differs from `root` in a linked worktree. */
  mainRoot: string;
  /**
   * The repository's folder name, the same in all worktrees. A bare repository's name has no `.git` suffix.
   */
  name: string;
  /** `dev:ino` of commonDir. It identifies a repository that is reachable by several paths. */
  id: string;
}

/** Returns the repository at exactly this path, or undefined. */
export function gitFolderAt(path: string): GitFolder | undefined {
  const root = resolve(path);
  const dotGit = join(root, '.git');
  const found = targetOf(dotGit);
  if (found?.kind === 'folder') return folderAt(root, dotGit, found);
  if (found?.kind === 'file') {
    const gitDir = linkIn(dotGit);
    return gitDir === undefined ? undefined : folderAt(root, gitDir);
  }
  // A bare repository or a .git folder. HEAD is checked first: few folders contain a HEAD, and every hook
  // checks all parent folders.
  if (kindOf(join(root, 'HEAD')) === undefined) return undefined;
  const isBare = kindOf(join(root, 'objects')) === 'folder' && kindOf(join(root, 'refs')) !== undefined;
  return isBare || kindOf(join(root, 'commondir')) === 'file' ? folderAt(root, root) : undefined;
}

/** Returns the name and main checkout of the repository that contains a path. */
export function repositoryOf(path: string): { name: string; root: string } | undefined {
  const found = checkoutOf(path);
  return found === undefined ? undefined : { name: found.name, root: found.mainRoot };
}

/**
 * Returns the checkout that contains a path, without starting a process. The path may be missing or invalid.
 */
export function checkoutOf(path: string): GitFolder | undefined {
  if (path.includes('\0')) return undefined;
  for (let at = resolve(path); ; at = dirname(at)) {
    // An unreadable folder can't be this user's repository.
    const found = unless(['EACCES', 'EPERM'], () => gitFolderAt(at));
    if (found !== undefined) return found;
    if (dirname(at) === at) return undefined;
  }
}

/** Returns the branch that HEAD points to, or null if HEAD is detached or unreadable. */
export function branchOf(gitDir: string): string | null {
  const branch = /^ref: refs\/heads\/(.+)$/.exec(readLink(join(gitDir, 'HEAD')) ?? '')?.[1];
  // Repositories with reftables have only a placeholder in HEAD.
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

/** Returns the checkout that owns a common folder. A bare repository owns itself. */
function ownerOf(commonDir: string): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}

function nameOf(folder: string): string {
  const name = basename(folder);
  // For `project/.bare` with worktrees next to it, use the parent folder's name.
  if (name.startsWith('.') && name.length > 1) return basename(dirname(folder)) || name;
  return name.length > 4 && name.endsWith('.git') ? name.slice(0, -4) : name || folder;
}

const MAX_LINK_BYTES = 8192;

/** Returns where a `.git` file points (worktree, submodule, --separate-git-dir). */
function linkIn(dotGit: string): string | undefined {
  const target = /^gitdir: ([^\0]+)$/.exec(readLink(dotGit) ?? '')?.[1];
  return target === undefined ? undefined : resolve(dirname(dotGit), target);
}

function commonDirOf(gitDir: string): string {
  const path = join(gitDir, 'commondir');
  if (kindOf(path) === undefined) return gitDir;
  const text = readLink(path);
  return text === undefined || text === '' || text.includes('\0') ? gitDir : resolve(gitDir, text);
}

/**
 * Returns a file's text without its final line break, or undefined if the file is too large or not a regular
 * file.
 */
function readLink(path: string): string | undefined {
  try {
    return readText(path, { followLink: true, maxBytes: MAX_LINK_BYTES })?.replace(/(?<![\r\n])[\r\n]+$/, '');
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'config') return undefined;
    throw error;
  }
}
