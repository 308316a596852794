import { readFileSync } from 'node:fs';

import { isObject } from '../files/json-object';

/** How long the machine has been up, its sleep included: nobody sets this clock. */
export interface BootTime {
  /** Differs after each start of the machine. */
  id: string;
  upMs: number;
}

/** A moment by the clock that a person can set, and by the one that nobody can, where there is one. */
export interface Moment {
  wallMs: number;
  boot?: BootTime | undefined;
}

/** Undefined on all but Linux: elsewhere the time of the boot moves with the clock, or leaves sleep out. */
export function bootTime(): BootTime | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const seconds = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
    return id !== '' && seconds > 0 ? { id, upMs: Math.round(seconds * 1000) } : undefined;
  } catch {
    // A sandbox without /proc; the reason makes no difference.
    return undefined;
  }
}

/** By how much the clock was set between two moments, ms: ahead is positive. Undefined where nothing tells it. */
export function clockSetBy(before: Moment, now: Moment): number | undefined {
  if (before.boot === undefined || before.boot.id !== now.boot?.id) return undefined;
  const passedMs = now.boot.upMs - before.boot.upMs;
  return passedMs < 0 ? undefined : now.wallMs - before.wallMs - passedMs;
}

export function isBootTime(value: unknown): value is BootTime {
  return isObject(value) && typeof value['id'] === 'string' && typeof value['upMs'] === 'number';
}
