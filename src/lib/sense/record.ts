import { hourStarts, isDaySomewhere, timeOf, type Day } from '../platform/time/time';
import type { Classifier } from './classify';
import type { AppKind } from './app-kind';
import type { SenseEvent } from './event';
import type { Signal } from './log-line';
import { commitTally, sessionTally } from './record-tally';
import { focusTally } from './focus-tally';

export interface AppTime {
  app: string;
  kind: AppKind;
  minutes: number;
}

export interface HourTime {
  /** When the hour begins, on the wall clock with its offset, so that a repeated hour is told apart. */
  start: string;
  creation: number;
  consumption: number;
  neutral: number;
}

/** One day, deterministic (service.md: Sense daily record; decisions.md 3). Minutes have one decimal. */
export interface DailyRecord {
  date: Day;
  timezone: string;
  version: string;
  /** ISO-8601 UTC. */
  generatedAt: string;
  /** True when the day was over when the record was built. */
  final: boolean;
  totalMinutes: number;
  creationMinutes: number;
  consumptionMinutes: number;
  neutralMinutes: number;
  /** Longest first. */
  apps: AppTime[];
  /** Every clock hour of the day in order: 23, 24 or 25 of them. */
  hours: HourTime[];
  commits: { count: number; repos: { repo: string; commits: number }[] };
  sessions: { count: number; items: { session: string; events: number }[] };
  narrative: null;
  goalTags: Record<string, never>;
}

/** How events are counted. */
export interface TallyOptions {
  /** The zone of the day, an IANA name. */
  timezone: string;
  /** What an app-focus event without `detail.intervalSec` stands for. */
  pollIntervalSec: number;
  classify: Classifier;
}

/** What a record says of itself. */
export interface RecordLabel {
  version: string;
  /** ISO-8601 UTC. */
  generatedAt: string;
  final: boolean;
}

/**
 * The record of one local day. Pure: no clock, no files; the same events in any order give the same bytes.
 * A line that stands twice in the log counts once. The zone of a day is that of its first write: what was
 * seen later on it in another zone belongs to the first or the last hour when it lies outside. Events that
 * are on this date nowhere on earth are left out.
 */
export function buildDailyRecord(
  date: Day,
  events: readonly SenseEvent[],
  options: TallyOptions & RecordLabel,
): DailyRecord {
  const tally = recordTally(date, options);
  // The form of the time was checked when the event was read (readEvent), so this is only the number.
  for (const event of events) tally.add(event, Date.parse(event.ts));
  return tally.result(options);
}

/** The same, event by event, so that a day's events need not be in memory at once. */
export function recordTally(date: Day, options: TallyOptions) {
  const { timezone } = options;
  const isOfDay = isDaySomewhere(date);
  const starts = hourStarts(date, timezone);
  const focus = focusTally(options, starts);
  const commits = commitTally();
  const sessions = sessionTally();
  return {
    /** `ms` is the time of the event. */
    add(event: Readonly<Signal>, ms: number): void {
      if (!isOfDay(ms)) return;
      if (event.type === 'app-focus' && starts.length > 0) focus.add(ms, event);
      else if (event.type === 'git-commit') commits.add(ms, event);
      else if (event.type === 'agent-session') sessions.add(ms, event);
    },
    sessionRepos: sessions.repos,
    result({ version, generatedAt, final }: RecordLabel): DailyRecord {
      const time = focus.result();
      return {
        date,
        timezone,
        version,
        generatedAt,
        final,
        totalMinutes: minutes(time.kinds.creation + time.kinds.consumption + time.kinds.neutral),
        creationMinutes: minutes(time.kinds.creation),
        consumptionMinutes: minutes(time.kinds.consumption),
        neutralMinutes: minutes(time.kinds.neutral),
        apps: time.apps.map(({ app, kind, tenths }) => ({ app, kind, minutes: minutes(tenths) })),
        hours: starts.map((ms, i) => ({
          start: localIso(date, ms, timezone),
          creation: minutes(time.hours.creation[i] ?? 0),
          consumption: minutes(time.hours.consumption[i] ?? 0),
          neutral: minutes(time.hours.neutral[i] ?? 0),
        })),
        commits: commits.result(),
        sessions: sessions.result(),
        narrative: null,
        goalTags: {},
      };
    },
  };
}

/** `2026-11-20T09:00:00+01:00` */
function localIso(date: Day, ms: number, zone: string): string {
  const wall = `${date}T${timeOf(ms, zone)}:00`;
  const offset = Math.round((Date.parse(`${wall}Z`) - ms) / 60_000);
  const size = Math.abs(offset);
  const clock = `${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`;
  return `${wall}${offset < 0 ? '-' : '+'}${clock}`;
}

function minutes(tenths: number): number {
  return tenths / 10;
}
