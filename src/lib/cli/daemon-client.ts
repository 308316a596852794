import { StewardError } from '../errors';
import { readInstance, type Instance } from '../daemon/instance';
import type { Healthz } from '../daemon/own-routes';
import { askLocal, type LocalRequest } from '../platform/local-http';
import type { SenseStatus } from '../sense/status-types';
import type { Context } from './context';
import { askAt } from './daemon-socket';

const PING_MS = 3_000;

/** What captures while the daemon runs. */
export const DAEMON_SCHEDULER: SenseStatus['scheduler'] = { kind: 'the daemon', installed: true };

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
  return askAt<T>(instance.socket, request);
}

/** What captures by itself now: the daemon, be it too busy to answer, or nothing that is known here. */
export async function currentScheduler(context: Pick<Context, 'area'>): Promise<SenseStatus['scheduler']> {
  try {
    return (await findDaemon(context)) === undefined ? null : DAEMON_SCHEDULER;
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'unavailable') return DAEMON_SCHEDULER;
    throw error;
  }
}
