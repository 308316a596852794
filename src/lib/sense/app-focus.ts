import { parseIso, toIso } from '../platform/time/clock';
import { appMatcher, type AppMatcher } from '../time/classify';
import type { AwayDetail, SenseEvent } from '../time/event';
import { splitAtHours, type Interval } from './focus-timeline';
import type { FocusWatch, Watched } from './focus-watch';
import { observe, type Focus, type ObserveDeps } from './observe';
import type { Collected, CollectInput, SenseSource } from './source';

export interface AppFocusDeps extends ObserveDeps {
  config: ObserveDeps['config'] & { pollIntervalSec: number };
  machineId: string;
  timezone: string;
  watch?: Pick<FocusWatch, 'since'> | undefined;
  isWatched?: () => boolean;
}

interface Cursor {
  /** Time of the last sample, including samples without an event. */
  lastSampleMs: number;
  /** Milliseconds lost when the last event's duration was rounded down. They are added to the next event. */
  carryMs: number;
}

/**
 * Creates the appFocus source. Stores the daemon's focus intervals, or samples the frontmost application if
 * no daemon is running.
 */
export function appFocusSource(deps: AppFocusDeps): SenseSource {
  return {
    id: 'appFocus',
    label: 'Applications',
    description: 'The name of the frontmost application, but never a window title.',
    collect: (input) => collect(deps, input),
    recover(stored): Cursor | undefined {
      const times = stored.filter(({ source }) => source === 'appFocus').map(({ ts }) => parseIso(ts) ?? 0);
      return times.length === 0 ? undefined : { lastSampleMs: Math.max(...times), carryMs: 0 };
    },
  };
}

async function collect(deps: AppFocusDeps, { nowMs, cursor }: CollectInput): Promise<Collected> {
  const lastMs = parseCursor(cursor)?.lastSampleMs ?? 0;
  // If the clock was set back, the cursor's time may be in the future.
  const watched = await deps.watch?.since(lastMs > nowMs ? 0 : lastMs);
  if (watched !== undefined) {
    const isExcluded = await appMatcher(deps.config.exclude);
    return collectWatched(deps, cursor, {
      ...watched,
      intervals: withoutExcluded(watched.intervals, isExcluded),
    });
  }
  if (deps.watch === undefined && deps.isWatched?.() === true) return { events: [], cursor, state: 'ok' };
  const seen = await observe(deps, nowMs);
  if (seen.state === 'unsupported') return { events: [], cursor, ...seen };
  if (seen.state === 'error') return { events: [], cursor, ...seen };
  const before = parseCursor(cursor);
  const sampled = (
    state: Collected['state'],
    reason: string | undefined,
    carryMs = before?.carryMs ?? 0,
    events: SenseEvent[] = [],
  ): Collected => ({
    events,
    cursor: { lastSampleMs: nowMs, carryMs } satisfies Cursor,
    state,
    ...(reason === undefined ? {} : { reason }),
  });

  const { pollIntervalSec } = deps.config;
  if (seen.state === 'away') {
    const lastSampleMs = before?.lastSampleMs ?? nowMs;
    const limitMs = Math.max(lastSampleMs, nowMs - pollIntervalSec * 1000);
    const fromMs = seen.sinceMs > lastSampleMs ? (seen.inputMs ?? limitMs) : limitMs;
    const isAfter = lastSampleMs < nowMs && fromMs < nowMs;
    const events = isAfter ? [awayEvent(deps.machineId, fromMs, nowMs, seen.reason)] : [];
    return sampled('idle', seen.text, undefined, events);
  }
  if (seen.state === 'none') return sampled('idle', 'no window or terminal has the focus');
  if (seen.state === 'excluded') return sampled('ok', 'the frontmost application is excluded');
  const { intervalSec, carryMs } = sampleInterval(nowMs, before, pollIntervalSec);
  const events = intervalSec === 0 ? [] : [focusEvent(deps.machineId, intervalSec, nowMs, seen)];
  return sampled('ok', seen.warning, carryMs, events);
}

