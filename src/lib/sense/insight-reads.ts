import { join } from 'node:path';

import { StewardError, toStewardError } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { type Clock, isIso } from '../platform/time/clock';
import { type Day, dayOf } from '../platform/time/time';
import type { ContentType, InsightText } from './insight-prompt';
import type { SenseStore } from './store';

/** The format of sense/insights/<date>.json. A newer one is left alone (decisions.md 9). */
const INSIGHT_VERSION = 1;

/** A good read. Times are ISO-8601 UTC. */
export interface InsightRead extends InsightText {
  /** The time of the first event that it describes. */
  since: string;
  /** The watermark: the time of the last one. Without a later event the next hour is idle, and is skipped. */
  until: string;
  /** How many events it describes: one that came late, with an earlier time, is news, too. */
  events: number;
  generatedAt: string;
  /** The model that ran; null where the command does not tell. */
  model: string | null;
}

/** The file of one day: the last good read, and what went wrong since. */
export interface InsightFile {
  read: InsightRead | null;
  failed: { at: string; reason: string } | null;
}

export const NO_INSIGHT: InsightFile = { read: null, failed: null };

export type InsightStore = ReturnType<typeof insightStore>;

export function insightStore(folder: string) {
  const pathOf = (day: Day): string => join(folder, `${day}.json`);
  return {
    /** Makes the folder, and removes the temp files of runs that were killed. */
    prepare(nowMs: number): void {
      ensureFolder(folder);
      sweepTemps(folder, TEMPS_STALE_MS, nowMs);
    },
    /** What is stored of a day; nothing of a file that is damaged. One of a newer steward is `config`. */
    read(day: Day): InsightFile {
      const path = pathOf(day);
      const value = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '');
      if (value === undefined || typeof value['version'] !== 'number') return NO_INSIGHT;
      if (value['version'] > INSIGHT_VERSION) {
        throw new StewardError(
          'config',
          `${path} was written by a newer steward (format ${value['version']}).`,
          { hint: 'Upgrade steward; this version leaves the file alone.' },
        );
      }
      return {
        read: isRead(value['read']) ? value['read'] : null,
        failed: isFailure(value['failed']) ? value['failed'] : null,
      };
    },
    write(day: Day, { read, failed }: InsightFile): void {
      const content = { version: INSIGHT_VERSION, date: day, read, failed };
      replaceFile(pathOf(day), `${JSON.stringify(content, null, 2)}\n`);
    },
  };
}

const MAX_BYTES = 1024 * 1024;
const TEMPS_STALE_MS = 3_600_000;

function isRead(value: unknown): value is InsightRead {
  if (!isObject(value)) return false;
  const { narrative, contentTypes, since, until, events, generatedAt, model } = value;
  return (
    typeof narrative === 'string' &&
    Array.isArray(contentTypes) &&
    contentTypes.length > 0 &&
    contentTypes.every(isContentType) &&
    [since, until, generatedAt].every(isIso) &&
    typeof events === 'number' &&
    (model === null || typeof model === 'string')
  );
}

function isContentType(value: unknown): value is ContentType {
  if (!isObject(value)) return false;
  const { label, share, evidence } = value;
  return typeof label === 'string' && typeof share === 'number' && typeof evidence === 'string';
}

function isFailure(value: unknown): value is { at: string; reason: string } {
  return isObject(value) && isIso(value['at']) && typeof value['reason'] === 'string';
}

/** What `GET /api/sense/insight` and `sense insight` answer (decisions.md 3: Insight). Times are ISO-8601 UTC. */
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
    return {
      available: true,
      stale: date !== today,
      date,
      narrative,
      contentTypes,
      since,
      generatedAt,
      model,
      ...(reason === undefined ? {} : { reason }),
    };
  }
  return {
    available: false,
    stale: false,
    date: today,
    narrative: null,
    contentTypes: [],
    since: null,
    generatedAt: null,
    model: null,
    reason: reason ?? 'no read has been made yet',
  };
}

/** A file that this version cannot read hides no read of another day. */
function fileOf(deps: InsightReadDeps, date: Day): InsightFile & { unreadable?: string } {
  try {
    return deps.insights.read(date);
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind !== 'config') throw error;
    return { ...NO_INSIGHT, unreadable: message.replace(/\.$/, '') };
  }
}
