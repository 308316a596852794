import { csv } from '../platform/terminal/csv';
import { palette, table, tokens, usdCell, wrap, type Column } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import type { Day } from '../platform/time/time';
import { problemsOf } from './collect';
import type { LogSource } from './find-logs';
import { COUNTS, type Grouping, type SessionFacts, type Usage, type UsageRow } from './rollup';
import { YIELD_CELLS, type Yield, type YieldRow } from './yield';
import { yieldLines } from './yield-view';

export interface UsageReport {
  usage: Usage;
  /** The usage with the results of the work. */
  made?: Yield;
  by: Grouping | 'commit';
  period: { from: Day; to: Day };
  /** The assistants whose logs were read; empty if usage tracking is off. */
  sources: readonly LogSource[];
  limits: readonly string[];
  unpriced: readonly string[];
  pricesAsOf: string;
  names: SessionFacts;
  notes: readonly string[];
}

const HEADS = { input: 'input', output: 'output', cacheRead: 'cache read', cacheWrite: 'cache write' };
const OFF = 'Usage is off. Switch it on with `steward config set usage.enabled true`.';
export const WIDE_COLUMNS = 72;
export const MIN_COLUMNS = 40;

export function usageText(report: UsageReport, terminal: Terminal): string {
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const { neutral, strong } = palette(terminal);
  const notes = notesOf(report).flatMap((note) => wrap(note, columns));
  const shown =
    (report.made ?? report.usage).rows.length === 0
      ? emptyLines(report, columns)
      : tableLines(report, columns, strong);
  const reported = report.limits.length > 0 ? report.limits : ['Limits: none reported by your assistants.'];
  const texts = report.sources.length === 0 ? [OFF] : reported;
  const limits = texts.flatMap((text) => wrap(clean(text), columns));
  return [...shown, ...block(limits), ...block(notes.map(neutral))].join('\n');
}

function block(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

function tableLines(report: UsageReport, columns: number, strong: (text: string) => string): string[] {
  const { usage, by, names, made } = report;
  if (made !== undefined)
    return yieldLines(made.rows, by).map((line, at) => (at === 0 ? strong(line) : line));
  const cells = columns < WIDE_COLUMNS ? COUNTS.slice(0, 2) : COUNTS;
  const total: UsageRow = { key: 'total', ...usage.total };
  const rows = [...usage.rows, total].map((row) => [
    clean(by === 'session' ? (names.get(row.key)?.name ?? row.key) : row.key),
    ...cells.map((cell) => tokens(row[cell])),
    usdCell(row.cost),
  ]);
  const all = [[by, ...cells.map((cell) => HEADS[cell]), 'cost'], ...rows];
  const lines = namedTable(all, columns);
  return lines.map((line, at) => (at === 0 || at === lines.length - 1 ? strong(line) : line));
}

/** Formats rows of numbers, of which the first cell is a name that gets the rest of the width. */
export function namedTable(rows: readonly (readonly string[])[], columns: number): string[] {
  const [, ...numbers] = rows[0] ?? [];
  const widths = numbers.map((_, at) => Math.max(...rows.map((row) => row[at + 1]?.length ?? 0)));
  const nameWidth = widths.reduce((rest, width) => rest - width - 2, columns);
  const layout: Column[] = [
    { max: Math.max(10, nameWidth) },
    ...widths.map(() => ({ align: 'right' }) as const),
  ];
  return table(rows, layout).split('\n');
}

function emptyLines({ sources, by, period: { from, to } }: UsageReport, columns: number): string[] {
  const found = sources.filter(({ files }) => files > 0).map(({ name }) => name);
  const what = by === 'commit' ? 'commits' : 'usage';
  if (sources.length === 0) return [`No ${what} from ${from} to ${to}.`];
  if (found.length > 0)
    return wrap(`No ${what} from ${from} to ${to}. Logs found: ${found.join(', ')}.`, columns);
  const places = sources.map(({ name, places: [place = ''] }) => `${name}: ${place}`);
  return [
    ...wrap('No usage yet. No assistant logs found in:', columns),
    ...places.flatMap((place) => wrap(clean(place).trim(), columns, '  ', '    ')),
  ];
}

function notesOf({ usage, sources, unpriced, pricesAsOf, notes }: UsageReport): string[] {
  const missing =
    unpriced.length === 0
      ? []
      : [
          `Unknown price: ${unpriced.map(clean).join(', ')} (${tokens(usage.total.unpriced)} tokens not included in the cost). Set the price in usage.prices, or run "steward usage prices update".`,
        ];
  const isPriced = usage.rows.some(({ cost }) => cost !== null);
  const dated = isPriced ? [`Cost at API prices as of ${pricesAsOf}.`] : [];
  const problems = problemsOf(sources).map((text) => clean(`${text}.`));
  return [...missing, ...problems, ...notes, ...dated];
}

/** Formats the rows as CSV. What isn't known is an empty cell. */
export function usageCsv({ usage, made }: Pick<UsageReport, 'usage' | 'made'>): string {
  const rows: readonly Partial<YieldRow>[] = made?.rows ?? usage.rows;
  const cells = ['key', ...(made === undefined ? ([...COUNTS, 'cost'] as const) : YIELD_CELLS)] as const;
  return [...csv(cells, rows, (row) => [cells.map((cell) => row[cell])])].join('');
}
