import { parseObject, textOf } from '../platform/files/json-object';
import {
  isAmount,
  isFlag,
  isText,
  listOf,
  optional,
  shape,
  where,
  oneOf,
  type ShapeOf,
} from '../platform/files/shape';
import { byCodeUnits } from '../platform/files/short-hash';
import { addDays, dayBounds, dayOf, hourStarts, isDay, isDaySomewhere, isZone, timeOf, type Day, type DayBounds } from '../platform/time/time'; // prettier-ignore
import { APP_KINDS, type Classifier } from './classify';
import { changeOf, type SenseEvent } from './event';
import { focusTime, recordTime } from './focus-tally';
import { ledgerTally } from './ledger/ledger';
import { isLedger, isMinutes, MAX_HOURS, type GoalTag } from './ledger/model';

const APP = { app: isText, kind: oneOf(APP_KINDS), minutes: isMinutes };
export type AppTime = ShapeOf<typeof APP>;

const HOUR = {
  /** Start of the hour in local time, with its UTC offset. */
  start: isText,
  creation: isMinutes,
  consumption: isMinutes,
  neutral: isMinutes,
};
export type HourTime = ShapeOf<typeof HOUR>;

const RECORD = {
  date: where(isText, isDay),
  timezone: isText,
  version: isText,
  /** When the record was built, in ISO 8601 format (UTC). */
  generatedAt: isText,
  /** Whether the day was over when the record was built. */
  final: isFlag,
  /** Set if no capture ran that day, so that its time is not recorded; its events come from a backfill. */
  backfilled: optional(oneOf([true])),
  totalMinutes: isMinutes,
  creationMinutes: isMinutes,
  consumptionMinutes: isMinutes,
  neutralMinutes: isMinutes,
  /** Most used first. */
  apps: listOf(shape(APP)),
  /**
   * One entry for each hour of the day. A day has 23 or 25 hours when the clocks change, and more if you
   * traveled west.
   */
  hours: listOf(shape(HOUR)),
  commits: shape({ count: isAmount, repos: listOf(shape({ repo: isText, commits: isAmount })) }),
  sessions: shape({ count: isAmount, items: listOf(shape({ session: isText, events: isAmount })) }),
  /** Your time and your agents' time. */
  ledger: isLedger,
  narrative: oneOf([null]),
};
const isRecord = shape(RECORD);

/** A day's record. Minutes are rounded to one decimal place. */
export interface DailyRecord extends ShapeOf<typeof RECORD> {
  /** Time per goal id, assigned by the rules in goals.md. */
  goalTags: Record<string, GoalTag>;
}

export const TOTALS = ['totalMinutes', 'creationMinutes', 'consumptionMinutes', 'neutralMinutes'] as const;
type Totals = (typeof TOTALS)[number];

/** A record in JSON output: the totals of a day that was not recorded are null. */
export type RecordDocument<T extends DailyRecord = DailyRecord> = Omit<T, Totals> &
  Record<Totals, number | null>;

export function recordDocument<T extends DailyRecord>(record: T): RecordDocument<T> {
  if (record.backfilled !== true) return record;
  const unknown = Object.fromEntries(TOTALS.map((key) => [key, null])) as Record<Totals, null>;
  return { ...record, ...unknown };
}

const HOUR_MS = 3_600_000;

export interface TallyOptions {
  /** IANA time zone of the record's day. */
  timezone: string;
  /** Default length of an app-focus event, in seconds. */
  pollIntervalSec: number;
  classify: Classifier;
}

export interface RecordLabel {
  version: string;
  generatedAt: string;
  final: boolean;
  /** Set if no capture ran on that day. */
  isUncaptured?: boolean;
}

export function isEmptyRecord({ totalMinutes, commits, sessions }: DailyRecord): boolean {
  return totalMinutes === 0 && commits.count === 0 && sessions.count === 0;
}

