import { StewardError } from '../errors';
import { isBootTime, type Moment } from '../platform/time/boot-time';
import { isIso } from '../platform/time/clock';
import type { AppendPlan } from '../platform/files/jsonl';
import { isDay, isZone, type Day } from '../platform/time/time';
import type { SourceId } from './event';
import type { Collected } from './source';
import { isObject, parseObject } from '../platform/files/json-object';

/** The format of sense/state.json. A newer one is left alone. */
const STATE_VERSION = 1;

/** What a source said of itself at the last capture that asked it. */
export interface SourceMemory {
  state: Collected['state'];
  reason?: string;
  /** When it was asked, ISO-8601 UTC. */
  at: string;
  /** Of its newest event, ISO-8601 UTC. */
  lastEventTs: string | null;
}

/** What steward remembers of a recorded day that has a raw log. */
export interface RolledDay {
  /** Size of the raw log that the record was built from. */
  bytes: number;
  /** The day was over when it was built. */
  final: boolean;
  /** Lines of it that were no events. */
  quarantined: number;
}

/** The log of a day, or of events that came after their day's raw log was discarded. */
export type LogName = Day | 'late';

/** An append that was decided together with the cursors; complete once its text stands in the file. */
export interface PendingAppend extends AppendPlan {
  day: LogName;
}

export interface SenseState {
  version: number;
  lastCaptureTs: string | null;
  cursors: Partial<Record<SourceId, unknown>>;
  sources: Partial<Record<SourceId, SourceMemory>>;
  /** Seconds of the day that were sampled while the person was away. */
  away: { day: Day; seconds: number } | null;
  pending: PendingAppend[];
  rolled: Record<Day, RolledDay>;
  /** Records were written, and what is made from them failed: it is tried again. */
  untold: boolean;
  /** The day on which the state was lost and begun anew; null when that never happened. */
  lostOn: Day | null;
  /** The zone of each day, fixed at its first write. */
  zones: Record<Day, string>;
  /** The clocks at the last capture. */
  clock: Moment | null;
  /** When the clock was last found to have been set by more than an hour. */
  jumps: ClockJump[];
}

export interface ClockJump {
  /** By the new clock, ISO-8601 UTC. */
  at: string;
  /** Ahead is positive. */
  byMs: number;
}

export function emptyState(): SenseState {
  return {
    version: STATE_VERSION,
    lastCaptureTs: null,
    cursors: {},
    sources: {},
    away: null,
    pending: [],
    rolled: {},
    untold: false,
    lostOn: null,
    zones: {},
    clock: null,
    jumps: [],
  };
}

/** The state in a text; undefined when the text is none (torn, edited, of something else). */
export function parseState(text: string, path: string): SenseState | undefined {
  const value = parseObject(text);
  if (value === undefined || typeof value['version'] !== 'number') return undefined;
  if (value['version'] > STATE_VERSION) {
    throw new StewardError('config', `${path} was written by a newer steward (format ${value['version']}).`, {
      hint: 'Upgrade steward; this version leaves the file alone.',
    });
  }
  const state = { ...emptyState(), ...value } as SenseState;
  const sound =
    isObject(state.cursors) &&
    isObject(state.sources) &&
    isObject(state.rolled) &&
    isObject(state.zones) &&
    (state.away === null || isObject(state.away)) &&
    typeof state.untold === 'boolean' &&
    (state.lostOn === null || (typeof state.lostOn === 'string' && isDay(state.lostOn))) &&
    (state.lastCaptureTs === null || typeof state.lastCaptureTs === 'string') &&
    Object.values(state.rolled).every((day) => isObject(day)) &&
    Object.values(state.zones).every((zone) => typeof zone === 'string' && isZone(zone)) &&
    (state.clock === null || isMoment(state.clock)) &&
    Array.isArray(state.jumps) &&
    state.jumps.every((jump) => isObject(jump) && isIso(jump.at) && typeof jump.byMs === 'number') &&
    Array.isArray(state.pending) &&
    state.pending.every(isPending);
  return sound ? state : undefined;
}

function isMoment(value: unknown): value is Moment {
  if (!isObject(value) || typeof value['wallMs'] !== 'number') return false;
  return value['boot'] === undefined || isBootTime(value['boot']);
}

/** Its `day` becomes part of a path. */
function isPending(value: unknown): value is PendingAppend {
  if (!isObject(value)) return false;
  const { day, offset, text } = value;
  return (
    typeof day === 'string' &&
    (day === 'late' || isDay(day)) &&
    typeof offset === 'number' &&
    Number.isSafeInteger(offset) &&
    offset >= 0 &&
    typeof text === 'string'
  );
}
