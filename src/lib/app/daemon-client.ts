import { join } from 'node:path';

import { type Instance, isAnswering, readInstance } from '../daemon/instance';
import type { Healthz } from '../daemon/routes';
import { StewardError } from '../errors';
import { isAlive } from '../platform/files/lock';
import { readText } from '../platform/files/atomic-file';
import { parseObject } from '../platform/files/json-object';
import { askLocal, type LocalRequest } from '../platform/net/local-http';
import { wait } from '../platform/time/wait';
import { productRoot, type Context } from './context';
import { askAt } from '../daemon/socket';

/** Returns the installed version and build id, or undefined while an upgrade is replacing files. */
export function installedBuild(context: Pick<Context, 'templates'>): string | undefined {
  const read = (path: string): string | undefined =>
    readText(join(productRoot(context), path), { followLink: true });
  const version = parseObject(read('package.json') ?? '')?.['version'];
  const id = read('dist/build-id')?.trim() ?? '';
  return typeof version === 'string' ? `${version}${id === '' ? '' : ` (build ${id})`}` : undefined;
}

const PING_MS = 3_000;

/** Returns the user area's running daemon, or undefined if no daemon responds. */
export async function findDaemon({
  area,
}: Pick<Context, 'area'>): Promise<{ instance: Instance; health: Healthz } | undefined> {
  const instance = readInstance(area);
  if (instance === undefined) return undefined;
  const { socket } = instance;
  const answer = await askLocal({ socket, method: 'GET', path: '/healthz', timeoutMs: PING_MS });
  return answer?.status === 200 ? { instance, health: answer.json as Healthz } : undefined;
}

/** Sends a request to the daemon. Returns undefined if no daemon is running. Rethrows the daemon's errors. */
export async function askDaemon<T>(
  { area }: Pick<Context, 'area'>,
  request: Pick<LocalRequest, 'method' | 'path' | 'body'>,
): Promise<T | undefined> {
  const instance = readInstance(area);
  return instance === undefined ? undefined : askAt<T>(askLocal, instance.socket, request);
}

/** Returns whether the daemon is running, even if it is too busy to respond. */
export function isDaemonThere({ area }: Pick<Context, 'area'>): Promise<boolean> {
  return isAnswering(area);
}

/**
 * Timeout for stopping the daemon, in ms. The daemon itself waits up to ten seconds for requests and jobs.
 */
const STOP_MS = 15_000;
const STOP_POLL_MS = 50;

/** Stops the daemon and waits until it has exited. */
export async function stopDaemon(context: Context): Promise<{ stopped: boolean; pid: number | null }> {
  const asked = await askDaemon<{ pid: number }>(context, { method: 'POST', path: '/api/stop' });
  if (asked === undefined) return { stopped: false, pid: null };
  const deadline = context.clock.monotonic() + STOP_MS;
  while (context.clock.monotonic() < deadline) {
    if (readInstance(context.area)?.pid !== asked.pid) return { stopped: true, pid: asked.pid };
    // A daemon in another PID namespace isn't visible as a process, so also check whether it responds.
    const hasCrashed = !isAlive(asked.pid) && !(await isDaemonThere(context));
    if (hasCrashed) return { stopped: true, pid: asked.pid };
    await wait(STOP_POLL_MS);
  }
  throw new StewardError('unavailable', `The daemon (process ${asked.pid}) did not stop within 15 s.`, {
    hint: 'Check "steward daemon logs"; end the process if it hangs.',
  });
}
