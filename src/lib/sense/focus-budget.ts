import { dayBounds, dayOf } from '../platform/time/time';
import type { SenseEvent } from '../time/event';
import { splitAtHours, type Interval } from './focus-timeline';

/** Maximum size of the events that the focus watcher stores per day, in bytes. */
const DAY_BYTES = 380_000;
/** Extra bytes available to intervals that must be stored now. */
const RESERVE_BYTES = 15_000;
/**
 * The budget grows over the course of the day. Calculating it an hour ahead leaves room for a busy morning.
 */
const ADVANCE_MS = 3_600_000;
/** How long intervals that exceed the budget may wait to be stored. */
const MAX_WAIT_MS = 20 * 60_000;

/** Size of the events that the focus watcher has stored for a day. */
export interface Spent {
  day: string;
  bytes: number;
}

export interface BudgetInput {
  intervals: readonly Interval[];
  nowMs: number;
  timezone: string;
  before: Spent | undefined;
  /** Whether storing the intervals can wait for a later capture. */
  canWait: boolean;
  eventsOf: (part: Interval) => SenseEvent[];
}

export interface Stored {
  events: SenseEvent[];
  spent: Spent;
  /** End of the last stored interval. */
  untilMs: number;
}

/**
 * Returns the events for the intervals, or undefined if a later capture, with a larger budget, should store
 * them. If they can't wait, keeps only the longest intervals.
 */
export function withinBudget(input: BudgetInput): Stored | undefined {
  const { intervals, nowMs, timezone, before, canWait, eventsOf } = input;
  const firstMs = intervals[0]?.fromMs ?? nowMs;
  const day = dayOf(firstMs, timezone);
  const spentBytes = before?.day === day ? before.bytes : 0;
  const { startMs, endMs } = dayBounds(day, timezone);
  const share = Math.min(1, (nowMs - startMs + ADVANCE_MS) / (endMs - startMs));
  const freeBytes = DAY_BYTES * share - spentBytes;
  const stored = (parts: readonly Interval[]): Stored => {
    const events = parts.flatMap(eventsOf);
    const spent = { day, bytes: spentBytes + sizeOf(events) };
    return { events, spent, untilMs: Math.max(...parts.map(({ toMs }) => toMs)) };
  };
  const parts = intervals.flatMap((interval) => splitAtHours(interval, timezone));
  if (parts.length === 0 || sizeOf(parts.flatMap(eventsOf)) <= freeBytes) return stored(parts);
  const hours = byHour(parts, timezone);
  const due = canWait && hours.length > 1 ? hours.slice(0, -1) : hours;
  const runs = due.flatMap(runsOf).map((run) => groupsOf(run, (part) => sizeOf(eventsOf(part))));
  const isLate = hours.length > 1 || nowMs - firstMs >= MAX_WAIT_MS;
  if (canWait && !isLate && bytesOf(runs) > freeBytes) return undefined;
  return stored(longestOf(runs, freeBytes + RESERVE_BYTES));
}

function sizeOf(events: readonly SenseEvent[]): number {
  return events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)) + 1, 0);
}

function byHour(parts: readonly Interval[], timezone: string): Interval[][] {
  const hours: Interval[][] = [];
  for (const part of parts) {
    const fromMs = hours.at(-1)?.[0]?.fromMs;
    const isSame = fromMs !== undefined && splitAtHours({ ...part, fromMs }, timezone).length === 1;
    if (isSame) hours.at(-1)?.push(part);
    else hours.push([part]);
  }
  return hours;
}

function runsOf(parts: readonly Interval[]): Interval[][] {
  const runs: Interval[][] = [];
  for (const part of parts) {
    const before = runs.at(-1)?.at(-1);
    const follows = before?.kind === 'focus' && part.kind === 'focus' && before.toMs === part.fromMs;
    if (follows) runs.at(-1)?.push(part);
    else runs.push([part]);
  }
  return runs;
}

interface Group {
  part: Interval;
  ms: number;
  bytes: number;
}

function bytesOf(runs: readonly (readonly Group[])[]): number {
  return runs.flat().reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Merges the shortest groups into the longest group of the same consecutive run, until the events fit the
 * budget.
 */
function longestOf(runs: readonly Group[][], freeBytes: number): Interval[] {
  const starts = runs.map((run) => run[0]?.part.fromMs ?? 0);
  let bytes = bytesOf(runs);
  const shortestFirst = runs
    .flatMap((run) => run.map((group) => ({ run, group })))
    .sort((a, b) => a.group.ms - b.group.ms);
  for (const { run, group } of shortestFirst) {
    if (bytes <= freeBytes) break;
    if (run.length === 1) continue;
    run.splice(run.indexOf(group), 1);
    const longest = run.reduce((most, each) => (each.ms > most.ms ? each : most));
    longest.ms += group.ms;
    bytes -= group.bytes;
  }
  return runs.flatMap((run, i) => inTurn(run, starts[i] ?? 0));
}

function groupsOf(run: readonly Interval[], bytesOf: (part: Interval) => number): Group[] {
  const groups = new Map<string, Group>();
  for (const part of run) {
    const key = part.kind === 'focus' ? JSON.stringify(part.focus) : '';
    const group = groups.get(key) ?? { part, ms: 0, bytes: bytesOf(part) };
    group.ms += part.toMs - part.fromMs;
    groups.set(key, group);
  }
  return [...groups.values()];
}

function inTurn(groups: readonly Group[], startMs: number): Interval[] {
  let atMs = startMs;
  return groups.map(({ part, ms }) => ({ ...part, fromMs: atMs, toMs: (atMs += ms) }));
}
