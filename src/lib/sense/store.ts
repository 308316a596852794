import { dirname, join } from 'node:path';

import type { Machine, UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { createFile, readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder, exists, lstatOf, removeFile } from '../platform/files/folder';
import { daysIn } from '../platform/files/day-files';
import { completeAppend, planAppend, readLines } from '../platform/files/jsonl';
import { copiesOf } from '../platform/files/conflict-copies';
import { readObject } from '../platform/files/object-file';
import { dayOf, isDaySomewhere, type Day } from '../platform/time/time';
import { readEventLine, type SenseEvent } from '../time/event';
import { isEmptyRecord, parseRecord, type DailyRecord } from '../time/record';
import { emptyState, parseState, type LogName, type PendingAppend, type SenseState } from './state';

/** An invalid line in an event log, as stored in the quarantine. */
export interface BadLine {
  offset: number;
  bytes: number;
  reason: string;
  /** The first 500 characters of the line. Absent if the line exceeds the size limit or isn't UTF-8. */
  text?: string;
}

/** Statistics about an event log. */
export interface LogScan {
  /** The first 1000 invalid lines. */
  bad: BadLine[];
  badCount: number;
  /** File size, or 0 if the file doesn't exist. */
  bytes: number;
}

export type OnEvent = (event: SenseEvent, ms: number) => void;
/** Called with an error for each damaged record. */
export type OnDamaged = (error: StewardError) => void;

/** Maximum size of a log. A normal day's log is a few hundred KiB in size. */
const MAX_DAY_BYTES = 64 * 1024 * 1024;
const MAX_QUARANTINED_LINES = 1000;
const MAX_LATE_BYTES = 4 * 1024 * 1024;
const STALE_TEMP_MS = 3_600_000;

/** Reads and writes the files in `sense/`. Only this module knows their names and formats. */
export type SenseStore = ReturnType<typeof senseStore>;

export function senseStore(area: Pick<UserArea, 'root' | 'sense'>) {
  return { ...stateFiles(area), ...logFiles(area.sense), ...recordFiles(area.sense) };
}

function stateFiles({ root, sense }: Pick<UserArea, 'root' | 'sense'>) {
  const damagedState = join(sense.quarantine, 'state.json');
  return {
    statePath: sense.state,
    /** Creates the private folders. Throws if a folder is a symlink. */
    prepare(): void {
      ensureFolder(root, { allowLink: true });
      for (const folder of [sense.root, sense.events, sense.daily, sense.quarantine]) ensureFolder(folder);
    },
    readState: () => readState(sense),
    writeState: (state: SenseState): void => replaceFile(sense.state, `${JSON.stringify(state)}\n`),
    quarantineState: (): void => replaceFile(damagedState, readText(sense.state) ?? ''),
    removeQuarantinedState: (): void => removeFile(damagedState),
    /** Removes stale temp files. A purge removes all temp files, because they may contain captured data. */
    sweep(nowMs: number, olderThanMs = STALE_TEMP_MS): void {
      for (const folder of [sense.root, sense.events, sense.daily, sense.quarantine, sense.insights])
        if (exists(folder)) sweepTemps(folder, olderThanMs, nowMs);
    },
  };
}

function logFiles(sense: UserArea['sense']) {
  const logOf = (day: LogName): string =>
    day === 'late' ? join(sense.quarantine, 'late.jsonl') : join(sense.events, `${day}.jsonl`);
  const quarantineOf = (day: Day): string => join(sense.quarantine, `${day}.jsonl`);
  return {
    logOf,
    loggedDays: (): Day[] => daysIn(sense.events, '.jsonl'),
    logBytes: (day: LogName): number | undefined => lstatOf(logOf(day))?.size,
    planAppend(day: LogName, events: readonly SenseEvent[]): PendingAppend {
      const path = logOf(day);
      if (day === 'late' && (lstatOf(path)?.size ?? 0) > MAX_LATE_BYTES) removeFile(path);
      const lines = events.map((event) => JSON.stringify(event));
      return { day, ...planAppend(path, lines) };
    },
    completeAppend: (plan: PendingAppend): void => completeAppend(logOf(plan.day), plan),
    scanLog: (day: LogName, onEvent: OnEvent): LogScan => scanLog(day, logOf(day), onEvent),
    readLog(day: LogName): LogScan & { events: SenseEvent[] } {
      const events: SenseEvent[] = [];
      return { ...scanLog(day, logOf(day), (event) => events.push(event)), events };
    },
    /** Returns the number of lines in a log, including invalid lines. */
    countLines(day: LogName): number {
      let lines = 0;
      readLines(logOf(day), { maxLineBytes: 0, tail: true }, () => (lines += 1));
      return lines;
    },
    /** Replaces a log and removes its conflict copies, which may contain the same events. */
    rewriteLog(day: LogName, events: readonly SenseEvent[]): void {
      replaceFile(logOf(day), asLines(events));
      copiesOf(logOf(day)).forEach(removeFile);
    },
    removeLog: (day: LogName): void => removeFile(logOf(day)),
    removeCopies: (day: LogName): void => copiesOf(logOf(day)).forEach(removeFile),
    quarantinedDays: (): Day[] => daysIn(sense.quarantine, '.jsonl'),
    writeQuarantine(day: Day, bad: readonly BadLine[]): void {
      if (bad.length === 0) removeFile(quarantineOf(day));
      else replaceFile(quarantineOf(day), asLines(bad));
    },
    removeQuarantine: (day: Day): void => removeFile(quarantineOf(day)),
  };
}

function recordFiles(sense: UserArea['sense']) {
  const recordOf = (day: Day, type = 'json'): string => join(sense.daily, `${day}.${type}`);
  const insightOf = (day: Day): string => join(sense.insights, `${day}.json`);
  return {
    dailyPath: sense.daily,
    recordedDays: (): Day[] => daysIn(sense.daily),
    hasRecord: (day: Day): boolean => exists(recordOf(day)),
    readRecord: (day: Day, onDamaged?: OnDamaged) => readRecord(recordOf(day), day, onDamaged),
    recordState: (day: Day): RecordState => recordState(recordOf(day)),
    /** Writes the JSON file last, because its existence means that the record is complete. */
    writeRecord(record: DailyRecord, markdown: string): void {
      replaceFile(recordOf(record.date, 'md'), markdown);
      replaceFile(recordOf(record.date), recordJson(record));
    },
    removeRecord(day: Day): void {
      removeFile(recordOf(day));
      removeFile(recordOf(day, 'md'));
    },
    insightDays: (): Day[] => daysIn(sense.insights),
    /**
     * Returns true if a day's insight file is damaged or contains an insight, rather than only a failed
     * build.
     */
    hasInsight: (day: Day): boolean => readObject(insightOf(day))?.['read'] !== null,
    removeInsight: (day: Day): void => removeFile(insightOf(day)),
  };
}

/**
 * Formats the record as JSON. Keeping the ledger on one line halves the time it takes to read a year of
 * records.
 */
function recordJson(record: DailyRecord): string {
  const text = JSON.stringify({ ...record, ledger: 0 }, null, 2);
  // The text `"ledger": 0` can't occur in a string value, because JSON escapes the quotes.
  return `${text.replace('"ledger": 0', () => `"ledger": ${JSON.stringify(record.ledger)}`)}\n`;
}

/** Reads the state. `lost` means that events exist, but the state is missing or damaged. */
function readState(sense: UserArea['sense']): { state: SenseState; damaged: boolean; lost: boolean } {
  const text = readText(sense.state, { maxBytes: MAX_DAY_BYTES });
  const state = text === undefined ? undefined : parseState(text, sense.state);
  if (state !== undefined) return { state, damaged: false, lost: false };
  const lost = daysIn(sense.events, '.jsonl').length > 0;
  return { state: emptyState(), damaged: text !== undefined, lost };
}

/** Reads a log line by line, including an incomplete last line. */
function scanLog(day: LogName, path: string, onEvent: OnEvent): LogScan {
  const size = lstatOf(path)?.size ?? 0;
  if (size > MAX_DAY_BYTES) {
    throw new StewardError(
      'config',
      `${path} is ${Math.round(size / 2 ** 20)} MiB, too large for an event log.`,
      {
        hint: "Move or rename the file. That day's record is not affected.",
      },
    );
  }
  const isOfDay = day === 'late' ? () => true : isDaySomewhere(day);
  const scan: LogScan = { bad: [], badCount: 0, bytes: 0 };
  const end = readLines(path, { tail: true }, ({ offset, bytes, text }) => {
    if (bytes === 0) return;
    const event = text === undefined ? { invalid: 'too long, or not UTF-8' } : readEventLine(text);
    const ms = 'invalid' in event ? 0 : Date.parse(event.ts);
    if (!('invalid' in event) && isOfDay(ms)) {
      onEvent(event, ms);
      return;
    }
    scan.badCount += 1;
    if (scan.bad.length >= MAX_QUARANTINED_LINES) return;
    const reason = 'invalid' in event ? event.invalid : 'from another day';
    scan.bad.push({ offset, bytes, reason, ...(text === undefined ? {} : { text: text.slice(0, 500) }) });
  });
  return { ...scan, bytes: end?.size ?? 0 };
}

function asLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/**
 * Reads a record. Passes the error for a damaged record to `onDamaged`, or throws `config` if `onDamaged` is
 * not set.
 */
function readRecord(path: string, day: Day, onDamaged?: OnDamaged): DailyRecord | undefined {
  const text = readText(path);
  const record = text === undefined ? undefined : parseRecord(text);
  if (text === undefined || record !== undefined) return record;
  const error = new StewardError('config', `${path} is not a valid daily record.`, {
    hint: `Move or rename the file, then run "steward sense rollup ${day}" if its event log still exists.`,
  });
  if (onDamaged === undefined) throw error;
  onDamaged(error);
  return undefined;
}

/** `open` means that the record was built before the day was over. */
type RecordState = 'none' | 'damaged' | 'empty' | 'open' | 'final';

function recordState(path: string): RecordState {
  const text = readText(path);
  const record = text === undefined ? undefined : parseRecord(text);
  if (record === undefined) return text === undefined ? 'none' : 'damaged';
  return isEmptyRecord(record) ? 'empty' : record.final ? 'final' : 'open';
}

export interface InitResult {
  config: string;
  created: boolean;
}

/** Writes the templates and the mark that sense is set up. Doesn't change existing files. */
export function initSense(
  { area, store }: { area: Pick<UserArea, 'sense' | 'config'>; store: SenseStore },
  templates: string,
): InitResult {
  store.prepare();
  ensureFolder(dirname(area.sense.setUp));
  for (const [name, path] of [
    ['classify.yaml', area.sense.classify],
    ['config.yaml', area.config],
  ] as const) {
    const text = readText(join(templates, name));
    if (text !== undefined && !exists(path)) replaceFile(path, text);
  }
  const created = !area.sense.isSetUp;
  createFile(area.sense.setUp, '{"version":1}\n');
  return { config: area.config, created };
}

/** Returns the time zone of today's record; undefined if nothing has been recorded today. */
export function zoneOfToday({ area, clock }: Pick<Machine, 'area' | 'clock'>, zone: string) {
  return senseStore(area).readState().state.zones[dayOf(clock.now(), zone)];
}
