import { csv } from '../platform/terminal/csv';
import type { SenseEvent } from '../time/event';
import { TOTALS, type DailyRecord } from '../time/record';

export type ExportFormat = 'json' | 'csv';

/** Yields events as text chunks. In CSV, the `detail` column contains JSON. */
export function exportEvents(events: Iterable<SenseEvent>, format: ExportFormat): Generator<string> {
  if (format === 'json') return jsonArray(events);
  const header = ['ts', 'type', 'source', 'app', 'repo', 'detail'];
  return csv(header, events, ({ ts, type, source, app, repo, detail }) => [
    [ts, type, source, app, repo, detail === undefined ? undefined : JSON.stringify(detail)],
  ]);
}

/** Yields daily records as text chunks. */
export function exportRecords(
  records: Iterable<DailyRecord>,
  format: ExportFormat,
  table: 'days' | 'apps' = 'days',
): Generator<string> {
  if (format === 'json') return jsonArray(records);
  if (table === 'apps') {
    return csv(['date', 'app', 'kind', 'minutes'], records, ({ date, apps }) =>
      apps.map(({ app, kind, minutes }) => [date, app, kind, minutes]),
    );
  }
  const columns = ['date', 'timezone', 'final', ...TOTALS] as const;
  return csv([...columns, 'commits', 'sessions'], records, (record) => [
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
