import { toStewardError, type StewardError } from '../../errors';
import type { GitFolder } from '../../platform/files/git-folder';
import { gitIn, type Git } from '../../platform/process/git';
import type { Run } from '../../platform/process/process';
import { clean } from '../../platform/terminal/terminal';
import { systemClock, toIso, type Clock } from '../../platform/time/clock';
import type { SenseEvent } from '../event';
import type { Collected, CollectInput, SenseSource } from '../source';
import { readCursor, writeCursor, type Memories } from './memory';
import { faultOf, findDue, refuseOddFiles, type Due, type Fault } from './refs';
import { scanRepository, shownMs, type Authors, type Scan } from './scan';

export interface GitSourceDeps {
  run: Run;
  machineId: string;
  config: { repos: readonly string[]; git: { authors: Authors } };
  /** The real one by default; its wall clock is compared with the dates of files. */
  clock?: Clock;
  /** Each git process is killed after this long, ms; 10 s. */
  timeoutMs?: number;
  /** A capture starts nothing new after this long, ms; 15 s, less than a source may take: what it found is kept. */
  deadlineMs?: number;
  /** The environment for git; this process's own by default. */
  env?: NodeJS.ProcessEnv;
}

const TIMEOUT_MS = 10_000;
const DEADLINE_MS = 15_000;
const AT_ONCE = 4;
const TURN_LOST = 'the capture had no time left for it; it is first in the next one';
const NAMED_FAULTS = 5;
/** Characters kept of a subject or a branch name. */
const MAX_TEXT = 200;
/** An author date may be ahead of the committer date by a time zone's mistake, not by more. */
const MAX_AHEAD_SEC = 86_400;

/**
 * Commits of the watched repositories: one event for each, `ts` the committer date, `detail` {sha, subject, branch?,
 * authoredAt, identity, path, machine}. A repository that cannot be read is named in `reason` and keeps its place; the
 * state is `error` only when none could be read.
 */
export function gitSource(deps: GitSourceDeps): SenseSource {
  return {
    id: 'git',
    label: 'Git',
    description: 'Commits in the local branches of the repositories you name.',
    collect: (input) => collect(deps, input),
  };
}

/** One capture. */
interface Capture {
  deps: GitSourceDeps;
  input: CollectInput;
  leftMs: () => number;
  memories: Memories;
  faults: Fault[];
  events: SenseEvent[];
  /** Set once git is found to be missing. */
  missing?: StewardError;
}

async function collect(deps: GitSourceDeps, input: CollectInput): Promise<Collected> {
  const { repos } = deps.config;
  const memories = readCursor(input);
  const ended = (state: Collected['state'], reason: string, events: SenseEvent[] = []): Collected => ({
    events,
    cursor: writeCursor(memories, repos, input.nowMs),
    state,
    ...(reason === '' ? {} : { reason }),
  });
  if (repos.length === 0)
    return ended('idle', 'No repository is watched. Add one: steward config add sense.repos PATH');
  const clock = deps.clock ?? systemClock();
  const started = clock.monotonic();
  const leftMs = (): number => (deps.deadlineMs ?? DEADLINE_MS) - (clock.monotonic() - started);
  const capture: Capture = { deps, input, leftMs, memories, faults: [], events: [] };
  const { due, watched } = findDue(repos, input, clock, memories, capture.faults);
  const work = async (): Promise<void> => {
    for (let next = due.shift(); next !== undefined; next = due.shift()) await scanDue(capture, next);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, work));

  const { events, faults, missing } = capture;
  events.sort((a, b) => (a.ts < b.ts ? -1 : Number(a.ts > b.ts)));
  if (missing !== undefined)
    return ended('unsupported', 'git is not installed, or not on the PATH. Install it.', events);
  const failed = faults.filter((fault) => fault.partial !== true).length;
  const reasons = [faultsReason(faults, watched), anyAuthorReason(deps.config, memories)];
  return ended(failed >= watched ? 'error' : 'ok', reasons.filter((text) => text !== '').join(' '), events);
}

