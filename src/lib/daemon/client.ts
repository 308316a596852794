import { dirname, join } from 'node:path';

import type { Machine, UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { parseObject } from '../platform/files/json-object';
import { isAlive } from '../platform/files/lock';
import { readPlace } from '../platform/files/place';
import { askLocal, type LocalRequest } from '../platform/net/local-http';
import { wait } from '../platform/time/wait';
import { isAnswering, readInstance } from './instance';
import type { Healthz } from './routes';
import { askAt } from './socket';

/** Returns the installed version and build id, or undefined while an upgrade is replacing files. */
export function installedBuild({ templates }: { templates: string }): string | undefined {
  const read = (path: string): string | undefined =>
    readText(join(dirname(templates), path), { followLink: true });
  const version = parseObject(read('package.json') ?? '')?.['version'];
  const id = read('dist/build-id')?.trim() ?? '';
  return typeof version === 'string' ? `${version}${id === '' ? '' : ` (build ${id})`}` : undefined;
}

/** Returns a new build id if this machine now writes to a different folder, so that the daemon restarts. */
export function movedPlace({ root, host, place }: UserArea): string | undefined {
  const stored = readPlace(root, host);
  return stored === undefined || stored.place === place ? undefined : `for ${join(root, stored.place)}`;
}

const PING_MS = 3_000;

/** Returns the user area's running daemon, or undefined if no daemon responds. */
export async function findDaemon({ area }: { area: UserArea }) {
  const instance = readInstance(area);
  if (instance === undefined) return undefined;
  const { socket } = instance;
  const answer = await askLocal({ socket, method: 'GET', path: '/healthz', timeoutMs: PING_MS });
  return answer?.status === 200 ? { instance, health: answer.json as Healthz } : undefined;
}

/** Sends a request to the daemon. Returns undefined if no daemon is running. Rethrows the daemon's errors. */
export async function askDaemon<T>(
  { area }: { area: UserArea },
  request: Pick<LocalRequest, 'method' | 'path' | 'body'>,
): Promise<T | undefined> {
  const instance = readInstance(area);
  return instance === undefined ? undefined : askAt<T>(askLocal, instance.socket, request);
}

/** Returns whether the daemon is running, even if it is too busy to respond. */
export function isDaemonThere({ area }: { area: UserArea }): Promise<boolean> {
  return isAnswering(area);
}

/**
 * Timeout for stopping the daemon, in ms. The daemon itself waits up to ten seconds for requests and jobs.
 */
const STOP_MS = 15_000;
const STOP_POLL_MS = 50;

/** Stops the daemon and waits until it has exited. */
export async function stopDaemon(
  machine: Pick<Machine, 'area' | 'clock'>,
): Promise<{ stopped: boolean; pid: number | null }> {
  const asked = await askDaemon<{ pid: number }>(machine, { method: 'POST', path: '/api/stop' });
  if (asked === undefined) return { stopped: false, pid: null };
  const deadline = machine.clock.monotonic() + STOP_MS;
  while (machine.clock.monotonic() < deadline) {
    if (readInstance(machine.area)?.pid !== asked.pid) return { stopped: true, pid: asked.pid };
    // A daemon in another PID namespace isn't visible as a process, so also check whether it responds.
    const hasCrashed = !isAlive(asked.pid) && !(await isDaemonThere(machine));
    if (hasCrashed) return { stopped: true, pid: asked.pid };
    await wait(STOP_POLL_MS);
  }
  throw new StewardError('unavailable', `The daemon (process ${asked.pid}) did not stop within 15 s.`, {
    hint: 'Check "steward daemon logs"; end the process if it hangs.',
  });
}
