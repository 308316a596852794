import { toIso, type Clock } from '../platform/time/clock';
import { randomName } from '../platform/files/short-hash';

/** The id of a notification: the time it was accepted at, and what tells it from others. */
export const ID_GRAMMAR = /^\d{8}T\d{9}Z-[0-9a-f]{12}$/;

/** In the order of time, also within the millisecond of one process. */
export function newId(clock: Clock): string {
  const micros = Math.floor(clock.monotonic() * 1000) % 16 ** 7;
  const unique = micros.toString(16).padStart(7, '0') + randomName(5);
  return `${toIso(clock.now()).replace(/[-:.]/g, '')}-${unique}`;
}

/** When an id was made, wall-clock ms. */
export function timeOfId(id: string): number {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(id) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}
