import { byCodeUnits } from '../../platform/files/short-hash';
import { addDays, type Day } from '../../platform/time/time';
import type { DailyRecord } from '../record';
import { unionLedger } from './ledger';
import {
  keyOfCommit,
  type CommitKey,
  type MachineDay,
  type MachineName,
  type MachineRow,
  type UnionRecord,
} from './model';
import { recordTime } from '../focus-tally';
import { capturedFirst, countOnce, type Counted } from './overlap';
import { minutesOf, secondsOf, timeOf, type DaySeconds } from './time';

/**
 * Merges the machines' days into one record per requested date, oldest first. `days` should include the days
 * before and after, because time zones differ.
 */
export function mergeDays(
  days: readonly MachineDay[],
  wanted: ReadonlySet<Day>,
  machines: readonly MachineName[],
): UnionRecord[] {
  const dates = new Map<Day, Counted[]>();
  for (const counted of countOnce(distinct(days), wanted)) {
    const { date } = counted.day.record;
    dates.set(date, [...(dates.get(date) ?? []), counted]);
  }
  const known = [...machines].sort((a, b) => byCodeUnits(a.id, b.id));
  return [...dates].flatMap(([date, all]) => (wanted.has(date) ? merged(date, all, dates, known) : []));
}

/** Returns the latest of each machine's versions of a day, by date and then by machine. */
export function distinct(days: readonly MachineDay[]): MachineDay[] {
  const latest = new Map<string, MachineDay>();
  for (const day of days) {
    const key = `${day.record.date}\n${day.machine}`;
    const known = latest.get(key);
    if (known === undefined || isLater(day, known)) latest.set(key, day);
  }
  return [...latest].sort(([a], [b]) => byCodeUnits(a, b)).map(([, day]) => day);
}

function isLater(a: MachineDay, b: MachineDay): boolean {
  const order = byCodeUnits(a.record.generatedAt, b.record.generatedAt);
  return order > 0 || (order === 0 && byCodeUnits(JSON.stringify(a), JSON.stringify(b)) > 0);
}

function merged(
  date: Day,
  all: readonly Counted[],
  dates: ReadonlyMap<Day, readonly Counted[]>,
  machines: readonly MachineName[],
): UnionRecord {
  const around = [addDays(date, -1), date, addDays(date, 1)].flatMap((day) => dates.get(day) ?? []);
  const records = all.map(({ day }) => day.record);
  const { timezone, hours } = freshest(all);
  const latest = (key: 'version' | 'generatedAt'): string =>
    records.map((record) => record[key]).reduce((a, b) => (byCodeUnits(a, b) > 0 ? a : b));
  const parts = all.map((counted) => ({ counted, seconds: secondsOf(counted, timezone) }));
  const starts = hours.map(({ start }) => start);
  const time = timeOf(parts, starts.map(Date.parse));
  return {
    date,
    timezone,
    version: latest('version'),
    generatedAt: latest('generatedAt'),
    final: records.every(({ final }) => final),
    ...(records.every(({ backfilled }) => backfilled === true) ? { backfilled: true } : {}),
    ...recordTime(time, starts),
    commits: commitsOf(all, around),
    sessions: sessionsOf(all),
    ledger: unionLedger(parts),
    narrative: null,
    goalTags: {},
    machines: machines.map((machine) => rowOf(machine, parts)),
    overlapMinutes: overlapOf(all),
  };
}

/** Returns the record of the machine with the most recent input. The machine with the lowest id wins ties. */
function freshest(all: readonly Counted[]): DailyRecord {
  const inputOf = ({ day }: Counted): number =>
    day.spans.reduce((latest, { input }) => Math.max(latest, input ?? 0), 0);
  return all.reduce((a, b) => (inputOf(b) > inputOf(a) ? b : a)).day.record;
}

/**
 * Counts commits per repository. A commit on several machines counts only for the machine with the lowest
 * id.
 */
function commitsOf(all: readonly Counted[], around: readonly Counted[]): DailyRecord['commits'] {
  const counts = new Map<string, number>();
  const add = (repo: string, count: number): unknown => counts.set(repo, (counts.get(repo) ?? 0) + count);
  const isFirst = firstOf(around);
  for (const { day } of all) {
    const own = new Map(day.commits.map((commit) => [keyOfCommit(commit), commit]));
    const counted = [...own.values()].filter((commit) => isFirst(commit, day.machine));
    if (counted.length === own.size)
      for (const { repo, commits } of day.record.commits.repos) add(repo, commits);
    else for (const { repo } of counted) add(repo, 1);
  }
  const repos = [...counts].map(([repo, commits]) => ({ repo, commits }));
  repos.sort((a, b) => b.commits - a.commits || byCodeUnits(a.repo, b.repo));
  return { count: repos.reduce((sum, { commits }) => sum + commits, 0), repos };
}

/**
 * Returns whether no machine with a lower id has the commit. A commit without a patch, from an older version, is
 * the same as any other of its author and second.
 */
function firstOf(all: readonly Counted[]): (commit: CommitKey, machine: string) => boolean {
  const first = new Map<string, string>();
  for (const { day } of all)
    for (const commit of day.commits)
      for (const key of new Set([keyOfCommit(commit), commit.id])) {
        const known = first.get(key);
        if (known === undefined || byCodeUnits(day.machine, known) < 0) first.set(key, day.machine);
      }
  return (commit, machine) =>
    [keyOfCommit(commit), commit.patch === undefined ? commit.id : keyOfCommit({ id: commit.id })].every(
      (key) => byCodeUnits(first.get(key) ?? machine, machine) >= 0,
    );
}

function sessionsOf(all: readonly Counted[]): DailyRecord['sessions'] {
  const items = new Map<string, { session: string; events: number; machine: string; most: number }>();
  // A copied area has the same sessions with the same number of events.
  const copied = new Set<string>();
  for (const { day } of capturedFirst(all)) {
    const known = new Set(day.record.backfilled === true ? items.keys() : []);
    for (const { session, events } of day.record.sessions.items) {
      if (known.has(session) || copied.has(`${session} ${events}`)) continue;
      copied.add(`${session} ${events}`);
      const item = items.get(session) ?? { session, events: 0, machine: day.machine, most: 0 };
      if (events > item.most) Object.assign(item, { machine: day.machine, most: events });
      item.events += events;
      items.set(session, item);
    }
  }
  const rows = [...items.values()].map(({ most: _most, ...item }) => item);
  rows.sort((a, b) => b.events - a.events || byCodeUnits(a.session, b.session));
  return { count: rows.length, items: rows };
}

function rowOf(
  { id, name, asOf }: MachineName,
  parts: readonly { counted: Counted; seconds: DaySeconds }[],
): MachineRow {
  const label: MachineName = asOf === undefined ? { id, name } : { id, name, asOf };
  const part = parts.find(({ counted }) => counted.day.machine === id);
  if (part === undefined) return { ...label, state: 'not-recorded', minutes: null };
  const { record } = part.counted.day;
  const minutes = record.backfilled === true ? null : minutesOf(part.seconds);
  return { ...label, state: record.final ? 'recorded' : 'so-far', minutes };
}

function overlapOf(all: readonly Counted[]): number | null {
  const timed = all.filter(({ day }) => day.record.totalMinutes > 0);
  if (timed.length > 1 && timed.some(({ day }) => day.spans.length === 0)) return null;
  return Math.round(all.reduce((sum, { lostSec }) => sum + lostSec, 0) / 6) / 10;
}
