import { basename, dirname, join, resolve, sep } from 'node:path';

import { unless } from '../../errors';
import { readText } from './atomic-file';
import { kindOf, markOfTarget, targetOf, type Target } from './stat';

/** Returns the repository at exactly this path, or undefined if there is none. */
export function gitFolderAt(path: string): GitFolder | undefined {
  const root = resolve(path);
  const dotGit = root + sep + '.git';
  const found = targetOf(dotGit);
  if (found?.kind === 'folder') return folderAt(root, dotGit, found);
  if (found?.kind === 'file') {
    const gitDir = linkIn(dotGit);
    return gitDir === undefined ? undefined : folderAt(root, gitDir);
  }
  if (kindOf(join(root, 'HEAD')) === undefined) return undefined;
  const isBare = kindOf(join(root, 'objects')) === 'folder' && kindOf(join(root, 'refs')) !== undefined;
  return isBare || kindOf(join(root, 'commondir')) === 'file' ? folderAt(root, root) : undefined;
}

export function repositoryOf(path: string): { name: string; root: string } | undefined {
  const found = checkoutOf(path);
  return found === undefined ? undefined : { name: found.name, root: found.mainRoot };
}

/** Returns the name of a repository that is given by name or by a path in it. */
export function nameOfRepo(text: string): string {
  return /[/\\]|^\.+$/.test(text) ? (repositoryOf(resolve(text))?.name ?? basename(text)) : text;
}

/** Returns the checkout that contains a path, even if the path doesn't exist. Doesn't start a process. */
export function checkoutOf(path: string): GitFolder | undefined {
  if (path.includes('\0')) return undefined;
  for (let at = resolve(path); ; at = dirname(at)) {
    const found = unless(['EACCES', 'EPERM'], () => gitFolderAt(at));
    if (found !== undefined) return found;
    if (dirname(at) === at) return undefined;
  }
}

/** Returns the branch that HEAD points to, or null if HEAD is detached or unreadable. */
export function branchOf(gitDir: string): string | null {
  const branch = /^ref: refs\/heads\/(.+)$/.exec(readLink(join(gitDir, 'HEAD')) ?? '')?.[1];
  // In the reftable format, HEAD contains only a placeholder.
  return branch === undefined || branch === '.invalid' ? null : branch;
}

function folderAt(root: string, gitDir: string, found?: Target) {
  const head = markOfTarget(gitDir + sep + 'HEAD');
  if (head === undefined) return undefined;
  const commonDir = commonDirOf(gitDir);
  const id = (commonDir === gitDir && found !== undefined ? found : targetOf(commonDir))?.id;
  if (id === undefined) return undefined;
  const mainRoot = commonDir !== gitDir || root === gitDir ? ownerOf(commonDir) : root;
  return {
    /** The checkout or bare repository in which git commands run. */
    root,
    /** The folder that contains this checkout's HEAD, such as `.git`, `…/.git/worktrees/x` or `…/.git/modules/x`. */
    gitDir,
    /** The folder with refs and objects, shared by all worktrees of a repository. */
    commonDir,
    /** The main checkout or bare repository. Differs from `root` in a linked worktree. */
    mainRoot,
    /** The folder name of the main checkout or bare repository, without a `.git` suffix. */
    name: nameOf(mainRoot),
    /** `dev:ino` of `commonDir`. Identifies a repository that has several paths. */
    id,
    /** The mark of HEAD, which changes at a checkout. */
    head,
  };
}

/** A git checkout or bare repository, found without starting git. */
export type GitFolder = NonNullable<ReturnType<typeof folderAt>>;

/** Returns the checkout that owns a common git folder. For a bare repository, returns the folder itself. */
function ownerOf(commonDir: string): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}

function nameOf(folder: string): string {
  const name = basename(folder);
  // A bare repository such as `project/.bare` is named after its parent folder.
  if (name.startsWith('.') && name.length > 1) return basename(dirname(folder)) || name;
  return name.length > 4 && name.endsWith('.git') ? name.slice(0, -4) : name || folder;
}

const MAX_LINK_BYTES = 8192;

/** Returns the git folder that a `.git` file points to, for example in a worktree or submodule. */
function linkIn(dotGit: string): string | undefined {
  const target = /^gitdir: ([^\0]+)$/.exec(readLink(dotGit) ?? '')?.[1];
  return target === undefined ? undefined : resolve(dirname(dotGit), target);
}

function commonDirOf(gitDir: string): string {
  const path = gitDir + sep + 'commondir';
  if (kindOf(path) === undefined) return gitDir;
  const text = readLink(path);
  return text === undefined || text === '' || text.includes('\0') ? gitDir : resolve(gitDir, text);
}

/**
 * Returns a file's text without its final line break, or undefined if the file is too large or not a regular
 * file.
 */
function readLink(path: string): string | undefined {
  const options = { followLink: true, maxBytes: MAX_LINK_BYTES };
  return unless(['config'], () => readText(path, options))?.replace(/(?<![\r\n])[\r\n]+$/, '');
}
