import { longDay } from '../platform/terminal/format';
import { addDays, type Day } from '../platform/time/time';
import type { Commits } from './commits';
import type { DayFacts, ReportInput } from './model';
import { daysOf } from './period';

/** What a report cannot know, in sentences a person can act on. `days`: those of the period, in order. */
export function notKnown(input: ReportInput, days: readonly DayFacts[], commits: Commits): string[] {
  const { period, repo } = input;
  const stored = new Set(days.map(({ date }) => date));
  const missing = daysOf(period).filter((day) => !stored.has(day));
  const raw = days.filter((day) => day.raw !== undefined);
  const discarded = days.filter(
    (day) => day.raw === undefined && (day.commits.length > 0 || day.sessions.length > 0),
  );
  return [
    ...(missing.length === 0 ? [] : [`Nothing is stored of ${spans(missing)}.`]),
    ...(commits.unnamed === 0
      ? []
      : [
          `The subjects of ${commits.unnamed} ${commits.unnamed === 1 ? 'commit' : 'commits'}: the raw logs of their days are discarded.`,
        ]),
    ...(raw.length > 0 && discarded.length > 0
      ? [`Assistant time before ${longDay(raw[0]?.date ?? '')}: the raw logs are discarded.`]
      : []),
    ...(repo === undefined ? [] : ['Time by application: it is not known by repository.']),
    ...(input.issues === undefined
      ? ['Issues: the work repository is not set up (steward work setup OWNER/REPO).']
      : []),
    ...input.notes,
  ];
}

/** `Mon 2 Nov 2026 to Wed 4 Nov 2026 and Fri 6 Nov 2026`; of many the first ones and how many more. */
function spans(days: readonly Day[]): string {
  const found: [Day, Day][] = [];
  for (const day of days) {
    const last = found.at(-1);
    if (last !== undefined && addDays(last[1], 1) === day) last[1] = day;
    else found.push([day, day]);
  }
  const names = found.map(([from, to]) =>
    from === to ? longDay(from) : `${longDay(from)} to ${longDay(to)}`,
  );
  if (names.length > MAX_SPANS) {
    const rest = found.slice(MAX_SPANS).flatMap(([from, to]) => daysOf({ from, to })).length;
    return `${names.slice(0, MAX_SPANS).join(', ')} and ${rest} ${rest === 1 ? 'day' : 'days'} more`;
  }
  return names.length === 1 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

const MAX_SPANS = 4;