async function scanDue(capture: Capture, { path, folder, print, memory }: Due): Promise<void> {
  const { deps, input, memories, faults } = capture;
  if (capture.missing !== undefined) return;
  if (capture.leftMs() <= 0) {
    faults.push({ path, text: TURN_LOST });
    return;
  }
  const { git, timeout } = timedGit(capture, folder);
  try {
    refuseOddFiles(folder);
    const { authors } = deps.config.git;
    const scan = await scanRepository(git, {
      authors,
      nowMs: input.nowMs,
      worktrees: print.worktrees,
      memory,
    });
    // A damaged one is scanned, and its trouble told, at each capture.
    const kept = scan.damaged === undefined ? print.print : '';
    memories.set(folder.commonDir, { ...scan.memory, print: kept, id: folder.id, path });
    for (const found of scan.commits)
      capture.events.push(commitEvent(found, folder, deps.machineId, input.nowMs));
    if (scan.damaged !== undefined) faults.push({ path, text: scan.damaged, partial: true });
  } catch (error) {
    const known = toStewardError(error);
    if (known.kind === 'not_found') {
      capture.missing = known;
    } else if (timeout.of === 'capture') {
      faults.push({ path, text: TURN_LOST });
    } else {
      faults.push(faultOf(path, known));
      const timeouts = timeout.of === 'git' ? memory.timeouts + 1 : 0;
      memories.set(folder.commonDir, { ...memory, timeouts, scannedMs: input.nowMs, path });
    }
  }
}

/** Git in a repository, and whose time was over when it was killed. */
function timedGit(
  { deps, leftMs }: Capture,
  folder: GitFolder,
): { git: Git; timeout: { of?: 'capture' | 'git' } } {
  const limitMs = deps.timeoutMs ?? TIMEOUT_MS;
  const timeout: { of?: 'capture' | 'git' } = {};
  let shorter: 'capture' | 'git' = 'git';
  const git = gitIn(
    {
      run: deps.run,
      timeoutMs: () => {
        const left = leftMs();
        shorter = left < limitMs ? 'capture' : 'git';
        return Math.max(1, Math.min(limitMs, left));
      },
      onTimeout: () => (timeout.of = shorter),
      ...(deps.env === undefined ? {} : { env: deps.env }),
    },
    folder.root,
  );
  return { git, timeout };
}

/** The event of a commit. Nothing of the commit reaches it unchecked. */
export function commitEvent(
  { commit, identity, branch }: Scan['commits'][number],
  folder: GitFolder,
  machine: string,
  nowMs: number,
): SenseEvent {
  const authoredSec = /^\d{1,12}$/.test(commit.authored) ? Number(commit.authored) : commit.committedSec;
  return {
    ts: toIso(shownMs(commit, nowMs)),
    type: 'git-commit',
    source: 'git',
    repo: clean(folder.name),
    detail: {
      sha: commit.sha,
      subject: cut(clean(commit.subject).trim()),
      ...(branch === undefined ? {} : { branch: cut(clean(branch)) }),
      authoredAt: toIso(Math.min(authoredSec, commit.committedSec + MAX_AHEAD_SEC) * 1000),
      identity,
      path: clean(folder.mainRoot),
      machine,
    },
  };
}

/** The first characters of a text; a pair of surrogates is not torn. */
function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, '');
}

/** Without an e-mail "mine" cannot be told, and everybody's commits count. */
function anyAuthorReason({ repos, git }: GitSourceDeps['config'], memories: Memories): string {
  const everybodys = [...memories.values()].filter(({ anyAuthor }) => anyAuthor).map(({ path }) => path);
  const names = git.authors === 'mine' ? repos.filter((path) => everybodys.includes(path)) : [];
  if (names.length === 0) return '';
  const where = names.length === 1 ? (names[0] ?? '') : `${names.length} repositories`;
  return clean(
    `git has no user.email in ${where}: commits of everybody count there. Set user.email in git, or sense.git.authors.`,
  );
}

/** The troubles as one line, the first of them by name. */
function faultsReason(faults: readonly Fault[], watched: number): string {
  if (faults.length === 0) return '';
  const named = faults.slice(0, NAMED_FAULTS).map(({ path, text }) => `${path}: ${text}`);
  const more = faults.length > NAMED_FAULTS ? ` And ${faults.length - NAMED_FAULTS} more.` : '';
  const have = faults.length === 1 ? 'has' : 'have';
  return clean(`${faults.length} of ${watched} repositories ${have} trouble. ${named.join(' | ')}${more}`);
}
