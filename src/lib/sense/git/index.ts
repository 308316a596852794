import { toStewardError, type StewardError } from '../../errors';
import type { GitFolder } from '../../platform/files/git-folder';
import { gitIn } from '../../platform/process/git';
import type { Run } from '../../platform/process/process';
import { clean } from '../../platform/terminal/terminal';
import { systemClock, toIso, type Clock } from '../../platform/time/clock';
import { unrestrictedRepos } from '../../sessions/restricted';
import type { SenseEvent } from '../../time/event';
import type { Collected, CollectInput, SenseSource } from '../source';
import { readCursor, writeCursor, type Memories } from './memory';
import { faultOf, findDue, refuseOddFiles, type DueRepository, type Fault } from './refs';
import type { Authors } from './queries';
import { eventMs, scanRepository, type Scan } from './scan';

export interface GitSourceDeps {
  run: Run;
  machineId: string;
  config: { repos: readonly string[]; git: { authors: Authors } };
  /** Your addresses that git doesn't name (`user.emails`). */
  yours?: readonly string[];
  /** The clock that file timestamps are compared with. Default: the system clock. */
  clock?: Clock;
  /** Timeout for each git process, in ms. Default: 10,000. */
  timeoutMs?: number;
  /**
   * Time in ms after which a capture doesn't start another scan. Default: 15,000, which is less than a
   * source's timeout.
   */
  deadlineMs?: number;
  env?: NodeJS.ProcessEnv;
}

const TIMEOUT_MS = 10_000;
const DEADLINE_MS = 15_000;
const AT_ONCE = 4;
const POSTPONED = 'the capture ran out of time; the next capture starts with this repository';
const NAMED_FAULTS = 5;
/** Maximum stored length of a subject or branch name, in characters. */
const MAX_TEXT = 200;
/** Maximum number of seconds by which the author date may be later than the committer date. */
const MAX_AHEAD_SEC = 86_400;

/** Creates the git source, which reports one event per new commit. `ts` is the committer date. */
export function gitSource(deps: GitSourceDeps): SenseSource {
  return {
    id: 'git',
    label: 'Git',
    description: 'New commits on the local branches of the repositories you watch.',
    collect: (input) => collect(deps, input),
  };
}

interface Capture {
  deps: GitSourceDeps;
  input: CollectInput;
  remainingMs: () => number;
  memories: Memories;
  faults: Fault[];
  events: SenseEvent[];
  /** Set if git isn't installed. */
  missing?: StewardError;
}

async function collect(deps: GitSourceDeps, input: CollectInput): Promise<Collected> {
  const repos = unrestrictedRepos(deps.config.repos);
  const memories = readCursor(input);
  const ended = (state: Collected['state'], reason: string, events: SenseEvent[] = []): Collected => ({
    events,
    cursor: writeCursor(memories, [...repos.keys()], input.nowMs),
    state,
    ...(reason === '' ? {} : { reason }),
  });
  if (deps.config.repos.length === 0)
    return ended('idle', 'No repositories are watched. Add one: steward config add sense.repos PATH');
  if (repos.size === 0) return ended('idle', 'The repositories in sense.repos are restricted.');
  const clock = deps.clock ?? systemClock();
  const started = clock.monotonic();
  const remainingMs = (): number => (deps.deadlineMs ?? DEADLINE_MS) - (clock.monotonic() - started);
  const capture: Capture = { deps, input, remainingMs, memories, faults: [], events: [] };
  const { due, watched } = findDue(repos, input, clock, memories, capture.faults);
  const work = async (): Promise<void> => {
    for (let next = due.shift(); next !== undefined; next = due.shift()) await scanDue(capture, next);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, work));

  const { events, faults, missing } = capture;
  events.sort((a, b) => (a.ts < b.ts ? -1 : Number(a.ts > b.ts)));
  if (missing !== undefined)
    return ended(
      'unsupported',
      'git is not installed, or not on the PATH. Install git, or add its folder to PATH.',
      events,
    );
  const failed = faults.filter((fault) => fault.partial !== true).length;
  const reasons = [faultsReason(faults, watched), anyAuthorReason(deps.config, memories)];
  return ended(failed >= watched ? 'error' : 'ok', reasons.filter((text) => text !== '').join(' '), events);
}

