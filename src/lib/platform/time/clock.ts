import { readFileSync } from 'node:fs';

import { isObject } from '../files/json-object';
import { isDay } from './time';

/** The one place that reads the time of day. Everything else is given a Clock. */
export interface Clock {
  /** Wall-clock time, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back (for time-outs and durations). */
  monotonic(): number;
  /** Undefined where the system does not tell it. */
  boot?(): BootTime | undefined;
}

export function systemClock(): Clock {
  // Not performance.now(): its first use loads a module, 1.5 ms of each start.
  return { now: () => Date.now(), monotonic: () => process.uptime() * 1000, boot: bootTime };
}

/** `2026-11-20T08:14:00.000Z` */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** The instant as the object that some libraries want. */
export function toDate(ms: number): Date {
  return new Date(ms);
}

/** Milliseconds of an ISO-8601 time with a zone (`Z` or an offset), or undefined if it is none. */
export function parseIso(text: string): number | undefined {
  if (!ISO_TIME.test(text)) return undefined;
  // The engine reads 2026-02-30 as 2 March. The lines of a log share their day: it is looked at once.
  if (!text.startsWith(lastDay)) {
    const day = text.slice(0, 10);
    if (!isDay(day)) return undefined;
    lastDay = day;
  }
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Is it the text of such a time? */
export function isIso(value: unknown): value is string {
  return typeof value === 'string' && parseIso(value) !== undefined;
}

/** At first what no time begins with. */
let lastDay = 'none';

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;

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

/** Returns the weekday (0: Sunday) and the time of day on this machine, `18:05`, without the cost of Intl. */
export function wallTime(ms: number): { weekday: number; time: string } {
  const at = new Date(ms);
  const time = [at.getHours(), at.getMinutes()].map((value) => String(value).padStart(2, '0')).join(':');
  return { weekday: at.getDay(), time };
}
