import { hash } from 'node:crypto';

import type { Day } from '../platform/time/time';
import type { AppKind } from '../time/classify';
import type { DailyRecord } from '../time/record';
import type { DayRow } from '../usage/days';

/** The format version of the exchange folder. Readers skip and report files of a newer version. */
export const FORMAT = 1;

/** The contents of `machines/<id>/machine.json`. */
export interface MachineInfo {
  format: number;
  id: string;
  name: string;
  timezone: string;
  version: string;
  /** Time of the last input, to the minute, such as `2026-11-23T09:41Z`; null if no input was recorded. */
  lastInput: string | null;
  /** When the machine last published, such as `2026-11-23T09:42Z`. */
  publishedAt: string;
  /** Random text that differs each time this file is written. */
  run?: string;
  /** Ids of the machines that this machine has adopted. They get a new id, if they are still in use. */
  retired?: string[];
}

/** A period in which one application was in front. `from`, `to` and `input` are in epoch seconds. */
export interface PublishedSpan {
  from: number;
  to: number;
  app: string;
  kind: AppKind;
  repo?: string;
  /** Time of the last known input at or before `to`. */
  input: number | null;
}

/** A commit. `ts` is in epoch seconds. */
export interface PublishedCommit {
  /** Hash of the repository, the author and the second, which is the same on every machine that has the commit. */
  id: string;
  /** Hash of the change, because two machines may commit in the same second. Absent if it is unknown. */
  patch?: string;
  repo: string;
  ts: number;
  /** Set only if details are published. */
  subject?: string;
  path?: string;
}

/** The contents of `daily/<date>.json`. Session ids are hashed. */
export interface PublishedDay {
  format: number;
  record: DailyRecord;
  spans: PublishedSpan[];
  commits: PublishedCommit[];
}

/** A line of `sessions/<date>.jsonl`. */
export interface PublishedSession {
  id: string;
  assistant: string | null;
  repo: string | null;
  branch: string | null;
  /** Periods, with times in epoch seconds. `w` means working; `y` means waiting for you. */
  parts: [from: number, to: number, state: 'w' | 'y'][];
  /** `slug`, `title` and `issue` are set only if details are published. */
  slug?: string;
  title?: string;
  issue?: number;
}

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
  return hash('sha256', `steward\0${kind}\0${id}`).slice(0, 16);
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
