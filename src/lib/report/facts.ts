import { toStewardError } from '../errors';
import type { Day } from '../platform/time/time';
import { changeOf, type SenseEvent } from '../time/event';
import type { UnionRecord } from '../time/machines/model';
import { daysOf, type Period } from '../platform/time/period';
import type { DailyRecord } from '../time/record';
import type { CommitFacts, DayFacts } from './model';

/** Reads this machine's days. */
interface OwnDays {
  record: (day: Day) => DailyRecord | undefined;
  /** Returns a day's events, or undefined if the event log was deleted. */
  events: (day: Day) => readonly SenseEvent[] | undefined;
}

/** Returns the facts of this machine's days. Adds a note for each unreadable day. */
export function ownFacts(own: OwnDays, period: Period, notes: string[]): DayFacts[] {
  return daysOf(period).flatMap((day): DayFacts[] => {
    try {
      const record = own.record(day);
      if (record === undefined) return [];
      const facts = { ...timeOf(record), ...workOf(record) };
      const events = own.events(day);
      return [events === undefined ? facts : { ...facts, raw: rawOf(events) }];
    } catch (error) {
      notes.push(`${day}: ${toStewardError(error).message}`);
      return [];
    }
  });
}

/**
 * Returns the facts of merged days, with the unpublished details of this machine's days. `publishedId` returns
 * a session's id in merged records.
 */
export function unionFacts(
  records: Iterable<UnionRecord>,
  own: readonly DayFacts[],
  publishedId: (session: string) => string,
): DayFacts[] {
  const ownDays = new Map(own.map((day) => [day.date, day]));
  return [...records].map((record) => unionDay(record, ownDays.get(record.date), publishedId));
}

function unionDay(
  record: UnionRecord,
  own: DayFacts | undefined,
  publishedId: (session: string) => string,
): DayFacts {
  const { commits, sessions } = workOf(record);
  const known = new Set(own?.sessions.map(publishedId));
  const others = sessions.filter((id) => !known.has(id));
  const all = { ...timeOf(record), commits, sessions: [...(own?.sessions ?? []), ...others] };
  if (own !== undefined && own.raw === undefined) return all;
  const counts = new Map(own?.commits.map((row) => [row.repo, row.commits]));
  const elsewhere = commits.map(({ repo, commits: count }) => ({
    repo,
    commits: count - (counts.get(repo) ?? 0),
  }));
  return {
    ...all,
    raw: own?.raw ?? { commits: [], activity: [] },
    elsewhere: elsewhere.filter(({ commits: count }) => count > 0),
  };
}

function timeOf({ date, apps, totalMinutes, creationMinutes, consumptionMinutes, backfilled }: DailyRecord) {
  const isBackfilled = backfilled === true ? { backfilled } : {};
  return { date, apps, totalMinutes, creationMinutes, consumptionMinutes, ...isBackfilled };
}

function workOf({ commits, sessions }: DailyRecord): Pick<DayFacts, 'commits' | 'sessions'> {
  return { commits: commits.repos, sessions: sessions.items.map(({ session }) => session) };
}

function rawOf(events: readonly SenseEvent[]): NonNullable<DayFacts['raw']> {
  return {
    commits: events.filter(({ type }) => type === 'git-commit').map(commitOf),
    activity: events.flatMap(({ type, ts, repo, detail }) => {
      const session = detail?.['session'];
      if (type !== 'agent-session' || repo === undefined || typeof session !== 'string') return [];
      return [{ repo, session, atMs: Date.parse(ts) }];
    }),
  };
}

function commitOf(event: SenseEvent): CommitFacts {
  const { ts, repo, detail } = event;
  const [path = '', sha = '', subject = ''] = ['path', 'sha', 'subject'].map((key) => {
    const value = detail?.[key];
    return typeof value === 'string' ? value : '';
  });
  return { repo: repo ?? (path || 'unknown'), path, sha, subject, at: ts, change: changeOf(event) ?? ts };
}