/** Stores the intervals since the last capture. */
function collectWatched(
  { machineId, timezone }: AppFocusDeps,
  cursor: unknown,
  { intervals, now }: Watched,
): Collected {
  const parts = intervals.flatMap((interval) => splitAtHours(interval, timezone));
  const untilMs = Math.max(...intervals.map(({ toMs }) => toMs));
  const next: Cursor | undefined = intervals.length === 0 ? undefined : { lastSampleMs: untilMs, carryMs: 0 };
  const reason = now?.state === 'away' ? now.text : now?.state === 'focus' ? now.warning : undefined;
  return {
    events: parts.flatMap((part) => eventsOf(machineId, part)),
    cursor: next ?? cursor,
    state: now?.state === 'away' || now?.state === 'none' ? 'idle' : 'ok',
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Drops applications that were excluded after they were observed. */
function withoutExcluded(intervals: readonly Interval[], isExcluded: AppMatcher): Interval[] {
  return intervals.map((interval) => {
    const { fromMs, toMs } = interval;
    const isDropped =
      interval.kind === 'focus' && isExcluded({ app: interval.focus.app, ...interval.focus.detail });
    return isDropped ? { kind: 'none', fromMs, toMs } : interval;
  });
}

function eventsOf(machine: string, part: Interval): SenseEvent[] {
  const { fromMs, toMs } = part;
  if (part.kind === 'away') return [awayEvent(machine, fromMs, toMs, part.reason)];
  if (part.kind === 'none') return [];
  const { via } = part.focus.detail;
  const focus = { ...part.focus, detail: { ...part.focus.detail, via: `${via ?? ''}-events` } };
  return [focusEvent(machine, (toMs - fromMs) / 1000, toMs, { focus, inputMs: part.inputMs })];
}

function focusEvent(
  machine: string,
  intervalSec: number,
  toMs: number,
  { focus, inputMs }: { focus: Focus; inputMs?: number | undefined },
): SenseEvent {
  const { app, repo, detail } = focus;
  const idleSec = inputMs === undefined ? undefined : Math.max(0, Math.round((toMs - inputMs) / 1000));
  return {
    ts: toIso(toMs),
    type: 'app-focus',
    source: 'appFocus',
    app,
    ...(repo === undefined ? {} : { repo }),
    detail: { intervalSec, ...(idleSec === undefined ? {} : { idleSec }), ...detail, machine },
  };
}

function awayEvent(machine: string, fromMs: number, toMs: number, reason: AwayDetail['reason']): SenseEvent {
  const detail: AwayDetail = { from: toIso(fromMs), reason, machine };
  return { ts: toIso(toMs), type: 'away', source: 'appFocus', detail: { ...detail } };
}

/** A sample later than this many poll intervals stands for nothing: nobody saw what was in front before. */
const MAX_LATE = 2;

function sampleInterval(nowMs: number, before: Cursor | undefined, pollIntervalSec: number) {
  const pollMs = pollIntervalSec * 1000;
  const elapsedMs = before === undefined ? 0 : Math.max(0, nowMs - before.lastSampleMs);
  const isGap = elapsedMs > MAX_LATE * pollMs;
  const ms = (isGap ? 0 : Math.min(elapsedMs, pollMs)) + (before?.carryMs ?? 0);
  const intervalSec = Math.floor(ms / 1000);
  return { intervalSec, carryMs: ms - intervalSec * 1000 };
}

/**
 * Parses a cursor, or returns undefined if it is invalid. Cursors from earlier versions have no `carryMs`.
 */
function parseCursor(cursor: unknown): Cursor | undefined {
  const { lastSampleMs, carryMs } = (cursor ?? {}) as Record<string, unknown>;
  if (typeof lastSampleMs !== 'number' || !Number.isFinite(lastSampleMs)) return undefined;
  const isValid = typeof carryMs === 'number' && carryMs >= 0 && carryMs < 1000;
  return { lastSampleMs, carryMs: isValid ? carryMs : 0 };
}
