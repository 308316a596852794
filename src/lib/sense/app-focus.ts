import { parseIso, toIso } from '../platform/time/clock';
import type { AwayDetail, SenseEvent } from './event';
import { observe, type Focus, type ObserveDeps } from './observe';
import type { Collected, CollectInput, SenseSource } from './source';

export interface AppFocusDeps extends ObserveDeps {
  config: ObserveDeps['config'] & { pollIntervalSec: number };
  machineId: string;
}

interface Cursor {
  /** Time of the last sample, even of one without an event. */
  lastSampleMs: number;
  /** Sampled time below a second that is in no event yet. */
  carryMs: number;
}

/**
 * The appFocus source: one sample of the front application per capture. An event covers the seconds since the previous
 * sample, at most one poll interval; while you are away, an away event covers them. An excluded application has no event.
 */
export function appFocusSource(deps: AppFocusDeps): SenseSource {
  return {
    id: 'appFocus',
    label: 'Applications',
    description: 'The application in front, by name; never a window title.',
    collect: (input) => collect(deps, input),
    recover(stored): Cursor | undefined {
      const times = stored.filter(({ source }) => source === 'appFocus').map(({ ts }) => parseIso(ts) ?? 0);
      return times.length === 0 ? undefined : { lastSampleMs: Math.max(...times), carryMs: 0 };
    },
  };
}

async function collect(deps: AppFocusDeps, { nowMs, cursor }: CollectInput): Promise<Collected> {
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
    const passedMs = Math.min(nowMs - (before?.lastSampleMs ?? nowMs), pollIntervalSec * 1000);
    const events = passedMs > 0 ? [awayEvent(deps.machineId, nowMs - passedMs, nowMs, seen.reason)] : [];
    return sampled('idle', seen.text, undefined, events);
  }
  if (seen.state === 'none') return sampled('idle', 'no window has the focus');
  if (seen.state === 'excluded') return sampled('ok', 'the application in front is excluded');
  const { intervalSec, carryMs } = sampleInterval(nowMs, before, pollIntervalSec);
  const events = intervalSec === 0 ? [] : [focusEvent(deps.machineId, intervalSec, nowMs, seen.focus)];
  return sampled('ok', seen.warning, carryMs, events);
}

function focusEvent(machine: string, intervalSec: number, toMs: number, focus: Focus): SenseEvent {
  const { app, repo, detail } = focus;
  return {
    ...{ ts: toIso(toMs), type: 'app-focus', source: 'appFocus', app },
    ...(repo === undefined ? {} : { repo }),
    detail: { intervalSec, ...detail, machine },
  };
}

function awayEvent(machine: string, fromMs: number, toMs: number, reason: AwayDetail['reason']): SenseEvent {
  const detail: AwayDetail = { from: toIso(fromMs), reason, machine };
  return { ts: toIso(toMs), type: 'away', source: 'appFocus', detail: { ...detail } };
}

/**
 * Returns the whole seconds that a sample covers: the time since the last one, at most one poll interval, plus the carried
 * milliseconds. None after the clock was set back, since that time is unknown.
 */
function sampleInterval(
  nowMs: number,
  before: Cursor | undefined,
  pollIntervalSec: number,
): { intervalSec: number; carryMs: number } {
  const pollMs = pollIntervalSec * 1000;
  const elapsedMs = before === undefined ? pollMs : Math.max(0, nowMs - before.lastSampleMs);
  const ms = Math.min(elapsedMs, pollMs) + (before?.carryMs ?? 0);
  const intervalSec = Math.floor(ms / 1000);
  return { intervalSec, carryMs: ms - intervalSec * 1000 };
}

/** Parses a cursor; undefined if it is invalid. Earlier versions wrote no `carryMs`. */
function parseCursor(cursor: unknown): Cursor | undefined {
  const { lastSampleMs, carryMs } = (cursor ?? {}) as Record<string, unknown>;
  if (typeof lastSampleMs !== 'number' || !Number.isFinite(lastSampleMs)) return undefined;
  const isValid = typeof carryMs === 'number' && carryMs >= 0 && carryMs < 1000;
  return { lastSampleMs, carryMs: isValid ? carryMs : 0 };
}
