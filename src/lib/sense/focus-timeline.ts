import { dayOf, hourStarts } from '../platform/time/time';
import type { AwayDetail } from './event';
import type { Focus, Observation } from './observe';

/** An application in front, you away, or neither. */
type Stretch =
  { kind: 'focus'; focus: Focus } | { kind: 'away'; reason: AwayDetail['reason'] } | { kind: 'none' };

/** A stretch of time, wall-clock ms. */
export type Interval = Stretch & { fromMs: number; toMs: number };

/** The observed time that is not stored yet, oldest first. */
export interface Timeline {
  done: Interval[];
  /** The current interval, until the last observation. */
  open?: Interval;
}

/** A shorter focus counts as part of the interval before it, else of the one after it. */
const MIN_FOCUS_MS = 5_000;
/** After a longer time without an observation, as in sleep, that time is not covered. */
const MAX_GAP_MS = 60_000;

/** Adds an observation; a different one ends the current interval. */
export function addObservation(timeline: Timeline, atMs: number, seen: Observation): void {
  const { open } = timeline;
  const next = { ...stretchOf(seen), fromMs: atMs, toMs: atMs };
  if (open === undefined || atMs < open.toMs) {
    // After the clock was set back, the times before are wrong.
    Object.assign(timeline, { done: [], open: next });
  } else if (atMs - open.toMs > MAX_GAP_MS) {
    timeline.done.push(open);
    timeline.open = next;
  } else if (sameStretch(open, next)) {
    open.toMs = atMs;
  } else {
    // Time counts until the idle limit, which was reached since the last observation.
    const endMs = seen.state === 'away' ? Math.max(open.toMs, atMs - seen.forMs) : atMs;
    replaceOpen(timeline, { ...open, toMs: endMs }, { ...next, fromMs: endMs });
  }
}

function replaceOpen(timeline: Timeline, ended: Interval, next: Interval): void {
  const { done } = timeline;
  const before = done.at(-1);
  timeline.open = next;
  if (isLong(ended)) done.push(ended);
  else if (before?.kind === 'focus' && before.toMs === ended.fromMs) {
    before.toMs = ended.toMs;
    // Back after a moment: the same interval continues.
    if (sameStretch(before, next)) timeline.open = { ...before, toMs: next.toMs };
    if (sameStretch(before, next)) done.pop();
  } else if (next.kind === 'focus') next.fromMs = ended.fromMs;
  else done.push(ended);
}

function isLong({ kind, fromMs, toMs }: Interval): boolean {
  return kind === 'away' || toMs - fromMs >= MIN_FOCUS_MS;
}

function stretchOf(seen: Observation): Stretch {
  if (seen.state === 'focus') return { kind: 'focus', focus: seen.focus };
  return seen.state === 'away' ? { kind: 'away', reason: seen.reason } : { kind: 'none' };
}

function sameStretch(a: Interval, b: Interval): boolean {
  const textOf = ({ fromMs: _from, toMs: _to, ...stretch }: Interval): string => JSON.stringify(stretch);
  return textOf(a) === textOf(b);
}

/** Returns the intervals after a time, and forgets those before it, which are stored. A short current one waits. */
export function intervalsAfter(timeline: Timeline, storedMs: number): Interval[] {
  timeline.done = timeline.done.filter(({ toMs }) => toMs > storedMs);
  const { done, open } = timeline;
  return [...done, ...(open !== undefined && isLong(open) ? [open] : [])]
    .map((interval) => ({ ...interval, fromMs: Math.max(interval.fromMs, storedMs) }))
    .filter(({ fromMs, toMs }) => toMs > fromMs);
}

/** Splits an interval at the hours of the zone. A part ends 1 ms early, so that its end belongs to its own hour. */
export function splitAtHours(interval: Interval, zone: string): Interval[] {
  const { fromMs, toMs } = interval;
  const days = new Set([dayOf(fromMs, zone), dayOf(toMs, zone)]);
  const cuts = [...days].flatMap((day) => hourStarts(day, zone)).map((ms) => ms - 1);
  const times = [fromMs, ...cuts.filter((ms) => ms > fromMs && ms < toMs), toMs];
  return times.slice(1).map((end, i) => ({ ...interval, fromMs: times[i] ?? fromMs, toMs: end }));
}
