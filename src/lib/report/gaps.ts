import { longDay, plural } from '../platform/terminal/format';
import { addDays, type Day } from '../platform/time/time';
import type { DayFacts, ReportInput } from './model';
import { daysOf } from '../platform/time/period';

/** Returns sentences about the gaps in the report. `unnamed` counts the commits without a known subject. */
export function notKnown(
  { period, repo, issues, notes, machines = [] }: ReportInput,
  days: readonly DayFacts[],
  unnamed: number,
): string[] {
  const stored = new Set(days.map(({ date }) => date));
  const missing = daysOf(period).filter((day) => !stored.has(day));
  const untimed = days.filter(({ backfilled }) => backfilled === true).map(({ date }) => date);
  const raw = days.find((day) => day.raw !== undefined);
  const isDeleted = days.some((day) => day.raw === undefined && day.commits.length + day.sessions.length > 0);
  const elsewhere = Math.min(
    unnamed,
    days.flatMap((day) => day.elsewhere ?? []).reduce((sum, { commits }) => sum + commits, 0),
  );
  const silent = machines.filter(({ state }) => state === 'not-recorded').map(({ name }) => name);
  const all: [boolean, string][] = [
    [missing.length > 0, `No data for ${spans(missing)}.`],
    [
      unnamed > elsewhere,
      `No subjects for ${plural(unnamed - elsewhere, 'commit')}: the event logs for those days were deleted.`,
    ],
    [
      elsewhere > 0,
      `No subjects for ${plural(elsewhere, 'commit')}: they are stored only on other machines.`,
    ],
    [silent.length > 0, `No data from these machines: ${silent.join(', ')}.`],
    [
      raw !== undefined && isDeleted,
      `No assistant time before ${longDay(raw?.date ?? '')}: the event logs were deleted.`,
    ],
    [untimed.length > 0, `No application time was recorded on ${spans(untimed)}.`],
    [repo !== undefined, 'No time by application: application time is not recorded per repository.'],
    [issues === undefined, 'No issues: work tracking is not set up (run "steward work setup OWNER/REPO").'],
  ];
  return [...all.flatMap(([applies, text]) => (applies ? [text] : [])), ...notes];
}

const MAX_SPANS = 4;

/**
 * Formats days as ranges, such as `Mon 2 Nov 2026 to Wed 4 Nov 2026 and Fri 6 Nov 2026`. Lists at most four
 * ranges and counts the remaining days.
 */
function spans(days: readonly Day[]): string {
  const ranges: [Day, Day][] = [];
  for (const day of days) {
    const last = ranges.at(-1);
    if (last !== undefined && addDays(last[1], 1) === day) last[1] = day;
    else ranges.push([day, day]);
  }
  const names = ranges
    .slice(0, MAX_SPANS)
    .map(([from, to]) => (from === to ? longDay(from) : `${longDay(from)} to ${longDay(to)}`));
  const rest = ranges.slice(MAX_SPANS).flatMap(([from, to]) => daysOf({ from, to })).length;
  if (rest > 0) return `${names.join(', ')} and ${plural(rest, 'more day')}`;
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}
