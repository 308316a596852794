import { isDeepStrictEqual } from 'node:util';

import { dayOf, hourStarts } from '../platform/time/time';
import type { AwayDetail } from '../time/event';
import type { Focus, Observation } from './observe';

type Stretch =
  { kind: 'focus'; focus: Focus } | { kind: 'away'; reason: AwayDetail['reason'] } | { kind: 'none' };

/**
 * An interval in wall-clock ms. `inputMs` is the time of the last known input. Time away begins at the last input,
 * but is known only from `knownMs` on; the focus until then may be stored already.
 */
export type Interval = Stretch & { fromMs: number; toMs: number; inputMs?: number; knownMs?: number };

/** Observed intervals that aren't stored yet, oldest first. */
export interface FocusTimeline {
  done: Interval[];
  /** The current interval, which ends at the last observation. */
  open?: Interval;
}

/** Minimum length of a focus interval. Shorter intervals are merged into an adjacent interval. */
const MIN_FOCUS_MS = 5_000;
/** Maximum gap between observations. Longer gaps, for example during sleep, aren't recorded. */
const MAX_GAP_MS = 60_000;

/** Adds an observation. Starts a new interval if the focus or presence changed. */
export function addObservation(timeline: FocusTimeline, atMs: number, seen: Observation): void {
  const { open } = timeline;
  const input = seen.state === 'focus' && seen.inputMs !== undefined ? { inputMs: seen.inputMs } : {};
  const next = { ...stretchOf(seen), fromMs: atMs, toMs: atMs, ...input };
  if (open === undefined || atMs < open.toMs) {
    // The clock was set back, so discard the earlier intervals.
    Object.assign(timeline, { done: [], open: next });
  } else if (atMs - open.toMs > MAX_GAP_MS) {
    timeline.done.push(open);
    timeline.open = next;
  } else if (sameStretch(open, next)) {
    Object.assign(open, { toMs: atMs, ...input });
  } else if (seen.state !== 'away') {
    replaceOpen(timeline, { ...open, toMs: atMs }, next);
  } else if (seen.sinceMs <= open.toMs) {
    // The application in front counted without input until now.
    replaceOpen(timeline, open, { ...next, fromMs: open.toMs });
  } else {
    const fromMs = Math.min(seen.inputMs ?? atMs, atMs);
    replaceOpen(timeline, { ...open, toMs: atMs }, { ...next, fromMs, knownMs: seen.sinceMs });
    timeline.done = timeline.done.flatMap((each) =>
      each.fromMs >= fromMs ? [] : [{ ...each, toMs: Math.min(each.toMs, fromMs) }],
    );
  }
}

function replaceOpen(timeline: FocusTimeline, ended: Interval, next: Interval): void {
  const { done } = timeline;
  const before = done.at(-1);
  timeline.open = next;
  if (isLong(ended)) done.push(ended);
  else if (before?.kind === 'focus' && before.toMs === ended.fromMs) {
    before.toMs = ended.toMs;
    // The focus returned after a short interruption, so extend the previous interval.
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

const ANY_TIME = { fromMs: 0, toMs: 0, inputMs: 0, knownMs: 0 };

function sameStretch(a: Interval, b: Interval): boolean {
  return isDeepStrictEqual({ ...a, ...ANY_TIME }, { ...b, ...ANY_TIME });
}

/**
 * Returns the intervals after `storedMs` and removes earlier ones from the timeline. Omits the current
 * interval if it is too short.
 */
export function intervalsAfter(timeline: FocusTimeline, storedMs: number): Interval[] {
  timeline.done = timeline.done.filter(({ toMs }) => toMs > storedMs);
  const { done, open } = timeline;
  return [...done, ...(open !== undefined && isLong(open) ? [open] : [])]
    .map((interval) =>
      storedMs < (interval.knownMs ?? 0)
        ? interval
        : { ...interval, fromMs: Math.max(interval.fromMs, storedMs) },
    )
    .filter(({ fromMs, toMs }) => toMs > fromMs);
}

/**
 * Splits an interval at each full hour. Each part ends 1 ms before the hour, so that its end time is in the
 * same hour as its start time.
 */
export function splitAtHours(interval: Interval, zone: string): Interval[] {
  const { fromMs, toMs } = interval;
  const days = new Set([dayOf(fromMs, zone), dayOf(toMs, zone)]);
  const cuts = [...days].flatMap((day) => hourStarts(day, zone)).map((ms) => ms - 1);
  const times = [fromMs, ...cuts.filter((ms) => ms > fromMs && ms < toMs), toMs];
  return times.slice(1).map((end, i) => ({ ...interval, fromMs: times[i] ?? fromMs, toMs: end }));
}
