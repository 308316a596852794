import { type Instance, isAnswering, readInstance } from '../daemon/instance';
import type { Healthz } from '../daemon/routes';
import { StewardError } from '../errors';
import { askLocal, type LocalRequest } from '../platform/net/local-http';
import { wait } from '../platform/time/wait';
import type { Context } from './context';
import { askAt } from './daemon-socket';

const PING_MS = 3_000;

/** The daemon of the user area, if one is there and answers. */
export async function findDaemon(
  context: Pick<Context, 'area'>,
): Promise<{ instance: Instance; health: Healthz } | undefined> {
  const instance = readInstance(context.area);
  if (instance === undefined) return undefined;
  const answer = await askLocal({
    socket: instance.socket,
    method: 'GET',
    path: '/healthz',
    timeoutMs: PING_MS,
  });
  return answer?.status === 200 ? { instance, health: answer.json as Healthz } : undefined;
}

/**
 * Asks the daemon over its socket, and gives the body of its answer. No daemon: undefined. An error of its own
 * is thrown as the same error here.
 */
export async function askDaemon<T>(
  context: Pick<Context, 'area'>,
  request: Pick<LocalRequest, 'method' | 'path' | 'body'>,
): Promise<T | undefined> {
  const instance = readInstance(context.area);
  if (instance === undefined) return undefined;
  return askAt<T>(askLocal, instance.socket, request);
}

/** Is there a daemon, be it too busy to answer? */
export function isDaemonThere(context: Pick<Context, 'area'>): Promise<boolean> {
  return isAnswering(context.area);
}

/** How long a daemon may take to close down: its requests and jobs have five seconds each, at once. */
const STOP_MS = 15_000;
const STOP_LOOK_MS = 50;

/** `steward daemon stop`: asks it to stop and waits until it has. False: none was running. */
export async function stopDaemon(context: Context): Promise<{ stopped: boolean; pid: number | null }> {
  const asked = await askDaemon<{ pid: number }>(context, { method: 'POST', path: '/api/stop' });
  if (asked === undefined) return { stopped: false, pid: null };
  const { clock } = context;
  const deadline = clock.monotonic() + STOP_MS;
  while (clock.monotonic() < deadline) {
    // The file of the instance is the last thing that a daemon takes away.
    if (readInstance(context.area)?.pid !== asked.pid) return { stopped: true, pid: asked.pid };
    await wait(STOP_LOOK_MS);
  }
  throw new StewardError(
    'unavailable',
    `The daemon (process ${asked.pid}) was asked to stop and is still there.`,
    {
      hint: 'See what it does with "steward daemon logs"; end its process if it hangs.',
    },
  );
}
