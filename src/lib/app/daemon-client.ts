import { dirname, join } from 'node:path';

import { type Instance, isAnswering, readInstance } from '../daemon/instance';
import type { Healthz } from '../daemon/routes';
import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { parseObject } from '../platform/files/json-object';
import { askLocal, type LocalRequest } from '../platform/net/local-http';
import { wait } from '../platform/time/wait';
import type { Context } from './context';
import { askAt } from './daemon-socket';

const PING_MS = 3_000;

/**
 * Returns the installed version with the id that the build wrote, so that an upgrade in place is noticed even under the same
 * version number. Undefined while the files are being replaced.
 */
export function installedBuild({ templates }: Pick<Context, 'templates'>): string | undefined {
  const root = dirname(templates);
  const read = (path: string): string | undefined => readText(join(root, path), { followLink: true });
  const version = parseObject(read('package.json') ?? '')?.['version'];
  const id = read('dist/build-id')?.trim() ?? '';
  return typeof version === 'string' ? `${version}${id === '' ? '' : ` (build ${id})`}` : undefined;
}

/** Returns the daemon of the user area if it is running and answers. */
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

/** Sends a request over the daemon's socket and returns the body; undefined without a daemon. Its errors are thrown here. */
export async function askDaemon<T>(
  context: Pick<Context, 'area'>,
  request: Pick<LocalRequest, 'method' | 'path' | 'body'>,
): Promise<T | undefined> {
  const instance = readInstance(context.area);
  if (instance === undefined) return undefined;
  return askAt<T>(askLocal, instance.socket, request);
}

/** Is a daemon running, even if it is too busy to answer? */
export function isDaemonThere(context: Pick<Context, 'area'>): Promise<boolean> {
  return isAnswering(context.area);
}

const STOP_MS = 15_000;
const STOP_POLL_MS = 50;

/** Stops the daemon and waits until it has stopped; `stopped` is false if none was running. */
export async function stopDaemon(context: Context): Promise<{ stopped: boolean; pid: number | null }> {
  const asked = await askDaemon<{ pid: number }>(context, { method: 'POST', path: '/api/stop' });
  if (asked === undefined) return { stopped: false, pid: null };
  const { clock } = context;
  const deadline = clock.monotonic() + STOP_MS;
  while (clock.monotonic() < deadline) {
    // A daemon removes its instance file last.
    if (readInstance(context.area)?.pid !== asked.pid) return { stopped: true, pid: asked.pid };
    await wait(STOP_POLL_MS);
  }
  throw new StewardError('unavailable', `The daemon (process ${asked.pid}) has not stopped within 15 s.`, {
    hint: 'See "steward daemon logs"; if it hangs, kill the process.',
  });
}
