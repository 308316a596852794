import { join } from 'node:path';
import * as v from 'valibot';

import { StewardError, toStewardError } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { isIso, type Clock } from '../platform/time/clock';
import { dayOf, type Day } from '../platform/time/time';
import type { ContentType } from './insight-prompt';
import type { SenseStore } from './store';

/** The format of sense/insights/<date>.json. A newer one is left alone. */
const INSIGHT_VERSION = 1;
const MAX_BYTES = 1024 * 1024;
const TEMPS_STALE_MS = 3_600_000;

const ISO = v.custom<string>(isIso);
const TYPE = v.object({ label: v.string(), share: v.number(), evidence: v.string() });

/** A good read. Times are ISO-8601 UTC. */
const READ = v.object({
  narrative: v.string(),
  contentTypes: v.pipe(v.array(TYPE), v.minLength(1)),
  /** The time of the first event that it describes. */
  since: ISO,
  /** The watermark: the time of the last one. Without a later event the next hour is idle, and is skipped. */
  until: ISO,
  /** How many events it describes: one that came late, with an earlier time, is news, too. */
  events: v.number(),
  generatedAt: ISO,
  /** The model that ran; null where the command does not tell. */
  model: v.nullable(v.string()),
});
const FAILURE = v.object({ at: ISO, reason: v.string() });

export type InsightRead = v.InferOutput<typeof READ>;

/** The file of one day: the last good read, and what went wrong since. */
export interface InsightFile {
  read: InsightRead | null;
  failed: v.InferOutput<typeof FAILURE> | null;
}

const NOTHING: InsightFile = { read: null, failed: null };

export type InsightStore = ReturnType<typeof insightStore>;

export function insightStore(folder: string) {
  const pathOf = (day: Day): string => join(folder, `${day}.json`);
  return {
    /** Makes the folder, and removes the temp files of killed runs. */
    prepare(nowMs: number): void {
      ensureFolder(folder);
      sweepTemps(folder, TEMPS_STALE_MS, nowMs);
    },
    /** What is stored of a day; nothing of a file that is damaged. One of a newer steward is `config`. */
    read(day: Day): InsightFile {
      const path = pathOf(day);
      const { version, read, failed } = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '') ?? {};
      if (typeof version !== 'number') return NOTHING;
      if (version > INSIGHT_VERSION) {
        throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
          hint: 'Upgrade steward; this version leaves the file alone.',
        });
      }
      return { read: v.is(READ, read) ? read : null, failed: v.is(FAILURE, failed) ? failed : null };
    },
    write(day: Day, { read, failed }: InsightFile): void {
      const content = { version: INSIGHT_VERSION, date: day, read, failed };
      replaceFile(pathOf(day), `${JSON.stringify(content, null, 2)}\n`);
    },
  };
}

/** What `GET /api/sense/insight` and `sense insight` answer. Times are ISO-8601 UTC. */
export interface Insight {
  available: boolean;
  /** The read is of an earlier day: there is none of today. */
  stale: boolean;
  /** The day that the read is of; today where there is none. */
  date: Day;
  narrative: string | null;
  /** The largest share first; the shares add up to 1. */
  contentTypes: ContentType[];
  /** The time of the first event that it describes. */
  since: string | null;
  generatedAt: string | null;
  /** The model that ran, where the assistant tells. */
  model: string | null;
  /** Why there is no read; beside one, what went wrong when it should have been replaced. */
  reason?: string;
}

export interface InsightReadDeps {
  clock: Clock;
  timezone: string;
  store: Pick<SenseStore, 'insightDays'>;
  insights: Pick<InsightStore, 'read'>;
}

/**
 * The latest content-type read: today's, else the latest earlier one as stale. A failure never hides a good
 * read. Starts no process and writes nothing.
 */
export function latestInsight(deps: InsightReadDeps): Insight {
  const today = dayOf(deps.clock.now(), deps.timezone);
  const days = deps.store.insightDays().filter((day) => day <= today);
  let reason: string | undefined;
  for (const date of days.reverse()) {
    const { read, failed, unreadable } = fileOf(deps, date);
    // Of an earlier day only what it has to show counts; its failures are past.
    if (date === today) reason = unreadable ?? failed?.reason;
    if (read === null) continue;
    const { narrative, contentTypes, since, generatedAt, model } = read;
    const shown = { narrative, contentTypes, since, generatedAt, model };
    const why = reason === undefined ? {} : { reason };
    return { available: true, stale: date !== today, date, ...shown, ...why };
  }
  return {
    ...{ available: false, stale: false, date: today, narrative: null, contentTypes: [] },
    ...{ since: null, generatedAt: null, model: null },
    reason: reason ?? 'no read has been made yet',
  };
}

/** A file that this version cannot read hides no read of another day. */
function fileOf({ insights }: InsightReadDeps, date: Day): InsightFile & { unreadable?: string } {
  try {
    return insights.read(date);
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind !== 'config') throw error;
    return { ...NOTHING, unreadable: message.replace(/\.$/, '') };
  }
}