async function scanDue(capture: Capture, { path, folder, fingerprint, memory }: DueRepository) {
  const { deps, input, memories, faults } = capture;
  if (capture.missing !== undefined) return;
  if (capture.remainingMs() <= 0) {
    faults.push({ path, text: POSTPONED });
    return;
  }
  const { git, timeout } = timedGit(capture, folder);
  try {
    refuseOddFiles(folder);
    const scan = await scanRepository(git, {
      authors: deps.config.git.authors,
      ...(deps.yours === undefined ? {} : { yours: deps.yours }),
      nowMs: input.nowMs,
      dayStartMs: input.dayStartMs,
      worktrees: fingerprint.worktrees,
      memory,
    });
    // Scan again in the next capture if the repository is damaged, or if the clock is earlier than the day of
    // the first capture.
    const isFinal = scan.damaged === undefined && memory.dayStartMs <= input.dayStartMs;
    const print = isFinal ? fingerprint.print : '';
    memories.set(folder.commonDir, { ...scan.memory, print, id: folder.id, path });
    for (const found of scan.commits)
      capture.events.push(commitEvent(found, folder, deps.machineId, input.nowMs));
    if (scan.damaged !== undefined) faults.push({ path, text: scan.damaged, partial: true });
  } catch (error) {
    const failure = toStewardError(error);
    if (failure.kind === 'not_found') {
      capture.missing = failure;
    } else if (timeout.of === 'capture') {
      faults.push({ path, text: POSTPONED });
    } else {
      faults.push(faultOf(path, failure));
      const timeouts = timeout.of === 'git' ? memory.timeouts + 1 : 0;
      memories.set(folder.commonDir, { ...memory, timeouts, scannedMs: input.nowMs, path });
    }
  }
}

function timedGit({ deps, remainingMs }: Capture, folder: GitFolder) {
  const limitMs = deps.timeoutMs ?? TIMEOUT_MS;
  const timeout: { of?: 'capture' | 'git' } = {};
  let shorter: 'capture' | 'git' = 'git';
  const git = gitIn(
    {
      run: deps.run,
      timeoutMs: () => {
        const captureMs = remainingMs();
        shorter = captureMs < limitMs ? 'capture' : 'git';
        return Math.max(1, Math.min(limitMs, captureMs));
      },
      onTimeout: () => (timeout.of = shorter),
      ...(deps.env === undefined ? {} : { env: deps.env }),
    },
    folder.root,
  );
  return { git, timeout };
}

export function commitEvent(
  { commit, identity, patch, branch }: Scan['commits'][number],
  folder: GitFolder,
  machine: string,
  nowMs: number,
): SenseEvent {
  const authoredSec = /^\d{1,12}$/.test(commit.authored) ? Number(commit.authored) : commit.committedSec;
  return {
    ts: toIso(eventMs(commit, nowMs)),
    type: 'git-commit',
    source: 'git',
    repo: clean(folder.name),
    detail: {
      sha: commit.sha,
      subject: truncate(clean(commit.subject).trim()),
      ...(branch === undefined ? {} : { branch: truncate(clean(branch)) }),
      authoredAt: toIso(Math.min(authoredSec, commit.committedSec + MAX_AHEAD_SEC) * 1000),
      identity,
      ...(patch === undefined ? {} : { patch }),
      path: clean(folder.mainRoot),
      machine,
    },
  };
}

/** Truncates text without splitting a surrogate pair. */
function truncate(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, '');
}

function anyAuthorReason({ repos, git }: GitSourceDeps['config'], memories: Memories): string {
  const anyAuthor = [...memories.values()].filter(({ anyAuthor }) => anyAuthor).map(({ path }) => path);
  const names = git.authors === 'mine' ? repos.filter((path) => anyAuthor.includes(path)) : [];
  if (names.length === 0) return '';
  const where = names.length === 1 ? (names[0] ?? '') : `${names.length} repositories`;
  return clean(
    `git has no user.email in ${where}, so everyone's commits count. Set user.email in git, or configure sense.git.authors.`,
  );
}

function faultsReason(faults: readonly Fault[], watched: number): string {
  if (faults.length === 0) return '';
  const named = faults.slice(0, NAMED_FAULTS).map(({ path, text }) => `${path}: ${text}`);
  const more = faults.length > NAMED_FAULTS ? ` And ${faults.length - NAMED_FAULTS} more.` : '';
  return clean(`${faults.length} of ${watched} repositories failed. ${named.join(' | ')}${more}`);
}
