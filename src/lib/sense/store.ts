import { join } from 'node:path';

import type { SenseConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder, exists, listFolder, lstatOf, removeFile } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { completeAppend, planAppend, readLines } from '../platform/files/jsonl';
import { isDay, isDaySomewhere, type Day } from '../platform/time/time';
import { readEventLine, type SenseEvent } from './event';
import { isEmptyRecord, parseRecord, type DailyRecord } from './record';
import { emptyState, parseState, type LogName, type PendingAppend, type SenseState } from './state';

/** A line of a day's log that is no event, as it goes to quarantine. */
export interface BadLine {
  offset: number;
  bytes: number;
  reason: string;
  /** Its first 500 characters; left out when it is not text or too long to be an event. */
  text?: string;
}

/** What one day's raw log holds beside its events. */
export interface LogScan {
  /** The first lines that are no events, at most 1000. */
  bad: BadLine[];
  /** How many lines are no events. */
  badCount: number;
  /** The file's size, torn tail included; 0 when there is no file. */
  bytes: number;
}

/** Gets an event of a log, and its time in ms. */
export type OnEvent = (event: SenseEvent, ms: number) => void;
/** Gets each record that cannot be read; the others are. */
export type OnDamaged = (error: StewardError) => void;

/** A day of captures is some hundred KiB; a log beyond this is damage, and is not read into memory. */
const MAX_DAY_BYTES = 64 * 1024 * 1024;
const MAX_QUARANTINED_LINES = 1000;
const MAX_LATE_BYTES = 4 * 1024 * 1024;
const TEMPS_STALE_MS = 3_600_000;

type Area = Pick<UserArea, 'root' | 'sense'>;

/** The files of `sense/`: the one place that knows their names and formats. */
export type SenseStore = ReturnType<typeof senseStore>;

export function senseStore(area: Area) {
  const { sense } = area;
  const logOf = (day: LogName): string =>
    day === 'late' ? join(sense.quarantine, 'late.jsonl') : join(sense.events, `${day}.jsonl`);
  const stateAside = join(sense.quarantine, 'state.json');
  const recordOf = (day: Day, type = 'json'): string => join(sense.daily, `${day}.${type}`);
  const insightOf = (day: Day): string => join(sense.insights, `${day}.json`);
  const quarantineOf = (day: Day): string => join(sense.quarantine, `${day}.jsonl`);
  return {
    logOf,
    /** What the reads depend on beside the logs: the state's file and the folder of the records. */
    statePath: sense.state,
    dailyPath: sense.daily,
    /** Makes the folders, private; refuses links in their place. */
    prepare: (): void => prepare(area),
    readState: () => readState(sense),
    writeState: (state: SenseState): void => replaceFile(sense.state, `${JSON.stringify(state)}\n`),
    /** Keeps a damaged state for a person to look at. */
    setStateAside: (): void => replaceFile(stateAside, readText(sense.state) ?? ''),
    removeStateAside: (): void => removeFile(stateAside),
    sweep: (nowMs: number, olderThanMs?: number): void => sweep(sense, nowMs, olderThanMs),

    loggedDays: (): Day[] => daysIn(sense.events, '.jsonl'),
    logBytes: (day: LogName): number | undefined => lstatOf(logOf(day))?.size,
    planAppend: (day: LogName, events: readonly SenseEvent[]): PendingAppend =>
      planLog(day, logOf(day), events),
    completeAppend: (plan: PendingAppend): void => completeAppend(logOf(plan.day), plan),
    scanLog: (day: LogName, onEvent: OnEvent): LogScan => scanLog(day, logOf(day), onEvent),
    readLog: (day: LogName) => readLog(day, logOf(day)),
    countLines: (day: LogName): number => countLines(logOf(day)),
    rewriteLog: (day: LogName, events: readonly SenseEvent[]): void =>
      replaceFile(logOf(day), asLines(events)),
    removeLog: (day: LogName): void => removeFile(logOf(day)),

    recordedDays: (): Day[] => daysIn(sense.daily, '.json'),
    hasRecord: (day: Day): boolean => exists(recordOf(day)),
    readRecord: (day: Day, onDamaged?: OnDamaged) => readRecord(recordOf(day), day, onDamaged),
    recordState: (day: Day): RecordState => recordState(recordOf(day)),
    /** JSON last: a record counts as stored when its JSON stands. */
    writeRecord(record: DailyRecord, markdown: string): void {
      replaceFile(recordOf(record.date, 'md'), markdown);
      replaceFile(recordOf(record.date), `${JSON.stringify(record, null, 2)}\n`);
    },
    removeRecord(day: Day): void {
      removeFile(recordOf(day));
      removeFile(recordOf(day, 'md'));
    },

    quarantinedDays: (): Day[] => daysIn(sense.quarantine, '.jsonl'),
    writeQuarantine: (day: Day, bad: readonly BadLine[]): void => writeQuarantine(quarantineOf(day), bad),
    removeQuarantine: (day: Day): void => removeFile(quarantineOf(day)),

    insightDays: (): Day[] => daysIn(sense.insights, '.json'),
    /** Does the file of a day hold a read? A failed build leaves a file without one; a damaged file may hold one. */
    hasRead: (day: Day): boolean => parseObject(readText(insightOf(day)) ?? '')?.['read'] !== null,
    removeInsight: (day: Day): void => removeFile(insightOf(day)),
  };
}

function prepare({ root, sense }: Area): void {
  ensureFolder(root, { allowLink: true });
  for (const folder of [sense.root, sense.events, sense.daily, sense.quarantine]) ensureFolder(folder);
}