/** Computes a day's record from its events, in any order. Duplicate events count once. */
export function recordTally(date: Day, options: TallyOptions) {
  const { timezone } = options;
  const isOfDay = isDaySomewhere(date);
  const starts = hourStarts(date, timezone);
  const commits = commitTally();
  const sessions = sessionTally();
  const ledger = ledgerTally(options.pollIntervalSec);
  const { startMs, endMs } = dayBounds(date, timezone);
  const span = { startMs, endMs };
  let captured = 0;
  let backfilled = 0;
  return {
    add(event: Readonly<SenseEvent>, ms: number): void {
      if (!isOfDay(ms)) return;
      if (event.detail?.['backfilled'] === true) backfilled += 1;
      else captured += 1;
      if (event.type !== 'git-commit') {
        span.startMs = Math.min(span.startMs, ms);
        span.endMs = Math.max(span.endMs, ms);
      }
      if (starts.length > 0) ledger.add(ms, event);
      if (event.type === 'git-commit') commits.add(ms, event);
      else if (event.type === 'agent-session') sessions.add(ms, event);
    },
    sessionRepos: sessions.repos,
    result(
      { version, generatedAt, final, isUncaptured = false }: RecordLabel,
      hasAgents = true,
    ): DailyRecord {
      const isLonger = starts.length > 0 && (span.startMs < startMs || span.endMs > endMs);
      const hours = isLonger ? hoursIn(date, timezone, span) : starts;
      const samples = ledger.samples();
      const time = focusTime(samples, options.classify, hours);
      return {
        date,
        timezone,
        version,
        generatedAt,
        final,
        ...(captured === 0 && (backfilled > 0 || isUncaptured) ? { backfilled: true } : {}),
        ...recordTime(
          time,
          hours.map((ms) => localIso(ms, timezone)),
        ),
        commits: commits.result(),
        sessions: sessions.result(),
        ledger: (hasAgents ? ledger : ledgerTally(options.pollIntervalSec)).result(final, span, samples),
        narrative: null,
        goalTags: {},
      };
    },
  };
}

/** Returns the starts of the local hours that overlap the span, which can begin or end on an adjacent day. */
function hoursIn(date: Day, zone: string, { startMs, endMs }: DayBounds): number[] {
  const starts = [-2, -1, 0, 1, 2].flatMap((count) => hourStarts(addDays(date, count), zone));
  return starts.filter((ms, i) => (starts[i + 1] ?? Infinity) > startMs && ms < endMs);
}

/** Returns the bounds of a record's hours. */
export function boundsOf(record: Pick<DailyRecord, 'date' | 'timezone' | 'hours'>): DayBounds {
  const { startMs, endMs } = dayBounds(record.date, record.timezone);
  const { hours } = record;
  const first = Date.parse(hours[0]?.start ?? '') || startMs;
  const last = Date.parse(hours.at(-1)?.start ?? '') || startMs;
  return { startMs: Math.min(first, startMs), endMs: last < endMs ? endMs : last + HOUR_MS };
}

