import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { removeFile } from '../platform/files/folder';
import { ifFree } from '../platform/files/lock';
import { readObject, writeObject } from '../platform/files/object-file';
import { isAmount, isText, shape, type ShapeOf } from '../platform/files/shape';
import { askLocal } from '../platform/net/local-http';
import type { Clock } from '../platform/time/clock';

const INSTANCE = {
  pid: isAmount,
  /** Base URL of the pages. */
  url: isText,
  port: isAmount,
  /** Path of the Unix socket or named pipe. */
  socket: isText,
  version: isText,
  /** ISO 8601 in UTC. */
  startedAt: isText,
};
const isInstance = shape(INSTANCE);
/** How to reach a running daemon. Stored as `daemon.json` in the machine-local folder. */
export type Instance = ShapeOf<typeof INSTANCE>;

type Area = Pick<UserArea, 'machine'>;

const FORMAT = 1;
const PING_MS = 3_000;
/** How long to wait for the lock of a daemon that is shutting down, in ms. */
const HANDOVER_MS = 500;

function instancePath(area: Area): string {
  return join(area.machine, 'daemon.json');
}

/** Returns the instance stored by the last daemon, if any. That daemon may no longer be running. */
export function readInstance(area: Area): Instance | undefined {
  const { format, ...value } = readObject(instancePath(area), 64 * 1024) ?? {};
  return format === FORMAT && isInstance(value) ? value : undefined;
}

export function writeInstance(area: Area, instance: Instance): void {
  writeObject(instancePath(area), { format: FORMAT, ...instance });
}

export function removeInstance(area: Area): void {
  removeFile(instancePath(area));
}

/** Returns whether the last daemon is listening on its socket, even if it is too busy to respond. */
export async function isAnswering(area: Area): Promise<boolean> {
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

/**
 * Runs `work` as the user area's only daemon. Throws `locked` if another daemon is running, even in another
 * PID namespace.
 */
export async function asOnlyDaemon<T>(
  { area, clock, machineId }: { area: Area; clock: Clock; machineId: string },
  work: () => Promise<T>,
): Promise<T> {
  const lock = { clock, machineId, waitMs: HANDOVER_MS, answers: () => isAnswering(area) };
  const done = await ifFree(join(area.machine, 'daemon.lock'), lock, work);
  if (done !== undefined) return done.value;
  const other = readInstance(area);
  const where = other === undefined ? '' : ` at ${other.url} (process ${other.pid})`;
  throw new StewardError('locked', `The daemon is already running${where}.`, {
    hint: 'Check the daemon with "steward daemon status", or stop it with "steward daemon stop".',
  });
}
