import { readInstance, type Instance } from '../daemon/instance';
import { StewardError } from '../errors';
import { wait } from '../platform/time/wait';
import type { SchedulerKind } from '../schedule/job';
import type { Context } from './context';
import { askDaemon, isDaemonThere, stopDaemon } from './daemon-client';

export interface Restarted {
  url: string;
  /** Process of the new daemon. */
  pid: number;
  /** Process of the previous daemon; null if none was running. */
  before: number | null;
  /** The scheduler that started it; null if the daemon restarted itself. */
  startedBy: SchedulerKind | null;
}

const RESTART_MS = 60_000;
const POLL_MS = 100;

/**
 * Restarts the daemon where it runs (a terminal or a job), or starts it by its job; resolves when it listens. The
 * configuration is checked first; without a daemon and a job it is `unavailable`.
 */
export async function restartDaemon(context: Context): Promise<Restarted> {
  await context.loadConfig();
  const last = readInstance(context.area);
  const before = await askToRestart(context);
  const startedBy = before?.isComingBack === true ? null : await startByJob(context, before?.pid);
  const { pid, url } = await nextDaemon(context, last);
  return { url, pid, before: before?.pid ?? null, startedBy };
}

/** Undefined: no daemon. A version without this request is stopped instead, and does not come back by itself. */
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
      ? 'The daemon is not running, and no job starts it.'
      : `Stopped the daemon (process ${stopped}): its version cannot restart itself.`,
    { hint: 'Start it with "steward up", or at every login with "steward daemon install".' },
  );
}

/** Waits until another daemon than the last one answers. */
async function nextDaemon(context: Context, last: Instance | undefined): Promise<Instance> {
  const { clock } = context;
  const deadline = clock.monotonic() + RESTART_MS;
  while (clock.monotonic() < deadline) {
    const now = readInstance(context.area);
    const isAnother = now !== undefined && (now.pid !== last?.pid || now.startedAt !== last.startedAt);
    if (isAnother && (await isDaemonThere(context))) return now;
    await wait(POLL_MS);
  }
  throw new StewardError('unavailable', 'The daemon stopped, but did not start again within 60 s.', {
    hint: 'See "steward daemon logs".',
  });
}
