import { readCache, writeCache } from '../config/area-cache';
import type { UserArea } from '../config/user-area';
import { StewardError, type ErrorBody } from '../errors';
import type { LocalAnswer, LocalRequest } from '../platform/net/local-http';

/** Caches the path of the daemon's socket, because computing it takes longer than a request. */
export function cacheSocket(area: UserArea, socket: string): void {
  writeCache('daemon', area, { root: area.root, socket });
}

/** Returns the socket path of the user area's last daemon, which may no longer be running. */
export function cachedSocket(area: UserArea): string | undefined {
  const { root, socket } = readCache<{ root: string; socket: string }>('daemon', area) ?? {};
  return root === area.root && typeof socket === 'string' ? socket : undefined;
}

const TIMEOUT_MS = 5_000;

/** Sends a request to the daemon. Returns undefined if no daemon responds. Rethrows the daemon's errors. */
export async function askAt<T>(
  ask: (request: LocalRequest) => Promise<LocalAnswer | undefined>,
  socket: string,
  request: Pick<LocalRequest, 'method' | 'path' | 'body'>,
): Promise<T | undefined> {
  const answer = await ask({ socket, timeoutMs: TIMEOUT_MS, ...request });
  if (answer === undefined) return undefined;
  if (answer.status < 400) return answer.json as T;
  const { kind, message, hint } = (answer.json as ErrorBody).error;
  throw new StewardError(kind, message, hint === undefined ? {} : { hint });
}