/** The state, and whether it had to be begun anew although events are stored (lost or damaged). */
function readState(sense: Area['sense']): { state: SenseState; damaged: boolean; lost: boolean } {
  const text = readText(sense.state, { maxBytes: MAX_DAY_BYTES });
  const state = text === undefined ? undefined : parseState(text, sense.state);
  if (state !== undefined) return { state, damaged: false, lost: false };
  return {
    state: emptyState(),
    damaged: text !== undefined,
    lost: daysIn(sense.events, '.jsonl').length > 0,
  };
}

/** Removes the temp files of killed runs; a purge removes all, for they hold what was captured. */
function sweep(sense: Area['sense'], nowMs: number, olderThanMs = TEMPS_STALE_MS): void {
  for (const folder of [sense.root, sense.events, sense.daily, sense.quarantine, sense.insights])
    if (exists(folder)) sweepTemps(folder, olderThanMs, nowMs);
}

/** The days that have a file, oldest first. */
function daysIn(folder: string, type: '.json' | '.jsonl'): Day[] {
  return listFolder(folder)
    .filter((name) => name.endsWith(type))
    .map((name) => name.slice(0, -type.length))
    .filter(isDay)
    .sort();
}

function planLog(day: LogName, path: string, events: readonly SenseEvent[]): PendingAppend {
  if (day === 'late' && (lstatOf(path)?.size ?? 0) > MAX_LATE_BYTES) removeFile(path);
  const lines = events.map((event) => JSON.stringify(event));
  return { day, ...planAppend(path, lines) };
}

/** A last line without its line feed counts as one: an editor left it so, or a crash cut it. */
function scanLog(day: LogName, path: string, onEvent: OnEvent): LogScan {
  const size = lstatOf(path)?.size ?? 0;
  if (size > MAX_DAY_BYTES) {
    throw new StewardError('config', `${path} is ${Math.round(size / 2 ** 20)} MiB; a day's log never is.`, {
      hint: 'Move the file away; the day keeps the record it has.',
    });
  }
  const belongs = day === 'late' ? () => true : isDaySomewhere(day);
  const scan: LogScan = { bad: [], badCount: 0, bytes: 0 };
  const end = readLines(path, { tail: true }, ({ offset, bytes, text }) => {
    if (bytes === 0) return;
    const event = text === undefined ? { invalid: 'too long, or not UTF-8' } : readEventLine(text);
    const ms = 'invalid' in event ? 0 : Date.parse(event.ts);
    if (!('invalid' in event) && belongs(ms)) {
      onEvent(event, ms);
      return;
    }
    scan.badCount += 1;
    if (scan.bad.length >= MAX_QUARANTINED_LINES) return;
    const reason = 'invalid' in event ? event.invalid : 'of another day';
    scan.bad.push({ offset, bytes, reason, ...(text === undefined ? {} : { text: text.slice(0, 500) }) });
  });
  return { ...scan, bytes: end?.size ?? 0 };
}

/** The same with all events in memory. */
function readLog(day: LogName, path: string): LogScan & { events: SenseEvent[] } {
  const events: SenseEvent[] = [];
  return { ...scanLog(day, path, (event) => events.push(event)), events };
}

/** The bad lines of a day, the same bytes however often it is rolled. */
function writeQuarantine(path: string, bad: readonly BadLine[]): void {
  if (bad.length === 0) removeFile(path);
  else replaceFile(path, asLines(bad));
}

/** Counts lines, whatever they hold and however large the log is. */
function countLines(path: string): number {
  let lines = 0;
  readLines(path, { maxLineBytes: 0, tail: true }, () => (lines += 1));
  return lines;
}

function asLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** The stored record, or undefined. A damaged one goes to `onDamaged`, or is thrown as `config`. */
function readRecord(path: string, day: Day, onDamaged?: OnDamaged): DailyRecord | undefined {
  const text = readText(path);
  const record = text === undefined ? undefined : parseRecord(text);
  if (text === undefined || record !== undefined) return record;
  const error = new StewardError('config', `${path} is damaged: it is not a daily record.`, {
    hint: `Move it away. While the raw log of that day exists, "steward sense rollup ${day}" builds it again.`,
  });
  if (onDamaged === undefined) throw error;
  onDamaged(error);
  return undefined;
}

/** `empty`: nothing was seen. `open`: built before the day was over. */
type RecordState = 'none' | 'damaged' | 'empty' | 'open' | 'final';

function recordState(path: string): RecordState {
  const text = readText(path);
  const record = text === undefined ? undefined : parseRecord(text);
  if (record === undefined) return text === undefined ? 'none' : 'damaged';
  return isEmptyRecord(record) ? 'empty' : record.final ? 'final' : 'open';
}

export interface InitResult {
  /** The configuration file. */
  config: string;
  /** False: it was there, and is as it was. */
  created: boolean;
}

/**
 * Writes the default configuration under the user area; what is there stays as it is.
 *
 * @param templates the folder of the templates that the package brings
 */
export function initSense(
  deps: { area: Pick<UserArea, 'sense' | 'config'>; store: SenseStore },
  defaults: SenseConfig,
  templates: string,
): InitResult {
  const { config: path, classify } = deps.area.sense;
  deps.store.prepare();
  for (const [name, to] of [
    ['classify.yaml', classify],
    ['config.yaml', deps.area.config],
  ] as const) {
    const text = readText(join(templates, name));
    if (text !== undefined && !exists(to)) replaceFile(to, text);
  }
  if (exists(path)) return { config: path, created: false };
  const { enabled, pollIntervalSec, sources, repos, retentionDays } = defaults;
  const content = { version: 1, enabled, pollIntervalSec, sources, repos, retentionDays };
  replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
  return { config: path, created: true };
}