function localIso(ms: number, zone: string): string {
  const wall = `${dayOf(ms, zone)}T${timeOf(ms, zone)}:00`;
  const offset = Math.round((Date.parse(`${wall}Z`) - ms) / 60_000);
  const size = Math.abs(offset);
  const pad = (part: number): string => String(part).padStart(2, '0');
  return `${wall}${offset < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

function commitTally() {
  const repos = new Map<string, RepoTally>();
  return {
    add(at: number, event: Readonly<SenseEvent>): void {
      const path = textOf(event.detail?.['path']);
      const repo = textOf(event.repo) ?? path ?? 'unknown';
      const tally = repos.get(path ?? repo) ?? { repo, path, machines: new Set(), commits: new Set() };
      repos.set(path ?? repo, tally);
      if (byCodeUnits(repo, tally.repo) < 0) tally.repo = repo;
      tally.commits.add(changeOf(event) ?? String(at));
      tally.machines.add(textOf(event.detail?.['machine']) ?? '');
    },
    result(): DailyRecord['commits'] {
      const tallies = joinedAcrossMachines([...repos.values()]);
      const counts = new Map<string, number>();
      for (const { repo, path, commits } of tallies) {
        const isShared = tallies.filter((other) => other.repo === repo).length > 1;
        const name = isShared && path !== undefined ? lastTwo(path) : repo;
        counts.set(name, (counts.get(name) ?? 0) + commits.size);
      }
      const rows = [...counts].map(([repo, commits]) => ({ repo, commits }));
      rows.sort((a, b) => b.commits - a.commits || byCodeUnits(a.repo, b.repo));
      return { count: rows.reduce((sum, { commits }) => sum + commits, 0), repos: rows };
    },
  };
}

interface RepoTally {
  repo: string;
  path: string | undefined;
  machines: Set<string>;
  commits: Set<string>;
}

/** Merges the entries of a repository from different machines, where its path may differ. */
function joinedAcrossMachines(tallies: readonly RepoTally[]): RepoTally[] {
  const joined: RepoTally[] = [];
  const sorted = [...tallies].sort((a, b) => byCodeUnits(a.path ?? '', b.path ?? ''));
  for (const tally of sorted) {
    const same = joined.filter(({ repo }) => repo === tally.repo);
    const isElsewhere = same.every(({ machines }) => ![...tally.machines].some((id) => machines.has(id)));
    const first = same.find(({ commits }) => [...tally.commits].some((id) => commits.has(id))) ?? same[0];
    if (first === undefined || !isElsewhere) joined.push({ ...tally });
    else {
      first.commits = new Set([...first.commits, ...tally.commits]);
      first.machines = new Set([...first.machines, ...tally.machines]);
    }
  }
  return joined;
}

/** Returns the last two parts of a path, which records show if repositories share a name. */
export function lastTwo(path: string): string {
  const parts = path.split(/[\\/]+/).filter((part) => part !== '');
  return parts.slice(-2).join('/');
}

export type SessionRepos = readonly { repo: string; sessions: number }[];

function sessionTally() {
  const repos = new Map<string, Set<string>>();
  const counted = new Set<string>();
  const sessions = new Map<string, number>();
  return {
    add(at: number, { detail, repo }: Readonly<SenseEvent>): void {
      const session = textOf(detail?.['session']);
      if (session === undefined) return;
      if (textOf(repo) !== undefined)
        repos.set(repo ?? '', (repos.get(repo ?? '') ?? new Set()).add(session));
      const events = countOf(detail?.['events']);
      const key = `${at}\n${textOf(detail?.['machine']) ?? ''}\n${events}\n${session}`;
      if (counted.has(key)) return;
      counted.add(key);
      sessions.set(session, (sessions.get(session) ?? 0) + events);
    },
    repos(): SessionRepos {
      const rows = [...repos].map(([repo, ids]) => ({ repo, sessions: ids.size }));
      return rows.sort((a, b) => b.sessions - a.sessions || byCodeUnits(a.repo, b.repo));
    },
    result(): DailyRecord['sessions'] {
      const items = [...sessions].map(([session, events]) => ({ session, events }));
      items.sort((a, b) => b.events - a.events || byCodeUnits(a.session, b.session));
      return { count: items.length, items };
    },
  };
}

/** Returns the number of work events in an agent-session event. Default: 1. */
export function countOf(count: unknown): number {
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : 1;
}

/** Parses a record, or returns undefined if it is damaged or incomplete. */
export function parseRecord(text: string): DailyRecord | undefined {
  return asRecord(parseObject(text));
}

/** Maximum difference between a day's hours and its midnight in UTC. */
const MAX_HOURS_MS = 72 * HOUR_MS;

/** Validates a parsed record, which may be another machine's. Returns undefined if it is incomplete or impossible. */
export function asRecord(value: unknown): DailyRecord | undefined {
  if (!isRecord(value)) return undefined;
  const record = value as DailyRecord;
  const midnightMs = Date.parse(`${record.date}T00:00:00Z`);
  const isNear = record.hours.every(({ start }) => Math.abs(Date.parse(start) - midnightMs) < MAX_HOURS_MS);
  return isNear && record.hours.length <= MAX_HOURS && isZone(record.timezone) ? record : undefined;
}
