import { join } from 'node:path';

import { StewardError } from '../errors';
import type { UserArea } from '../config/user-area';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder, exists, listFolder, lstatOf, removeFile } from '../platform/files/folder';
import { completeAppend, planAppend, readLines, type Line } from '../platform/files/jsonl';
import { parseObject } from '../platform/files/json-object';
import { isDay, isDaySomewhere, type Day } from '../platform/time/time';
import type { SenseEvent } from './event';
import { lineReader, type OnEvent } from './log-line';
import type { DailyRecord } from './record';
import { parseRecord } from './record-file';
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
  /** The first lines that are no events, no more than are kept in quarantine. */
  bad: BadLine[];
  /** How many lines are no events. */
  badCount: number;
  /** The file's size, torn tail included; 0 when there is no file. */
  bytes: number;
}

export interface DayLog extends LogScan {
  events: SenseEvent[];
}

/** A day of captures is some hundred KiB; a log beyond this is damage, and is not read into memory. */
const MAX_DAY_BYTES = 64 * 1024 * 1024;

/** Is told of each record that cannot be read; the others are. */
export type OnDamaged = (error: StewardError) => void;

const RECORD_FILE = /^(\d{4}-\d{2}-\d{2})\.json$/;
const LOG_FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

/** The files of `sense/`: one place that knows their names and formats. */
export type SenseStore = ReturnType<typeof senseStore>;

