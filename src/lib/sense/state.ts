import * as v from 'valibot';

import { isObject, parseObject } from '../platform/files/json-object';
import { refuseNewer } from '../platform/files/object-file';
import { plural } from '../platform/terminal/format';
import {
  clockSetBy,
  isBootTime,
  type BootTime,
  type Moment,
  isIso,
  parseIso,
  toIso,
} from '../platform/time/clock';
import { isDay, isZone, type Day } from '../platform/time/time';

/** Format version of sense/state.json. */
const STATE_VERSION = 1;

const DAY = v.custom<Day>((value) => typeof value === 'string' && isDay(value));
const ZONE = v.custom<string>((zone) => typeof zone === 'string' && isZone(zone));
const ISO = v.custom<string>(isIso);
const recordOf = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(v.custom<Record<string, unknown>>(isObject), v.record(v.string(), schema));
const OFFSET = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Text to append to a log at `offset`. */
const PENDING = v.object({ day: v.union([v.literal('late'), DAY]), offset: OFFSET, text: v.string() });

/** A clock change. `at` is the time on the new clock; `byMs` is positive if the clock was set ahead. */
const JUMP = v.object({ at: ISO, byMs: v.number() });

const SOURCE = v.object({
  state: v.picklist(['ok', 'idle', 'unsupported', 'error']),
  reason: v.optional(v.string()),
  at: v.string(),
  /** Time of the newest event, in ISO 8601 format (UTC). */
  lastEventTs: v.nullable(v.string()),
});

const ROLLED = v.object({
  /** Size of the event log when the record was built. */
  bytes: v.number(),
  /** Whether the day was over when the record was built. */
  final: v.boolean(),
  /** Number of invalid lines in the event log. */
  quarantined: v.optional(v.number(), 0),
});

const STATE = v.object({
  version: v.number(),
  lastCaptureTs: v.optional(v.nullable(v.string()), null),
  cursors: v.optional(recordOf(v.unknown()), {}),
  sources: v.optional(recordOf(SOURCE), {}),
  /** Number of seconds that you were away on `day`. */
  away: v.optional(v.nullable(v.object({ day: v.string(), seconds: v.number() })), null),
  pending: v.optional(v.array(PENDING), []),
  rolled: v.optional(recordOf(ROLLED), {}),
  /** Set if `afterRecords` failed. The next capture retries it. */
  untold: v.optional(v.boolean(), false),
  lostOn: v.optional(v.nullable(DAY), null),
  /** The time zone of each day with captures or a log, which is fixed at the first of them. */
  zones: v.optional(recordOf(ZONE), {}),
  clock: v.optional(
    v.nullable(v.object({ wallMs: v.number(), boot: v.optional(v.custom<BootTime>(isBootTime)) })),
    null,
  ),
  /** Recent clock changes of more than an hour. */
  jumps: v.optional(v.array(JUMP), []),
});

export type SenseState = v.InferOutput<typeof STATE>;
/** The name of a log: a day, or `late` for events that arrived after their day's log was deleted. */
export type LogName = Day | 'late';
export type PendingAppend = v.InferOutput<typeof PENDING>;
export type ClockJump = v.InferOutput<typeof JUMP>;

export function emptyState(): SenseState {
  return v.parse(STATE, { version: STATE_VERSION });
}

/** Parses a state, or returns undefined if it is damaged. Throws `config` for a newer format. */
export function parseState(text: string, path: string): SenseState | undefined {
  const value = parseObject(text);
  refuseNewer(path, value?.['version'], STATE_VERSION);
  const parsed = v.safeParse(STATE, value);
  return parsed.success ? parsed.output : undefined;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_JUMPS = 5;

/** Returns the current clock readings and the updated list of clock changes. */
export function noticeJump(state: SenseState, now: Moment): Pick<SenseState, 'clock' | 'jumps'> {
  const { clock, lastCaptureTs } = state;
  const lastMs = clock?.wallMs ?? parseIso(lastCaptureTs ?? '') ?? now.wallMs;
  // Without the time since boot, only a backward clock change can be detected.
  const byMs = (clock && clockSetBy(clock, now)) ?? Math.min(0, now.wallMs - lastMs);
  const isJump = Math.abs(byMs) > HOUR_MS;
  const jumps = isJump ? [...state.jumps, { at: toIso(now.wallMs), byMs }].slice(-MAX_JUMPS) : state.jumps;
  return { clock: now, jumps };
}

/**
 * Returns all clock changes up to the last recent one. Keeps older ones, because their times may be wrong.
 */
export function recentJumps(jumps: readonly ClockJump[], nowMs: number, days = 7): ClockJump[] {
  const isRecent = ({ at }: ClockJump): boolean => {
    const ageMs = nowMs - (parseIso(at) ?? 0);
    return ageMs >= 0 && ageMs < days * DAY_MS;
  };
  return jumps.filter((_, i) => jumps.slice(i).some(isRecent));
}

/** Formats a clock change as `3 days ahead` or `2 hours back`. */
export function jumpText({ byMs }: Pick<ClockJump, 'byMs'>): string {
  const size = Math.abs(byMs);
  const [count, unit] = size < 2 * DAY_MS ? [size / HOUR_MS, 'hour'] : [size / DAY_MS, 'day'];
  return `${plural(Math.round(count), unit)} ${byMs > 0 ? 'ahead' : 'back'}`;
}
