import type { UserArea } from '../config/user-area';
import { StewardError, type ErrorBody } from '../errors';
import type { LocalAnswer, LocalRequest } from '../platform/net/local-http';
import { keep, readKept } from './hook-settings';

const TIMEOUT_MS = 5_000;

/**
 * Keeps where the daemon listens in the cache folder: the machine-local folder, where it stands in any case, has
 * a name that is a hash, which costs a run more than the request.
 */
export function keepSocket(area: UserArea, socket: string): void {
  keep('daemon', area, { root: area.root, socket });
}

/** The socket of the last daemon of the user area; it may be gone, or another one's by now that is of this area. */
export function keptSocket(area: UserArea): string | undefined {
  const kept = readKept<{ root: string; socket: string }>('daemon', area);
  return kept?.root === area.root && typeof kept.socket === 'string' ? kept.socket : undefined;
}

/** One request to the daemon behind a socket, by the way that is given. Nobody there: undefined; an error of its own is thrown as the same. */
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