export function senseStore(area: Pick<UserArea, 'root' | 'sense'>) {
  const { sense } = area;
  const lateLog = join(sense.quarantine, 'late.jsonl');
  const stateAside = join(sense.quarantine, 'state.json');
  const logOf = (day: LogName): string => (day === 'late' ? lateLog : join(sense.events, `${day}.jsonl`));
  const recordOf = (day: Day): string => join(sense.daily, `${day}.json`);
  const markdownOf = (day: Day): string => join(sense.daily, `${day}.md`);
  const insightOf = (day: Day): string => join(sense.insights, `${day}.json`);
  const quarantineOf = (day: Day): string => join(sense.quarantine, `${day}.jsonl`);

  return {
    logOf,
    /** What the reads depend on beside the logs: the state's file and the folder of the records. */
    statePath: sense.state,
    dailyPath: sense.daily,
    /** Makes the folders, private; refuses links in their place. */
    prepare(): void {
      ensureFolder(area.root, { allowLink: true });
      for (const folder of [sense.root, sense.events, sense.daily, sense.quarantine]) ensureFolder(folder);
    },

    /** The state, and whether it had to be started anew although events are stored (lost or damaged). */
    readState(): { state: SenseState; damaged: boolean; lost: boolean } {
      const text = readText(sense.state, { maxBytes: MAX_DAY_BYTES });
      const parsed = text === undefined ? undefined : parseState(text, sense.state);
      if (parsed !== undefined) return { state: parsed, damaged: false, lost: false };
      const lost = daysIn(sense.events, LOG_FILE).length > 0;
      return { state: emptyState(), damaged: text !== undefined, lost };
    },
    writeState(state: SenseState): void {
      replaceFile(sense.state, `${JSON.stringify(state)}\n`);
    },
    /** Keeps a damaged state for a person to look at. */
    setStateAside(): void {
      const text = readText(sense.state);
      if (text !== undefined) replaceFile(stateAside, text);
    },
    /** Removes the temp files of runs that were killed; a purge removes all, for they hold what was captured. */
    sweep(nowMs: number, olderThanMs = TEMPS_STALE_MS): void {
      for (const folder of [sense.root, sense.events, sense.daily, sense.quarantine, sense.insights])
        if (exists(folder)) sweepTemps(folder, olderThanMs, nowMs);
    },

    /** Days that have a raw log, oldest first. */
    loggedDays: (): Day[] => daysIn(sense.events, LOG_FILE),
    /** Days that have a record, oldest first. */
    recordedDays: (): Day[] => daysIn(sense.daily, RECORD_FILE),
    logBytes: (day: LogName): number | undefined => lstatOf(logOf(day))?.size,

    planAppend(day: LogName, events: readonly SenseEvent[]): PendingAppend {
      if (day === 'late' && (lstatOf(lateLog)?.size ?? 0) > MAX_LATE_BYTES) removeFile(lateLog);
      return {
        day,
        ...planAppend(
          logOf(day),
          events.map((event) => JSON.stringify(event)),
        ),
      };
    },
    completeAppend(plan: PendingAppend): void {
      completeAppend(logOf(plan.day), plan);
    },

    /**
     * Calls `onEvent` for each event of a log, with its time in ms. A last line without its line feed counts as
     * one: an editor left it so, or a crash cut it.
     */
    scanLog(day: LogName, onEvent: OnEvent): LogScan {
      const path = logOf(day);
      const size = lstatOf(path)?.size ?? 0;
      if (size > MAX_DAY_BYTES) {
        throw new StewardError(
          'config',
          `${path} is ${Math.round(size / 2 ** 20)} MiB; a day's log never is.`,
          {
            hint: 'Move the file away; the day keeps the record it has.',
          },
        );
      }
      const bad: BadLine[] = [];
      let badCount = 0;
      const reader = lineReader(day === 'late' ? undefined : isDaySomewhere(day));
      const inPlace = (source: string, start: number, lineEnd: number): boolean =>
        reader.readKnown(source, start, lineEnd, onEvent);
      const end = readLines(path, { tail: true, inPlace }, (line) => {
        const { bytes, text } = line;
        if (bytes === 0 || (text !== undefined && inPlace(text, 0, text.length))) return;
        const found = text === undefined ? { invalid: 'too long, or not UTF-8' } : reader.read(text);
        if (!('invalid' in found)) {
          onEvent(found.signal, found.ms, found.ts);
          return;
        }
        badCount += 1;
        if (bad.length < MAX_QUARANTINED_LINES) bad.push(badLine(line, found.invalid));
      });
      return { bad, badCount, bytes: end?.size ?? 0 };
    },
    /** The same, with all events in memory. */
    readLog(day: LogName): DayLog {
      const events: SenseEvent[] = [];
      const scan = this.scanLog(day, (signal, _, ts) => events.push({ ts, ...signal }));
      return { events, ...scan };
    },
    /** Lines of a day's log, whatever they hold and however large it is. */
    countLines(day: LogName): number {
      let lines = 0;
      readLines(logOf(day), { maxLineBytes: 0, tail: true }, () => (lines += 1));
      return lines;
    },
    /** Replaces a log with what is left of it (purge). */
    rewriteLog(day: LogName, events: readonly SenseEvent[]): void {
      replaceFile(logOf(day), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    },
    removeLog: (day: LogName): void => removeFile(logOf(day)),

    hasRecord: (day: Day): boolean => exists(recordOf(day)),
    /** The stored record, or undefined. A damaged one is told to `onDamaged`; without it, it is thrown as `config`. */
    readRecord(day: Day, onDamaged?: OnDamaged): DailyRecord | undefined {
      const path = recordOf(day);
      const text = readText(path);
      const record = text === undefined ? undefined : parseRecord(text);
      if (text === undefined || record !== undefined) return record;
      const error = new StewardError('config', `${path} is damaged: it is not a daily record.`, {
        hint: `Move it away. While the raw log of that day exists, "steward sense rollup ${day}" builds it again.`,
      });
      if (onDamaged === undefined) throw error;
      onDamaged(error);
      return undefined;
    },
    /** What stands where a day's record belongs: `empty`, nothing was seen; `open`, built before the day was over. */
    recordState(day: Day): 'none' | 'damaged' | 'empty' | 'open' | 'final' {
      const text = readText(recordOf(day));
      if (text === undefined) return 'none';
      const record = parseRecord(text);
      if (record === undefined) return 'damaged';
      return isEmpty(record) ? 'empty' : record.final ? 'final' : 'open';
    },
    /** JSON last: a record counts as stored when its JSON stands. */
    writeRecord(record: DailyRecord, markdown: string): void {
      replaceFile(markdownOf(record.date), markdown);
      replaceFile(recordOf(record.date), `${JSON.stringify(record, null, 2)}\n`);
    },
    removeRecord(day: Day): void {
      removeFile(recordOf(day));
      removeFile(markdownOf(day));
    },

    /** The bad lines of a day, the same bytes however often it is rolled. */
    writeQuarantine(day: Day, bad: readonly BadLine[]): void {
      if (bad.length === 0) removeFile(quarantineOf(day));
      else replaceFile(quarantineOf(day), bad.map((line) => `${JSON.stringify(line)}\n`).join(''));
    },
    quarantinedDays: (): Day[] => daysIn(sense.quarantine, LOG_FILE),
    removeQuarantine: (day: Day): void => removeFile(quarantineOf(day)),
    /** Removes the copy of a damaged state. */
    removeStateAside: (): void => removeFile(stateAside),
    /** Days that have a content-type read, oldest first. */
    insightDays: (): Day[] => daysIn(sense.insights, RECORD_FILE),
    /** Does the file of a day hold a read? A failed build leaves a file without one; a damaged file may hold one. */
    hasRead: (day: Day): boolean => parseObject(readText(insightOf(day)) ?? '')?.['read'] !== null,
    removeInsight: (day: Day): void => removeFile(insightOf(day)),
  };
}

const MAX_QUARANTINED_LINES = 1000;
const MAX_LATE_BYTES = 4 * 1024 * 1024;
const TEMPS_STALE_MS = 3_600_000;

function daysIn(folder: string, pattern: RegExp): Day[] {
  const days: Day[] = [];
  for (const name of listFolder(folder)) {
    const day = pattern.exec(name)?.[1];
    if (day !== undefined && isDay(day)) days.push(day);
  }
  return days.sort();
}

function badLine({ offset, bytes, text }: Line, reason: string): BadLine {
  return { offset, bytes, reason, ...(text === undefined ? {} : { text: text.slice(0, 500) }) };
}

function isEmpty({ totalMinutes, commits, sessions }: DailyRecord): boolean {
  return totalMinutes === 0 && commits.count === 0 && sessions.count === 0;
}
