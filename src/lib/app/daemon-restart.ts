import { readInstance, type Instance } from '../daemon/instance';
import { StewardError } from '../errors';
import { wait } from '../platform/time/wait';
import type { SchedulerKind } from '../schedule/job';
import type { Context } from './context';
import { askDaemon, isDaemonThere, stopDaemon } from './daemon-client';

export interface Restarted {
  url: string;
  /** Of the daemon that listens now. */
  pid: number;
  /** The one that was there before; null: none ran. */
  before: number | null;
  /** The scheduler that started it; null where the daemon started anew by itself. */
  startedBy: SchedulerKind | null;
}

/** To close down, to start, and to listen. */
const AGAIN_MS = 60_000;
const LOOK_MS = 100;

/**
 * `steward daemon restart`: has the daemon that runs start anew where it runs, be it a terminal or a scheduler's job,
 * with the program and the configuration as they are now; one that does not run is started as its job does. Resolves when
 * it listens. A configuration that is wrong is an error before anything ends; no daemon and no job is `unavailable`.
 */
export async function restartDaemon(context: Context): Promise<Restarted> {
  await context.loadConfig();
  const last = readInstance(context.area);
  const before = await askToRestart(context);
  const startedBy = before?.isComingBack === true ? null : await startByJob(context, before?.pid);
  const { pid, url } = await nextDaemon(context, last);
  return { url, pid, before: before?.pid ?? null, startedBy };
}

/** Undefined: none runs. One of a version that does not know the request was stopped, and does not come back by itself. */
async function askToRestart(context: Context): Promise<{ pid: number; isComingBack: boolean } | undefined> {
  try {
    const asked = await askDaemon<{ pid: number }>(context, { method: 'POST', path: '/api/restart' });
    return asked && { pid: asked.pid, isComingBack: true };
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'not_found')) throw error;
    const { pid } = await stopDaemon(context);
    return pid === null ? undefined : { pid, isComingBack: false };
  }
}

async function startByJob(context: Context, stopped: number | undefined): Promise<SchedulerKind> {
  const { startDaemonJob } = await import('./schedule');
  const startedBy = await startDaemonJob(context);
  if (startedBy !== undefined) return startedBy;
  throw new StewardError(
    'unavailable',
    stopped === undefined
      ? 'The daemon does not run, and no job starts it.'
      : `The daemon (process ${stopped}) was of a version that cannot start anew; it has stopped.`,
    { hint: 'Start it with "steward up", or have it start by itself with "steward daemon install".' },
  );
}

/** The daemon that has taken the place of the last one, once it answers. */
async function nextDaemon(context: Context, last: Instance | undefined): Promise<Instance> {
  const { clock } = context;
  const deadline = clock.monotonic() + AGAIN_MS;
  while (clock.monotonic() < deadline) {
    const now = readInstance(context.area);
    const isAnother = now !== undefined && (now.pid !== last?.pid || now.startedAt !== last.startedAt);
    if (isAnother && (await isDaemonThere(context))) return now;
    await wait(LOOK_MS);
  }
  throw new StewardError('unavailable', 'The daemon ended, and does not listen again.', {
    hint: 'See why with "steward daemon logs".',
  });
}
