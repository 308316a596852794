import { isAbsolute, sep } from 'node:path';

import { toStewardError, type StewardError } from '../../errors';
import { systemClock, type Clock } from '../../platform/clock';
import { gitFolderAt, type GitFolder } from '../../platform/git-folder';
import { gitIn } from '../../platform/git-process';
import type { Run } from '../../platform/process';
import { clean } from '../../platform/terminal';
import type { SenseEvent } from '../event';
import type { Collected, CollectInput, SenseSource } from '../source';
import { newMemory, readCursor, writeCursor, type Memories, type RepositoryMemory } from './cursor';
import { fingerprintOf, isUnchanged, refuseOddFiles, type Fingerprint } from './fingerprint';
import { eventOf } from './commit-event';
import { scanRepository, type Authors } from './scan';

export interface GitSourceDeps {
  run: Run;
  machineId: string;
  config: { repos: readonly string[]; git: { authors: Authors } };
  /** The real one by default; its wall clock is compared with the dates of files. */
  clock?: Clock;
  /** Each git process is killed after this long, ms; 10 s. */
  timeoutMs?: number;
  /** A capture starts nothing new after this long, ms; 30 s. */
  deadlineMs?: number;
  /** The environment for git; this process's own by default. */
  env?: NodeJS.ProcessEnv;
}

const AT_ONCE = 4;
const TURN_LOST = 'the capture had no time left for it; it is first in the next one';
/** After a time-out a repository is left alone: 2 minutes, then twice as long each time, an hour at most. */
const FIRST_REST_MS = 120_000;
const MAX_REST_MS = 3_600_000;

/**
 * Commits of the watched repositories (decisions.md 3 and 9): one event for each, `ts` the committer date,
 * `detail` {sha, subject, branch?, authoredAt, path, machine}. A repository whose refs did not change costs
 * some stats and no process. One that cannot be read keeps its place in the cursor and stops no other: it is
 * named in `reason`, and the state is `error` only when none could be read.
 */
export function gitSource(deps: GitSourceDeps): SenseSource {
  return {
    id: 'git',
    label: 'Git',
    description: 'Commits in the local branches of the repositories you name.',
    collect: (input) => collect(deps, input),
  };
}

interface Fault {
  path: string;
  text: string;
  /** The rest of the repository could be read. */
  partial?: boolean;
}

interface Due {
  path: string;
  folder: GitFolder;
  print: Fingerprint;
  memory: RepositoryMemory;
}

async function collect(deps: GitSourceDeps, input: CollectInput): Promise<Collected> {
  const clock = deps.clock ?? systemClock();
  const memories = readCursor(input.cursor);
  if (deps.config.repos.length === 0) {
    return {
      events: [],
      cursor: writeCursor(memories, [], input.nowMs),
      state: 'idle',
      reason: "No repository is named. Name some: steward config set sense.repos '~/src/a,~/src/b'",
    };
  }
  const faults: Fault[] = [];
  const { due, watched } = look(deps, input, clock, memories, faults);
  const events: SenseEvent[] = [];
  const started = clock.monotonic();
  const leftMs = (): number => (deps.deadlineMs ?? 30_000) - (clock.monotonic() - started);
  let missing: StewardError | undefined;

  await forEachOf(due, AT_ONCE, async ({ path, folder, print, memory }) => {
    if (missing !== undefined) return;
    if (leftMs() <= 0) {
      faults.push({ path, text: TURN_LOST });
      return;
    }
    const limitMs = deps.timeoutMs ?? 10_000;
    let cutShort = false;
    let timedOut = false;
    const git = gitIn(
      {
        run: deps.run,
        timeoutMs: () => {
          const left = leftMs();
          cutShort = left < limitMs;
          return Math.max(1, Math.min(limitMs, left));
        },
        onTimeout: () => (timedOut = true),
        ...(deps.env === undefined ? {} : { env: deps.env }),
      },
      folder.root,
    );
    try {
      refuseOddFiles(folder);
      const scan = await scanRepository(git, {
        authors: deps.config.git.authors,
        nowMs: input.nowMs,
        worktrees: print.worktrees,
        memory,
      });
      // Of a damaged one the trouble is to be told at each capture.
      const kept = scan.damaged === undefined ? print.print : '';
      memories.set(folder.commonDir, {
        ...scan.memory,
        print: kept,
        watch: print.watch,
        id: folder.id,
        path,
      });
      for (const { commit, branch } of scan.commits) {
        events.push(eventOf(commit, branch, folder, deps.machineId, input.nowMs));
      }
      if (scan.damaged !== undefined) faults.push({ path, text: scan.damaged, partial: true });
    } catch (error) {
      const known = toStewardError(error);
      if (known.kind === 'not_found') {
        missing = known;
        return;
      }
      if (timedOut && cutShort) {
        faults.push({ path, text: TURN_LOST });
        return;
      }
      faults.push(faultOf(path, known));
      const timeouts = timedOut ? memory.timeouts + 1 : 0;
      memories.set(folder.commonDir, { ...memory, timeouts, scannedMs: input.nowMs, path });
    }
  });

  events.sort((a, b) => (a.ts < b.ts ? -1 : Number(a.ts > b.ts)));
  const cursor = writeCursor(memories, deps.config.repos, input.nowMs);
  if (missing !== undefined) {
    const reason = 'git is not installed, or not on the PATH. Install it.';
    return { events, cursor, state: 'unsupported', reason };
  }
  const failed = faults.filter((fault) => fault.partial !== true).length;
  const state = failed >= watched ? 'error' : 'ok';
  const reasons = [
    ...(faults.length === 0 ? [] : [reasonOf(faults, watched)]),
    ...anyAuthorReason(deps.config, memories),
  ];
  return { events, cursor, state, ...(reasons.length === 0 ? {} : { reason: reasons.join(' ') }) };
}

