import { dayOf, type Day } from '../platform/time/time';
import { toStewardError } from '../errors';
import type { Clock } from '../platform/time/clock';
import type { ContentType } from './insight-reply';
import type { InsightFile, InsightStore } from './insight-store';
import { NO_INSIGHT } from './insight-store';
import type { SenseStore } from './store';

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
