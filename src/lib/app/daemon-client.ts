import { isAnswering, readInstance, type Instance } from '../daemon/instance';
import type { Healthz } from '../daemon/routes';
import { askLocal } from '../platform/net/local-http';
import type { LocalRequest } from '../platform/net/local-message';
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
