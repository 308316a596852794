import { join } from 'node:path';

import { StewardError } from '../errors';
import type { UserArea } from '../config/user-area';
import { readText, replaceFile } from '../platform/files/atomic-file';
import type { Clock } from '../platform/time/clock';
import { ensureFolder, removeFile } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { askLocal } from '../platform/net/local-http';
import { withLock } from '../platform/files/lock';

/** Where the daemon of a user area is reached: `daemon.json` in machine-local state while it runs. */
export interface Instance {
  pid: number;
  /** The address of the pages. */
  url: string;
  port: number;
  /** The unix socket or named pipe. */
  socket: string;
  /** Of the product. */
  version: string;
  /** ISO-8601 UTC. */
  startedAt: string;
}

const FORMAT = 1;

function instancePath(area: Pick<UserArea, 'machine'>): string {
  return join(area.machine, 'daemon.json');
}

/** What the last daemon wrote of itself: it may have been killed since. Undefined when there is nothing. */
export function readInstance(area: Pick<UserArea, 'machine'>): Instance | undefined {
  const text = readText(instancePath(area), { maxBytes: 64 * 1024 });
  const value = text === undefined ? undefined : parseObject(text);
  if (value === undefined || value['format'] !== FORMAT) return undefined;
  const { pid, url, port, socket, version, startedAt } = value;
  const sound =
    typeof pid === 'number' &&
    typeof port === 'number' &&
    [url, socket, version, startedAt].every((field) => typeof field === 'string');
  return sound ? ({ pid, url, port, socket, version, startedAt } as Instance) : undefined;
}

export function writeInstance(area: Pick<UserArea, 'machine'>, instance: Instance): void {
  ensureFolder(area.machine);
  replaceFile(instancePath(area), `${JSON.stringify({ format: FORMAT, ...instance })}\n`);
}

export function removeInstance(area: Pick<UserArea, 'machine'>): void {
  removeFile(instancePath(area));
}

/** Does the last daemon of the user area answer on its socket, or is it too busy to? */
export async function isAnswering(area: Pick<UserArea, 'machine'>): Promise<boolean> {
  const last = readInstance(area);
  if (last === undefined) return false;
  try {
    const request = { socket: last.socket, method: 'GET', path: '/healthz', timeoutMs: PING_MS } as const;
    return (await askLocal(request)) !== undefined;
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'unavailable') return true;
    throw error;
  }
}

const PING_MS = 3_000;

/**
 * Runs `work` as the one daemon of the user area. The lock of one that was killed is taken over, unless somebody
 * answers on its socket: in another pid namespace a daemon that is alive looks gone. Another one that is alive:
 * `locked`, with its address.
 */
export async function asOnlyDaemon<T>(
  deps: { area: Pick<UserArea, 'machine'>; clock: Clock; machineId: string },
  work: () => Promise<T>,
): Promise<T> {
  const { area, clock, machineId } = deps;
  let begun = false;
  try {
    return await withLock(
      join(area.machine, 'daemon.lock'),
      { clock, machineId, waitMs: HANDOVER_MS, answers: () => isAnswering(area) },
      () => {
        begun = true;
        return work();
      },
    );
  } catch (error) {
    if (begun || !(error instanceof StewardError && error.kind === 'locked')) throw error;
    const other = readInstance(area);
    const where = other === undefined ? '' : ` at ${other.url} (process ${other.pid})`;
    throw new StewardError('locked', `The daemon of this user area runs already${where}.`, {
      hint: 'Look at it with "steward daemon status", end it with "steward daemon stop".',
      cause: error,
    });
  }
}

/** A daemon that is just closing down hands over within this. */
const HANDOVER_MS = 500;
