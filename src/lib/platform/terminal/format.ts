import type { Terminal } from './stdio';
import { displayWidth, fit, padEnd, padStart } from './text-width';

export { minutes } from '../time/day-words';
export { wrap } from './fold';

/** What a text for a terminal depends on. */
export type TextOptions = Pick<Terminal, 'columns' | 'color'>;

/** Functions that color text by role. Without color, they return the text unchanged. */
export type Palette = ReturnType<typeof palette>;

export function palette(terminal: Pick<Terminal, 'color'>) {
  const paint =
    (color: 'cyan' | 'yellow' | 'gray' | 'magenta' | 'bold') =>
    (text: string): string => {
      if (!terminal.color || text === '') return text;
      // Loaded on first use, because kleur creates Node's stream for stdout, which takes 7 ms.
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would load it at once
      const kleur = require('kleur') as typeof import('kleur');
      // Set for each call, because kleur itself checks only this process's terminal, not the given one.
      kleur.enabled = true;
      return kleur[color](text);
    };
  return {
    creation: paint('cyan'),
    consumption: paint('yellow'),
    neutral: paint('gray'),
    attention: paint('magenta'),
    strong: paint('bold'),
  };
}

/** Formats a day such as `2026-11-20` as `Fri 20 Nov 2026`. */
export function longDay(day: string): string {
  const [year = '', month = '', date = ''] = day.split('-');
  return `${weekday(day)} ${Number(date)} ${MONTHS[Number(month) - 1] ?? month} ${year}`;
}

/** Returns the weekday of a day, such as `Fri`. */
export function weekday(day: string): string {
  // January 1, 1970, was a Thursday.
  const days = Math.floor(Date.parse(`${day}T00:00:00Z`) / 86_400_000);
  return WEEKDAYS[(((days + 4) % 7) + 7) % 7] ?? '';
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws `value` as a horizontal bar, with `max` as the full width. Any value above 0 shows at least `▏`. */
export function bar(value: number, max: number, columns: number): string {
  if (!(value > 0) || !(max > 0)) return '';
  const eighths = Math.max(1, Math.round((Math.min(value, max) / max) * columns * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

const LEVELS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/**
 * Draws `value` as a one-character vertical bar, with `max` as the full height. Any value above 0 shows at
 * least `▁`.
 */
export function level(value: number, max: number): string {
  if (!(value > 0) || !(max > 0)) return ' ';
  return LEVELS[Math.max(1, Math.round((Math.min(value, max) / max) * 8))] ?? '█';
}

export interface Column {
  align?: 'left' | 'right';
  /** Maximum width, in columns. */
  max?: number;
}

/** Formats rows as aligned columns, two spaces apart, without borders or trailing spaces. */
export function table(rows: readonly (readonly string[])[], columns: readonly Column[] = []): string {
  const cells = rows.map((row) =>
    row.map((cell, index) => {
      const max = columns[index]?.max;
      return max === undefined ? cell : fit(cell, max);
    }),
  );
  const count = Math.max(0, ...cells.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(...cells.map((row) => displayWidth(row[index] ?? ''))),
  );
  return cells
    .map((row) =>
      row
        .map((cell, index) =>
          columns[index]?.align === 'right'
            ? padStart(cell, widths[index] ?? 0)
            : padEnd(cell, widths[index] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Formats an amount for sentences, such as `1.20 USD`. */
export function usd(value: number): string {
  return isSmall(value) ? 'under 0.01 USD' : `${value.toFixed(2)} USD`;
}

/** Formats an amount for tables, such as `$1.20`. An unknown cost is `unknown`, never 0. */
export function usdCell(cost: number | null): string {
  if (cost === null) return 'unknown';
  return isSmall(cost) ? '<$0.01' : `$${cost.toFixed(2)}`;
}

function isSmall(usd: number): boolean {
  return usd > 0 && usd < 0.01;
}

/** Formats a count and its noun, such as `1 commit` or `2 commits`. `nouns` is for irregular plurals. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** Formats a number of tokens as `950`, `12.3k` or `4.56M`. */
export function tokens(count: number): string {
  const unit = TOKEN_UNITS.find(({ size }) => count >= size);
  if (unit === undefined) return String(count);
  const value = count / unit.size;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)}${unit.name}`;
}

const TOKEN_UNITS = [
  { size: 1e9, name: 'G' },
  { size: 1e6, name: 'M' },
  { size: 1e3, name: 'k' },
];

/** Returns the text with a full stop, unless it has an ending. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Joins the lines and trims trailing spaces. */
export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => line.trimEnd()).join('\n');
}