/** Which repositories have to be scanned; no process. Longest unscanned first, so that all get their turn. */
function look(
  deps: GitSourceDeps,
  input: CollectInput,
  clock: Clock,
  memories: Memories,
  faults: Fault[],
): { due: Due[]; watched: number } {
  const due: Due[] = [];
  const ids = new Set<string>();
  let doubles = 0;
  const paths = new Set(deps.config.repos);
  const usual = usualFolders(memories);
  for (const path of paths) {
    try {
      const known = usual.get(path);
      if (known !== undefined && !ids.has(known.memory.id) && isUnchanged(known.commonDir, known.memory)) {
        ids.add(known.memory.id);
        continue;
      }
      const folder = isAbsolute(path) ? gitFolderAt(path) : undefined;
      if (folder === undefined) {
        faults.push({ path, text: 'no git repository is there (moved away?)' });
        continue;
      }
      // Worktrees, links and double entries of a repository are that one repository.
      if (ids.has(folder.id)) {
        doubles += 1;
        continue;
      }
      ids.add(folder.id);
      const memory = recall(memories, folder, path, input);
      memories.set(folder.commonDir, memory);
      if (isResting(memory, input.nowMs)) {
        faults.push({ path, text: 'git took too long there; it is tried again within the hour' });
        continue;
      }
      const print = fingerprintOf(folder, clock.now());
      if (print.print !== '' && print.print === memory.print) {
        memories.set(folder.commonDir, { ...memory, watch: print.watch });
        continue;
      }
      due.push({ path, folder, print, memory });
    } catch (error) {
      faults.push(faultOf(path, toStewardError(error)));
    }
  }
  due.sort((a, b) => a.memory.scannedMs - b.memory.scannedMs);
  return { due, watched: paths.size - doubles };
}

/** The repositories that are the `.git` folder of the path under which they were found. */
function usualFolders(memories: Memories): Map<string, { commonDir: string; memory: RepositoryMemory }> {
  const usual = new Map<string, { commonDir: string; memory: RepositoryMemory }>();
  for (const [commonDir, memory] of memories) {
    if (memory.timeouts === 0 && commonDir === `${memory.path}${sep}.git`)
      usual.set(memory.path, { commonDir, memory });
  }
  return usual;
}

/** What is remembered of a repository, also under the path that it had before it was renamed. */
function recall(memories: Memories, folder: GitFolder, path: string, input: CollectInput): RepositoryMemory {
  const known = memories.get(folder.commonDir);
  if (known !== undefined) return { ...known, path };
  for (const [before, memory] of memories) {
    if (memory.id !== folder.id) continue;
    memories.delete(before);
    return { ...memory, path, print: '' };
  }
  return newMemory(input.dayStartMs, folder.id, path);
}

function isResting(memory: RepositoryMemory, nowMs: number): boolean {
  if (memory.timeouts === 0) return false;
  const rest = Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** Math.min(memory.timeouts - 1, 10));
  const since = nowMs - memory.scannedMs;
  // A time in the future is a clock that was set back: the rest is over.
  return since >= 0 && since < rest;
}

function faultOf(path: string, error: StewardError): Fault {
  const what = error.message.replace(/\.$/, '');
  return { path, text: error.hint === undefined ? what : `${what}; ${error.hint}` };
}

/** Said aloud: without an e-mail "mine" cannot be told, and everybody's commits count (decisions.md 3). */
function anyAuthorReason(config: GitSourceDeps['config'], memories: Memories): string[] {
  if (config.git.authors !== 'mine') return [];
  const everybodys = new Set<string>();
  for (const { path, anyAuthor } of memories.values()) if (anyAuthor) everybodys.add(path);
  const names = config.repos.filter((path) => everybodys.has(path));
  if (names.length === 0) return [];
  const where = names.length === 1 ? (names[0] ?? '') : `${names.length} repositories`;
  return [
    clean(
      `git has no user.email in ${where}: commits of everybody count there. Set user.email in git, or sense.git.authors.`,
    ),
  ];
}

const NAMED_FAULTS = 5;

function reasonOf(faults: readonly Fault[], watched: number): string {
  const named = faults.slice(0, NAMED_FAULTS).map(({ path, text }) => `${path}: ${text}`);
  const more = faults.length > NAMED_FAULTS ? ` And ${faults.length - NAMED_FAULTS} more.` : '';
  return clean(
    `${faults.length} of ${watched} repositories ${faults.length === 1 ? 'has' : 'have'} trouble. ${named.join(' | ')}${more}`,
  );
}

/** Runs `work` on each item, `limit` at a time. */
async function forEachOf<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
