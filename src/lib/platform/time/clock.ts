import { readFileSync } from 'node:fs';

import { isObject } from '../files/json-object';
import { isDay } from './time';

/** The source of the current time for all other code. */
export interface Clock {
  /** Wall-clock time in ms since the epoch. */
  now(): number;
  /** Monotonic time in ms from an arbitrary start. */
  monotonic(): number;
  /** Returns the time since boot, or undefined if unknown. */
  boot?(): BootTime | undefined;
}

export function systemClock(): Clock {
  // Use process.uptime(), which is monotonic, because performance.now() takes 1.5 ms to load.
  return { now: () => Date.now(), monotonic: () => process.uptime() * 1000, boot: bootTime };
}

/** Formats a time as `2026-11-20T08:14:00.000Z`. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns the time as a Date, for libraries that need one. */
export function toDate(ms: number): Date {
  return new Date(ms);
}

/** Parses an ISO 8601 time with a zone (`Z` or an offset); returns undefined if it is invalid. */
export function parseIso(text: string): number | undefined {
  if (!ISO_TIME.test(text)) return undefined;
  // Check the day, because Date.parse accepts 2026-02-30. The last valid day is cached, because consecutive
  // log lines usually share a day.
  if (!text.startsWith(lastDay)) {
    const day = text.slice(0, 10);
    if (!isDay(day)) return undefined;
    lastDay = day;
  }
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

export function isIso(value: unknown): value is string {
  return typeof value === 'string' && parseIso(value) !== undefined;
}

let lastDay = 'none';

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Time since boot, including sleep. Users can't change this clock. */
export interface BootTime {
  /** Id that changes at each boot. */
  id: string;
  upMs: number;
}

/** An instant on the wall clock and, if known, on the boot clock. */
export interface Moment {
  wallMs: number;
  boot?: BootTime | undefined;
}

/**
 * Returns the time since boot on Linux, or undefined on other systems, where uptime excludes sleep or changes
 * with the wall clock.
 */
function bootTime(): BootTime | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const seconds = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
    return id !== '' && seconds > 0 ? { id, upMs: Math.round(seconds * 1000) } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns how far the wall clock was moved between two moments (ms; positive is forward), or undefined if
 * unknown.
 */
export function clockSetBy(before: Moment, now: Moment): number | undefined {
  if (before.boot === undefined || before.boot.id !== now.boot?.id) return undefined;
  const passedMs = now.boot.upMs - before.boot.upMs;
  return passedMs < 0 ? undefined : now.wallMs - before.wallMs - passedMs;
}

export function isBootTime(value: unknown): value is BootTime {
  return isObject(value) && typeof value['id'] === 'string' && typeof value['upMs'] === 'number';
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Formats a time to come as `18:05`, or as `Tue 18:05` if it isn't today. Avoids the cost of Intl. */
export function comingTime(ms: number, nowMs: number): string {
  const at = new Date(ms);
  const time = [at.getHours(), at.getMinutes()].map((value) => String(value).padStart(2, '0')).join(':');
  const isToday = ms - nowMs < 86_400_000 && at.getDay() === new Date(nowMs).getDay();
  return isToday ? time : `${DAYS[at.getDay()] ?? ''} ${time}`;
}
