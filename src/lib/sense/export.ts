import type { SenseEvent } from './event';
import type { DailyRecord } from './record';

export type ExportFormat = 'json' | 'csv';

/** CSV rows: one per day, or one per day and application. JSON has whole records. */
export type RecordTable = 'days' | 'apps';

type Cell = string | number | boolean | undefined;

/** Returns events as text, piece by piece. CSV has `detail` as JSON. */
export function exportEvents(events: Iterable<SenseEvent>, format: ExportFormat): Generator<string> {
  if (format === 'json') return jsonArray(events);
  const header = ['ts', 'type', 'source', 'app', 'repo', 'detail'];
  return csv(header, events, ({ ts, type, source, app, repo, detail }) => [
    [ts, type, source, app, repo, detail === undefined ? undefined : JSON.stringify(detail)],
  ]);
}

/** Returns daily records as text, piece by piece. */
export function exportRecords(
  records: Iterable<DailyRecord>,
  format: ExportFormat,
  table: RecordTable = 'days',
): Generator<string> {
  if (format === 'json') return jsonArray(records);
  if (table === 'apps') {
    return csv(['date', 'app', 'kind', 'minutes'], records, ({ date, apps }) =>
      apps.map(({ app, kind, minutes }) => [date, app, kind, minutes]),
    );
  }
  const columns = [
    'date',
    'timezone',
    'final',
    'totalMinutes',
    'creationMinutes',
    'consumptionMinutes',
    'neutralMinutes',
  ] as const;
  return csv([...columns, 'commits', 'sessions'], records, (record) => [
    // Time that was not recorded stays empty.
    [
      ...columns.map((column) =>
        record.backfilled === true && column.endsWith('Minutes') ? undefined : record[column],
      ),
      record.commits.count,
      record.sessions.count,
    ],
  ]);
}

function* jsonArray(items: Iterable<unknown>): Generator<string> {
  let before = '[\n';
  for (const item of items) {
    yield before + JSON.stringify(item);
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

function* csv<T>(
  header: readonly string[],
  items: Iterable<T>,
  rowsOf: (item: T) => readonly (readonly Cell[])[],
): Generator<string> {
  yield line(header);
  for (const item of items) for (const row of rowsOf(item)) yield line(row);
}

/** Formats a row by RFC 4180: CRLF, quotes doubled. */
function line(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

/** Formats a cell. A text that a spreadsheet would run as a formula gets an apostrophe, as OWASP advises. */
function cellText(cell: Cell): string {
  if (typeof cell !== 'string') return cell === undefined ? '' : String(cell);
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Includes full-width signs, and spaces that a spreadsheet trims. */
const FORMULA = /^[\s\u0000]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
