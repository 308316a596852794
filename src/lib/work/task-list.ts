import { join } from 'node:path';

import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, removeFolder } from '../platform/files/folder';
import { remoteGit, type GitAnswer, type Remote } from '../platform/process/git';
import { clean } from '../platform/terminal/terminal';
import { parseIso } from '../platform/time/clock';
import { byUrgency, itemsOf, type Item } from './board';
import { alone, type WorkDeps } from './deps';
import { parseTitle } from './issue';
import { escaped } from './markdown';
import { nothingCached, refresh } from './poll';
import { openForWriting, repoOf } from './privacy';

/** The sections of the file, in its order. */
export const SECTIONS = [
  'Active',
  'Queued',
  'Triaged',
  'Projects',
  'Reminders',
  'Blocked',
  'Recently Completed',
] as const;
export type Section = (typeof SECTIONS)[number];

const DAY_MS = 86_400_000;
const RECENT_DAYS = 14;
const MAX_RECENT = 30;

/**
 * TASKLIST.md of a repository: each open issue once, by the first match. Pure: the same issues on the same day give
 * the same bytes, whatever their order.
 *
 * @param nowMs decides what was completed in the last 14 days
 */
export function taskList(items: readonly Item[], { repo, nowMs }: { repo: string; nowMs: number }): string {
  const lines = [
    '# Tasks',
    '',
    `Made by steward from the issues of ${clean(repo)}. Change the issues, not this file.`,
  ];
  for (const section of SECTIONS) {
    const own = sorted(
      section,
      items.filter((item) => sectionOf(item, nowMs) === section),
    );
    lines.push('', `## ${section}`, '', ...(own.length === 0 ? ['None.'] : own.map(taskLine)));
  }
  return `${lines.join('\n')}\n`;
}

/** Where an issue stands; undefined of one that was completed long ago. */
export function sectionOf(item: Item, nowMs: number): Section | undefined {
  if (item.state === 'closed') {
    const at = parseIso(item.closedAt ?? '');
    return at !== undefined && nowMs - at <= RECENT_DAYS * DAY_MS ? 'Recently Completed' : undefined;
  }
  const { status, type } = item;
  if (status === 'done') return 'Recently Completed';
  if (status === 'blocked' || status === 'needs-human') return 'Blocked';
  if (status === 'in-progress' || status === 'in-review') return 'Active';
  if (type === 'reminder') return 'Reminders';
  if (type === 'project') return 'Projects';
  return status === 'ready' ? 'Triaged' : 'Queued';
}

function sorted(section: Section, items: Item[]): Item[] {
  if (section !== 'Recently Completed') return items.sort(byUrgency);
  // What is open waits for its evidence: it is never cut off by the limit.
  const open = items.filter(({ state }) => state === 'open').sort((a, b) => a.number - b.number);
  const closed = items.filter(({ state }) => state === 'closed').sort(byClosing);
  return [...open, ...closed.slice(0, Math.max(0, MAX_RECENT - open.length))];
}

function byClosing(a: Item, b: Item): number {
  const [x, y] = [a.closedAt ?? '', b.closedAt ?? ''];
  return x === y ? b.number - a.number : x < y ? 1 : -1;
}

function taskLine({ number, url, title, state, priority, property, agents, stale }: Item): string {
  const link = /^https?:\/\/[^\s()<>]+$/.test(url) ? `[#${number}](${url})` : `#${number}`;
  const facts = [priority, property, ...agents.map((name) => `@ ${name}`), stale ? 'stale' : null];
  const tail = facts.flatMap((fact) => (fact === null ? [] : [` · ${escaped(fact)}`])).join('');
  return `- [${state === 'closed' ? 'x' : ' '}] ${link} ${escaped(parseTitle(title).text)}${tail}`;
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

/**
 * Makes TASKLIST.md of all issues. With `push` it is committed to the repository: nothing where nothing changed. A
 * push that fails leaves the local file up to date and says why; the next run begins at what the repository has then,
 * so a diverged, dirty, damaged or deleted clone mends itself.
 */
export function regenerateTaskList(deps: WorkDeps, options: { push: boolean }): Promise<Regenerated> {
  return alone(deps, 'tasklist', async () => {
    const repo = options.push ? (await openForWriting(deps)).repo : repoOf(deps.workRepo());
    const fetched = await refresh(deps);
    if (fetched.lastFetch === null) throw nothingCached(fetched.reason ?? null);
    const items = itemsOf(deps, deps.workRepo());
    const nowMs = deps.clock.now();
    const text = taskList(items, { repo, nowMs });
    ensureFolder(deps.paths.tasklist);
    const path = join(deps.paths.tasklist, NAME);
    const before = readText(path);
    const { committed, trouble } = options.push
      ? await commitAndPush(deps, repo, path, text)
      : { committed: false, trouble: undefined };
    if (readText(path) !== text) replaceFile(path, text);
    const places = items.map((item) => sectionOf(item, nowMs));
    return {
      result: {
        path,
        changed: before !== text,
        committed,
        pushed: committed && trouble === undefined,
        reason: trouble?.message ?? (fetched.ok ? null : (fetched.reason ?? null)),
        sections: Object.fromEntries(
          SECTIONS.map((section) => [section, places.filter((place) => place === section).length]),
        ) as Record<Section, number>,
      },
      trouble,
    };
  });
}

interface Pushed {
  committed: boolean;
  trouble: StewardError | undefined;
}

async function commitAndPush(deps: WorkDeps, repo: string, path: string, text: string): Promise<Pushed> {
  try {
    const remote = await deps.remote(repo);
    const git = remoteGit(deps.git, deps.paths.tasklist, remote);
    const branch = await atRemote(deps.paths.tasklist, git, remote);
    replaceFile(path, text);
    await good(git('add', '--force', '--', NAME));
    const isSame = (await git('diff', '--cached', '--quiet')).code === 0;
    if (isSame) return { committed: false, trouble: undefined };
    await good(git('commit', '--quiet', '--no-verify', '-m', 'Update the task list'));
    const push = await git('push', '--quiet', remote.url, `HEAD:refs/heads/${branch}`);
    const trouble = push.code === 0 ? undefined : troubleOf(push, `The push failed: ${push.complaint}`);
    return { committed: true, trouble };
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    return { committed: false, trouble: error };
  }
}

type Git = ReturnType<typeof remoteGit>;
const FIRST_BRANCH = 'main';

/** Brings the clone to exactly what the repository has now, and gives its branch. */
async function atRemote(folder: string, git: Git, remote: Remote): Promise<string> {
  if (!exists(join(folder, '.git')) || (await git('rev-parse', '--git-dir')).code !== 0) {
    removeFolder(join(folder, '.git'));
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
  const hint = isRefused
    ? 'The local file is up to date. Run `gh auth login` with access to the repository, then run it again.'
    : 'The local file is up to date; run it again later.';
  return new StewardError(isRefused ? 'auth' : 'unavailable', message, { hint });
}
