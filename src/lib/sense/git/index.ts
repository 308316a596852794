import { toStewardError, type StewardError } from '../../errors';
import { systemClock, type Clock } from '../../platform/time/clock';
import { gitIn } from '../../platform/process/git-process';
import type { Run } from '../../platform/process/process';
import type { SenseEvent } from '../event';
import type { Collected, CollectInput, SenseSource } from '../source';
import { readCursor, writeCursor } from './cursor';
import { look } from './due';
import { anyAuthorReason, faultOf, reasonOf, type Fault } from './fault';
import { refuseOddFiles } from './fingerprint';
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

/**
 * Commits of the watched repositories: one event for each, `ts` the committer date,
 * `detail` {sha, subject, branch?, authoredAt, identity, path, machine}. A repository whose refs did not change costs
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

async function collect(deps: GitSourceDeps, input: CollectInput): Promise<Collected> {
  const clock = deps.clock ?? systemClock();
  const memories = readCursor(input);
  if (deps.config.repos.length === 0) {
    return {
      events: [],
      cursor: writeCursor(memories, [], input.nowMs),
      state: 'idle',
      reason: 'No repository is watched. Add one: steward config add sense.repos PATH',
    };
  }
  const faults: Fault[] = [];
  const { due, watched } = look(deps.config.repos, input, clock, memories, faults);
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
      for (const found of scan.commits) {
        events.push(eventOf(found, folder, deps.machineId, input.nowMs));
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
