import { join } from 'node:path';

import { StewardError } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { isIso } from '../platform/time/clock';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import type { Day } from '../platform/time/time';
import type { ContentType, InsightText } from './insight-reply';

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
