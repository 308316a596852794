import { parseIso } from '../platform/time/clock';
import { longDay, palette, toAscii, wrap, type Palette } from '../platform/terminal/format';
import { plural } from '../platform/terminal/plural';
import { clean } from '../platform/terminal/terminal';
import { dayOf, timeOf } from '../platform/time/time';
import type { Item } from './board';
import { parseTitle } from './issue';

export interface WorkTextOptions {
  columns: number;
  color: boolean;
  /** False for terminals without block characters; true when left out. */
  unicode?: boolean;
  /** Wall-clock ms. */
  nowMs: number;
  timezone: string;
}

/** Says how many issues of the service could not be understood. */
export function skippedWords(malformed: number): string {
  return `${plural(malformed, 'malformed issue')} skipped`;
}

const MIN_COLUMNS = 32;

export interface View extends WorkTextOptions {
  colors: Palette;
}

export function view(options: WorkTextOptions): View {
  return {
    ...options,
    columns: Math.max(MIN_COLUMNS, options.columns),
    colors: palette({ color: options.color }),
  };
}

export function finish(lines: readonly string[], options: WorkTextOptions): string {
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return options.unicode === false ? toAscii(text) : text;
}

export function setupLines(steps: readonly string[], { columns }: View): string[] {
  return [
    ...wrap(
      'Work tracking is not set up. It keeps work as issues in one private repository of yours:',
      columns,
    ),
    '',
    ...steps.map((step) => `  ${step}`),
  ];
}

/** The title without its prefix and identity, for a terminal. */
export function titleOf(item: Pick<Item, 'title'>): string {
  const text = clean(parseTitle(item.title).text).trim();
  return text === '' ? 'untitled' : text;
}

type Now = Pick<WorkTextOptions, 'nowMs' | 'timezone'>;

/** `09:42` of today, `Fri 20 Nov 2026 09:42` of another day. */
export function when(iso: string, at: Now): string {
  return localTime(iso, at, longDay);
}

/** `09:42` of today, `Fri 20 Nov 09:42` of another day. */
export function shortWhen(iso: string, at: Now): string {
  return localTime(iso, at, (day) => longDay(day).slice(0, -5));
}

function localTime(iso: string, at: Now, dayText: (day: string) => string): string {
  const ms = parseIso(iso);
  if (ms === undefined) return 'unknown';
  const day = dayOf(ms, at.timezone);
  const time = timeOf(ms, at.timezone);
  return day === dayOf(at.nowMs, at.timezone) ? time : `${dayText(day)} ${time}`;
}
