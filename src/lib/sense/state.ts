import * as v from 'valibot';

import { StewardError } from '../errors';
import { isObject, parseObject } from '../platform/files/json-object';
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

/** The format of sense/state.json. A newer one is left alone. */
const STATE_VERSION = 1;

const DAY = v.custom<Day>((value) => typeof value === 'string' && isDay(value));
const ZONE = v.custom<string>((zone) => typeof zone === 'string' && isZone(zone));
const ISO = v.custom<string>(isIso);
const recordOf = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(v.custom<Record<string, unknown>>(isObject), v.record(v.string(), schema));
const OFFSET = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** An append decided together with the cursors; complete once its text stands in the log at `offset`. */
const PENDING = v.object({ day: v.union([v.literal('late'), DAY]), offset: OFFSET, text: v.string() });

/** A jump of the clock: when, by the new clock, and by how much (ahead is positive). */
const JUMP = v.object({ at: ISO, byMs: v.number() });

/** What a source said at the last capture that asked it. */
const MEMORY = v.object({
  state: v.picklist(['ok', 'idle', 'unsupported', 'error']),
  reason: v.optional(v.string()),
  at: v.string(),
  /** Of its newest event, ISO-8601 UTC. */
  lastEventTs: v.nullable(v.string()),
});

/** What is known of a recorded day that has a raw log. */
const ROLLED = v.object({
  /** Size of the raw log that the record was built from. */
  bytes: v.number(),
  /** The day was over when it was built. */
  final: v.boolean(),
  /** Lines of it that were no events. */
  quarantined: v.optional(v.number(), 0),
});

const STATE = v.object({
  version: v.number(),
  lastCaptureTs: v.optional(v.nullable(v.string()), null),
  /** By source id. */
  cursors: v.optional(recordOf(v.unknown()), {}),
  sources: v.optional(recordOf(MEMORY), {}),
  /** Seconds of the day that were sampled while the person was away. */
  away: v.optional(v.nullable(v.object({ day: v.string(), seconds: v.number() })), null),
  pending: v.optional(v.array(PENDING), []),
  rolled: v.optional(recordOf(ROLLED), {}),
  /** Records were written, and what is made from them failed: the next capture retries it. */
  untold: v.optional(v.boolean(), false),
  /** The day on which the state was lost and begun anew; null when that never happened. */
  lostOn: v.optional(v.nullable(DAY), null),
  /** The zone of each day, fixed at its first write. */
  zones: v.optional(recordOf(ZONE), {}),
  /** The clocks at the last capture. */
  clock: v.optional(
    v.nullable(v.object({ wallMs: v.number(), boot: v.optional(v.custom<BootTime>(isBootTime)) })),
    null,
  ),
  /** When the clock was found to have been set by more than an hour; the last few. */
  jumps: v.optional(v.array(JUMP), []),
});

export type SenseState = v.InferOutput<typeof STATE>;
/** The log of a day, or of events that came after their day's raw log was discarded. */
export type LogName = Day | 'late';
export type PendingAppend = v.InferOutput<typeof PENDING>;
export type ClockJump = v.InferOutput<typeof JUMP>;

export function emptyState(): SenseState {
  return v.parse(STATE, { version: STATE_VERSION });
}

/** The state in a text; undefined when it is damaged. A newer format is `config`. */
export function parseState(text: string, path: string): SenseState | undefined {
  const value = parseObject(text);
  if (Number(value?.['version']) > STATE_VERSION) {
    throw new StewardError(
      'config',
      `${path} was written by a newer steward (format ${String(value?.['version'])}).`,
      {
        hint: 'Upgrade steward; this version leaves the file alone.',
      },
    );
  }
  const parsed = v.safeParse(STATE, value);
  return parsed.success ? parsed.output : undefined;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_JUMPS = 5;

/** The clocks of a capture, and the jumps that are known with it. */
export function noticeJump(state: SenseState, now: Moment): Pick<SenseState, 'clock' | 'jumps'> {
  const { clock, lastCaptureTs } = state;
  const lastMs = clock?.wallMs ?? parseIso(lastCaptureTs ?? '') ?? now.wallMs;
  // Without a clock that nobody sets, only a step back shows.
  const byMs = (clock && clockSetBy(clock, now)) ?? Math.min(0, now.wallMs - lastMs);
  const isJump = Math.abs(byMs) > HOUR_MS;
  const jumps = isJump ? [...state.jumps, { at: toIso(now.wallMs), byMs }].slice(-KEPT_JUMPS) : state.jumps;
  return { clock: now, jumps };
}

/** The jumps of the last `days`. One dated by a clock that was ahead is as old as the next one. */
export function recentJumps(jumps: readonly ClockJump[], nowMs: number, days = 7): ClockJump[] {
  const isRecent = ({ at }: ClockJump): boolean => {
    const ageMs = nowMs - (parseIso(at) ?? 0);
    return ageMs >= 0 && ageMs < days * DAY_MS;
  };
  return jumps.filter((_, i) => jumps.slice(i).some(isRecent));
}

/** `3 days ahead`, `2 hours back` */
export function jumpText({ byMs }: Pick<ClockJump, 'byMs'>): string {
  const size = Math.abs(byMs);
  const [count, unit] = size < 2 * DAY_MS ? [size / HOUR_MS, 'hour'] : [size / DAY_MS, 'day'];
  return `${plural(Math.round(count), unit)} ${byMs > 0 ? 'ahead' : 'back'}`;
}
