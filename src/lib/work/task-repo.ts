import { join } from 'node:path';

import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, removeFolder } from '../platform/files/folder';
import { remoteGit, type GitAnswer, type Remote, type RemoteGitDeps } from '../platform/process/git-remote';
import { withLock } from '../platform/files/lock';
import { itemsOf } from './board';
import { nothingCached, refresh, type PollDeps } from './poll';
import { openForWriting, repoOf } from './privacy';
import { sectionOf, SECTIONS, taskList, type Section } from './task-list';

export interface TaskListDeps extends PollDeps {
  git: RemoteGitDeps;
  /** Where the repository is cloned from, and with which credential. */
  remote: (repo: string) => Promise<Remote>;
  /** `work/tasklist` */
  folder: string;
  locks: string;
  machineId: string;
}

/** What `work tasks regenerate` did. */
export interface TaskListResult {
  path: string;
  /** The file is other than it was. */
  changed: boolean;
  committed: boolean;
  pushed: boolean;
  /** Why it is not pushed, or of old state; null when all went well. */
  reason: string | null;
  sections: Record<Section, number>;
}

export interface Regenerated {
  result: TaskListResult;
  /** What kept the file from being pushed. */
  trouble: StewardError | undefined;
}

const NAME = 'TASKLIST.md';
const LOCK_WAIT_MS = 60_000;

/**
 * Makes TASKLIST.md of all issues (service.md: Task list file). With `push` it is committed to the repository:
 * nothing where nothing changed. A push that fails leaves the local file up to date and says why; the next run
 * begins at what the repository has then, so a diverged, dirty, damaged or deleted clone mends itself.
 */
export function regenerateTaskList(deps: TaskListDeps, options: { push: boolean }): Promise<Regenerated> {
  const { clock, machineId } = deps;
  const lock = join(deps.locks, 'work-tasklist.lock');
  return withLock(lock, { clock, machineId, waitMs: LOCK_WAIT_MS }, async () => {
    const repo = options.push ? await openForWriting(deps) : repoOf(deps.workRepo());
    const fetched = await refresh(deps);
    if (fetched.lastFetch === null) throw nothingCached(fetched.reason ?? null);
    const items = itemsOf(deps, deps.workRepo());
    const nowMs = deps.clock.now();
    const text = taskList(items, { repo, nowMs });
    ensureFolder(deps.folder);
    const path = join(deps.folder, NAME);
    const before = readText(path);
    const pushed = options.push ? await commitAndPush(deps, repo, path, text) : undefined;
    if (readText(path) !== text) replaceFile(path, text);
    const sections = Object.fromEntries(SECTIONS.map((section) => [section, 0])) as Record<Section, number>;
    for (const item of items) {
      const section = sectionOf(item, nowMs);
      if (section !== undefined) sections[section] += 1;
    }
    const trouble = pushed?.trouble;
    return {
      result: {
        path,
        changed: before !== text,
        committed: pushed?.committed ?? false,
        pushed: pushed !== undefined && pushed.committed && trouble === undefined,
        reason: trouble?.message ?? (fetched.ok ? null : (fetched.reason ?? null)),
        sections,
      },
      trouble,
    };
  });
}

interface Pushed {
  committed: boolean;
  trouble?: StewardError;
}

async function commitAndPush(deps: TaskListDeps, repo: string, path: string, text: string): Promise<Pushed> {
  try {
    const remote = await deps.remote(repo);
    const git = remoteGit(deps.git, deps.folder, remote);
    const branch = await atRemote(deps, git, remote);
    replaceFile(path, text);
    await good(git('add', '--force', '--', NAME));
    if ((await git('diff', '--cached', '--quiet')).code === 0) {
      return { committed: false };
    }
    await good(git('commit', '--quiet', '--no-verify', '-m', 'Update the task list'));
    const push = await git('push', '--quiet', remote.url, `HEAD:refs/heads/${branch}`);
    if (push.code === 0) return { committed: true };
    return { committed: true, trouble: troubleOf(push, `The push failed: ${push.complaint}`) };
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    return { committed: false, trouble: error };
  }
}

type Git = ReturnType<typeof remoteGit>;

/** Brings the clone to exactly what the repository has now, and gives its branch. */
async function atRemote(deps: TaskListDeps, git: Git, remote: Remote): Promise<string> {
  if (!exists(join(deps.folder, '.git')) || (await git('rev-parse', '--git-dir')).code !== 0) {
    removeFolder(join(deps.folder, '.git'));
    await good(git('init', '--quiet'));
  }
  const branch = await remoteBranch(git, remote);
  if (branch === undefined) {
    // A repository without a commit: the first one will be ours.
    await good(git('symbolic-ref', 'HEAD', `refs/heads/${FIRST_BRANCH}`));
    await git('update-ref', '-d', `refs/heads/${FIRST_BRANCH}`);
    await good(git('read-tree', '--empty'));
    return FIRST_BRANCH;
  }
  await good(git('fetch', '--quiet', '--depth', '1', '--no-tags', remote.url, `refs/heads/${branch}`));
  await good(git('checkout', '--quiet', '--force', '-B', branch, 'FETCH_HEAD'));
  await good(git('clean', '-ffdxq'));
  return branch;
}

const FIRST_BRANCH = 'main';

/** The branch that the repository shows first; one that it has where that is not there yet; undefined without any. */
async function remoteBranch(git: Git, remote: Remote): Promise<string | undefined> {
  const { stdout } = await good(git('ls-remote', '--symref', remote.url, 'HEAD', 'refs/heads/*'));
  const head = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(stdout)?.[1];
  const branches = [...stdout.matchAll(/^[0-9a-f]+\trefs\/heads\/(\S+)$/gm)].map(([, name]) => name);
  return [head, FIRST_BRANCH, ...branches].find((name) => name !== undefined && branches.includes(name));
}

async function good(answer: Promise<GitAnswer>): Promise<GitAnswer> {
  const given = await answer;
  if (given.code === 0) return given;
  throw troubleOf(given, `git could not reach or read the repository: ${given.complaint}`);
}

function troubleOf({ isRefused }: GitAnswer, message: string): StewardError {
  return isRefused
    ? new StewardError('auth', message, {
        hint: 'The local file is up to date. Run `gh auth login` with access to the repository, then run it again.',
      })
    : new StewardError('unavailable', message, { hint: 'The local file is up to date; run it again later.' });
}
