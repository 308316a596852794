import { join } from 'node:path';
import * as v from 'valibot';

import { toStewardError } from '../errors';
import { replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { readObject, refuseNewer } from '../platform/files/object-file';
import { isIso, parseIso, type Clock } from '../platform/time/clock';
import { dayOf, type Day } from '../platform/time/time';
import type { ContentType } from './insight-prompt';
import type { SenseStore } from './store';

/** Format version of sense/insights/<date>.json. */
const INSIGHT_VERSION = 1;
const TEMPS_STALE_MS = 3_600_000;

const ISO = v.custom<string>(isIso);
const TYPE = v.object({ label: v.string(), share: v.number(), evidence: v.string() });

/** A stored insight. */
const READ = v.object({
  narrative: v.string(),
  contentTypes: v.pipe(v.array(TYPE), v.minLength(1)),
  /** Times of the first and last events that the insight is based on, and the number of events. */
  since: ISO,
  until: ISO,
  events: v.number(),
  generatedAt: ISO,
  /** Null if the model is unknown. */
  model: v.nullable(v.string()),
});
const FAILURE = v.object({ at: ISO, reason: v.string() });

export type InsightRead = v.InferOutput<typeof READ>;

/**
 * The contents of a day's insight file: the last insight, and the last failed build if it is newer than the
 * insight.
 */
export interface InsightFile {
  read: InsightRead | null;
  failed: v.InferOutput<typeof FAILURE> | null;
}

const NOTHING: InsightFile = { read: null, failed: null };

export type InsightStore = ReturnType<typeof insightStore>;

export function insightStore(folder: string) {
  const pathOf = (day: Day): string => join(folder, `${day}.json`);
  return {
    /** Creates the insights folder and removes stale temp files. */
    prepare(nowMs: number): void {
      ensureFolder(folder);
      sweepTemps(folder, TEMPS_STALE_MS, nowMs);
    },
    /** Reads a day's insight file and ignores damaged parts. Throws `config` for a newer format. */
    read(day: Day): InsightFile {
      const path = pathOf(day);
      const { version, read, failed } = readObject(path) ?? {};
      if (typeof version !== 'number') return NOTHING;
      refuseNewer(path, version, INSIGHT_VERSION);
      return { read: v.is(READ, read) ? read : null, failed: v.is(FAILURE, failed) ? failed : null };
    },
    write(day: Day, { read, failed }: InsightFile): void {
      const content = { version: INSIGHT_VERSION, date: day, read, failed };
      replaceFile(pathOf(day), `${JSON.stringify(content, null, 2)}\n`);
    },
  };
}

/** The data that `GET /api/sense/insight` and `sense insight` return. Times are in ISO 8601 format (UTC). */
export interface Insight {
  available: boolean;
  /** Whether the insight is from an earlier day. */
  stale: boolean;
  /** The insight's day, or today if there is no insight. */
  date: Day;
  narrative: string | null;
  /** Ordered by share, largest first. The shares add up to 1. */
  contentTypes: ContentType[];
  /** Time of the first event that the insight is based on. */
  since: string | null;
  generatedAt: string | null;
  /** Null if the model is unknown. */
  model: string | null;
  /** Why there is no insight, or why the last build failed. */
  reason?: string;
}

export interface InsightReadDeps {
  clock: Clock;
  timezone: string;
  store: Pick<SenseStore, 'insightDays'>;
  insights: Pick<InsightStore, 'read'>;
}

/** Returns when today's insight was last built, or failed to build; -Infinity if neither happened today. */
export function lastTryMs(deps: Pick<InsightReadDeps, 'clock' | 'timezone' | 'insights'>): number {
  const { read, failed } = deps.insights.read(dayOf(deps.clock.now(), deps.timezone));
  return Math.max(...[read?.generatedAt, failed?.at].map((at) => parseIso(at ?? '') ?? -Infinity));
}

/** Returns today's insight or, if there is none, the latest earlier insight, marked as stale. */
export function latestInsight(deps: InsightReadDeps): Insight {
  const today = dayOf(deps.clock.now(), deps.timezone);
  const days = deps.store.insightDays().filter((day) => day <= today);
  let reason: string | undefined;
  for (const date of days.reverse()) {
    const { read, failed, unreadable } = fileOf(deps, date);
    if (date === today) reason = unreadable ?? failed?.reason;
    if (read === null) continue;
    const { narrative, contentTypes, since, generatedAt, model } = read;
    const shown = { narrative, contentTypes, since, generatedAt, model };
    const why = reason === undefined ? {} : { reason };
    return { available: true, stale: date !== today, date, ...shown, ...why };
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
    reason: reason ?? 'no insight has been built yet',
  };
}

/** Reads a day's insight file. If the file has a newer format, returns a message instead of throwing. */
function fileOf({ insights }: InsightReadDeps, date: Day): InsightFile & { unreadable?: string } {
  try {
    return insights.read(date);
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind !== 'config') throw error;
    return { ...NOTHING, unreadable: message.replace(/\.$/, '') };
  }
}
