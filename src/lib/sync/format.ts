import { crypto } from '../platform/crypto';
import { isIso } from '../platform/time/clock';
import { isDay, type Day } from '../platform/time/time';
import { isMachineId } from '../platform/files/machine';
import { APP_KINDS } from '../time/classify';
import type { DailyRecord } from '../time/record';
import type { DayRow } from '../usage/days';
import {
  isText,
  isAmount,
  nullable,
  optional,
  listOf,
  where,
  shape,
  oneOf,
  type ShapeOf,
  type ShapeCheck,
} from '../platform/files/shape';

/** The format version of the exchange folder. Readers skip and report files of a newer version. */
export const FORMAT = 1;

const isMinute = where(
  isText,
  (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/.test(text) && !Number.isNaN(Date.parse(text)),
);

const READ = {
  id: where(isText, isMachineId),
  /** The other machine's `publishedAt`, and when that came, by the clock of the machine that read it. */
  news: isMinute,
  at: where(isText, isIso),
  /** The last day that could be read; null if there is none. */
  to: nullable(where(isText, isDay)),
};
/** What a machine has read of another one. */
export type MachineRead = ShapeOf<typeof READ>;

const INFO = {
  id: where(isText, isMachineId),
  name: isText,
  timezone: isText,
  version: isText,
  /** Time of the last input, to the minute, such as `2026-11-23T09:41Z`; null if no input was recorded. */
  lastInput: nullable(isMinute),
  /** When the machine last published, such as `2026-11-23T09:42Z`. */
  publishedAt: isMinute,
  /** Random text that differs each time this file is written. */
  run: optional(isText),
  /** What this machine has read of the others. Older versions don't write it. */
  read: optional(listOf(shape(READ))),
  /** When the machine stopped publishing; absent while it publishes. */
  left: optional(isMinute),
};
/** The contents of `machines/<id>/machine.json`. */
export type MachineInfo = ShapeOf<typeof INFO>;
export const isInfo = shape(INFO);

/** The last second of the year 9999, which the last day that steward can name ends with. */
const MAX_SECOND = 253_402_300_799;
const isSecond = where(isAmount, (value) => Number.isSafeInteger(value) && value <= MAX_SECOND);
export const isHash = where(isText, (value) => /^[0-9a-f]{16}$/.test(value));
const isName = nullable(isText);

const SPAN = {
  from: isSecond,
  to: isSecond,
  app: isText,
  kind: oneOf(APP_KINDS),
  repo: optional(isText),
  /** Time of the last known input at or before `to`. */
  input: nullable(isSecond),
};
/** A period in which one application was in front. `from`, `to` and `input` are in epoch seconds. */
export type PublishedSpan = ShapeOf<typeof SPAN>;
export const isSpan = where(shape(SPAN), ({ from, to }) => from < to);

const COMMIT = {
  /** Hash of the repository, the author and the second, which is the same on every machine that has the commit. */
  id: isHash,
  /** Hash of the change, because two machines may commit in the same second. Absent if it is unknown. */
  patch: optional(isHash),
  repo: isText,
  ts: isSecond,
  /** Set only if details are published. */
  subject: optional(isText),
  path: optional(isText),
};
/** A commit. `ts` is in epoch seconds. */
export type PublishedCommit = ShapeOf<typeof COMMIT>;
export const isCommit = shape(COMMIT);

/** The contents of `daily/<date>.json`. Session ids are hashed. */
export interface PublishedDay {
  format: number;
  record: DailyRecord;
  spans: PublishedSpan[];
  commits: PublishedCommit[];
}

/** A period in epoch seconds. `w` means working; `y` means waiting for you. */
type Part = [from: number, to: number, state: 'w' | 'y'];
function isPart(value: unknown): value is Part {
  const [from, to, state] = Array.isArray(value) ? (value as unknown[]) : [];
  return isSecond(from) && isSecond(to) && from < to && (state === 'w' || state === 'y');
}

const SESSION = {
  id: isHash,
  assistant: isName,
  repo: isName,
  branch: isName,
  parts: listOf(isPart),
  /** `slug`, `title` and `issue` are set only if details are published. */
  slug: optional(isText),
  title: optional(isText),
  issue: optional(isAmount),
};
/** A line of `sessions/<date>.jsonl`. */
export type PublishedSession = ShapeOf<typeof SESSION>;
export const isSession = shape(SESSION);

export const isUsageRow: ShapeCheck<DayRow> = shape({
  input: isAmount,
  output: isAmount,
  cacheRead: isAmount,
  cacheWrite: isAmount,
  cacheWrite1h: isAmount,
  cost: isAmount,
  assistant: isText,
  session: isText,
  repo: isName,
  model: isText,
});

/** What a machine publishes for a day. The three parts are always replaced together. */
export interface DaySet {
  day: PublishedDay | undefined;
  sessions: readonly PublishedSession[];
  usage: readonly DayRow[];
}

/** The folders that contain one file per day, with the file extension used in each folder. */
export const DAY_FILES = { daily: '.json', sessions: '.jsonl', usage: '.json' } as const;
export type DayKind = keyof typeof DAY_FILES;

/** A machine in the exchange folder, and the days that it has published. */
export interface ExchangeMachine {
  id: string;
  path: string;
  info: MachineInfo;
  days: Record<DayKind, Day[]>;
}

/** Returns a hash that is the same on every machine and doesn't reveal the id. */
export function hashedId(kind: 'commit' | 'session' | 'notice', id: string): string {
  return crypto().hash('sha256', `steward\0${kind}\0${id}`).slice(0, 16);
}

/** Returns how a commit is identified on other machines. `change` identifies the change on this machine. */
export function commitId(
  repo: string,
  change: string,
  patch?: string,
): Pick<PublishedCommit, 'id' | 'patch'> {
  const idOf = (text: string): string => hashedId('commit', `${repo.toLowerCase()}\n${text}`);
  if (patch === undefined) return { id: idOf(change) };
  // Each machine numbers the commits of a second in its own order.
  return { id: idOf(change.replace(/\.\d+$/, '')), patch: hashedId('commit', patch) };
}

export function hashedKey(key: string): string {
  return hashedId('notice', key);
}

/** Formats a time to the minute, such as `2026-11-23T09:41Z`. */
export function toMinute(iso: string): string {
  return `${iso.slice(0, 16)}Z`;
}
