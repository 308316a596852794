import { parseIso } from '../platform/time/clock';
import { bar, minutes, palette, table, wrap, weekday, type Palette } from '../platform/terminal/format';
import { plural } from '../platform/terminal/plural';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, padEnd } from '../platform/terminal/text-width';
import { dayOf, timeOf } from '../platform/time/time';
import { jumpText } from './clock-jump';
import type { DailyRecord } from './record';
import type { SenseStatus, SourceState, SourceStatus } from './status-types';
import { finish, isEmpty, MIN_COLUMNS, paintShares, type TextOptions } from './view-parts';

export interface StatusTextOptions extends TextOptions {
  timezone: string;
  /** Wall-clock time, ms: a time of today is shown without its date. */
  now: number;
}

/** `sense sources`: a row a source, below it what it captures, and why it is not well. */
export function sourcesText(sources: readonly SourceStatus[], options: StatusTextOptions): string {
  return finish(sourceLines(sources, options, true), options);
}

/** `sense status`: what runs, what was seen, what needs a hand. */
export function statusText(status: SenseStatus, options: StatusTextOptions): string {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const colors = palette({ color: options.color });
  const row = (name: string, value: string, paint = plain): string[] =>
    wrap(value, columns - 14, '').map((line, i) => (i === 0 ? name : '').padEnd(14) + paint(line));
  const last = status.lastCaptureTs;
  const lines = [
    ...(status.enabled
      ? row('capture', `on, every ${seconds(status.pollIntervalSec)}`)
      : row('capture', `off; "steward config set sense.enabled true" switches it on`, colors.attention)),
    ...row(
      'repositories',
      status.repos.map(clean).join(', ') || 'none; "steward config add sense.repos PATH" watches one',
    ),
    ...row('raw logs', `kept for ${plural(status.retentionDays, 'day')}; records stay`),
    ...row('last capture', last === null ? 'never; run "steward sense capture"' : localTime(last, options)),
    ...row('events today', String(status.eventsToday)),
    ...row('last record', status.lastRecord ?? 'none yet; a day is recorded once it is over'),
    ...schedulerRow(status, row, colors),
    ...(status.quarantined === 0
      ? []
      : row(
          'quarantined',
          `${plural(status.quarantined, 'line')} that ${status.quarantined === 1 ? 'is no event of its day' : 'are no events of their day'}, set aside in sense/quarantine when the day is recorded`,
          colors.attention,
        )),
    ...status.clockJumps.flatMap((jump) =>
      row('clock', `set ${jumpText(jump)}, noticed ${localTime(jump.at, options)}`, colors.attention),
    ),
    ...row('version', status.version),
    ...(status.sources.length === 0 ? [] : ['', ...sourceLines(status.sources, options, false)]),
  ];
  return finish(lines, options);
}

/** `sense recent`: a line a day, newest first, with its time as a bar. */
export function recentText(records: readonly DailyRecord[], options: TextOptions): string {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const colors = palette({ color: options.color });
  if (records.length === 0) {
    const text =
      'No day is recorded yet. A day is recorded once it is over; "steward sense today" shows this one.';
    return finish(wrap(text, columns), options);
  }
  const left = table(
    records.map((record) => [
      record.date,
      weekday(record.date),
      record.totalMinutes === 0 ? '-' : minutes(record.totalMinutes),
    ]),
    [{}, {}, { align: 'right' }],
  ).split('\n');
  const leftColumns = Math.max(...left.map(displayWidth));
  const right = rightCells(records, columns - leftColumns - 2);
  const rightColumns = Math.max(0, ...right.map(displayWidth));
  const room = columns - leftColumns - 4 - rightColumns;
  const barColumns = room < 6 ? 0 : room;
  const max = Math.max(...records.map((record) => record.totalMinutes));
  const lines = records.map((record, i) => {
    const drawn = bar(record.totalMinutes, max, barColumns);
    const gap =
      barColumns === 0
        ? ''
        : `${paintShares(drawn, record, colors)}${' '.repeat(barColumns + 2 - drawn.length)}`;
    return `${padEnd(left[i] ?? '', leftColumns)}  ${gap}${right[i] ?? ''}`;
  });
  return finish(lines, options);
}

/** The figures beside the bars: as many of their columns as the room holds, the first ones first. */
function rightCells(records: readonly DailyRecord[], room: number): string[] {
  const isOpen = records.some((record) => !record.final);
  const rows = records.map((record) => {
    const soFar = isOpen ? [record.final ? '' : 'so far'] : [];
    if (isEmpty(record)) return ['nothing captured', ...soFar];
    return [
      record.totalMinutes === 0 ? 'no time captured' : `creation ${minutes(record.creationMinutes)}`,
      ...soFar,
      plural(record.commits.count, 'commit'),
      plural(record.sessions.count, 'session'),
    ];
  });
  for (let count = 4; count > 0; count -= 1) {
    const text = table(rows.map((row) => row.slice(0, count)));
    const lines = text.split('\n');
    if (Math.max(...lines.map(displayWidth)) + (count > 1 ? 8 : 0) <= room) return lines;
  }
  return records.map(() => '');
}

function sourceLines(
  sources: readonly SourceStatus[],
  options: StatusTextOptions,
  describe: boolean,
): string[] {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const colors = palette({ color: options.color });
  const rows = sources.map((source) => [
    clean(source.id),
    paintState(source.state, colors),
    `${source.eventsToday} today`,
    source.lastEventTs === null ? 'never' : `last ${localTime(source.lastEventTs, options)}`,
  ]);
  const align = [{}, {}, { align: 'right' as const }];
  const all = table(rows, align).split('\n');
  const fits = Math.max(...all.map(displayWidth)) <= columns;
  const lines = fits
    ? all
    : table(
        rows.map((row) => row.slice(0, 3)),
        align,
      ).split('\n');
  return sources.flatMap((source, i) => [
    lines[i] ?? '',
    ...(describe ? wrap(clean(source.description), columns, '  ').map(colors.neutral) : []),
    ...(source.reason === undefined ? [] : wrap(clean(source.reason), columns, '  ')),
  ]);
}

function paintState(state: SourceState, colors: Palette): string {
  if (state === 'error' || state === 'unsupported') return colors.attention(state);
  return state === 'ok' ? state : colors.neutral(state);
}

function schedulerRow(
  { scheduler }: SenseStatus,
  row: (name: string, value: string, paint?: (text: string) => string) => string[],
  colors: Palette,
): string[] {
  if (scheduler === null)
    return row(
      'scheduler',
      'none; "steward sense install" registers one, "steward up" captures while it runs',
    );
  const kind = clean(scheduler.kind);
  return scheduler.installed
    ? row('scheduler', kind)
    : row('scheduler', `not in ${kind}; nothing captures by itself`, colors.attention);
}

/** `09:42`, or `2026-11-19 17:20` for another day than today. */
function localTime(iso: string, { timezone, now }: StatusTextOptions): string {
  const ms = parseIso(iso);
  if (ms === undefined) return clean(iso);
  const day = dayOf(ms, timezone);
  return day === dayOf(now, timezone) ? timeOf(ms, timezone) : `${day} ${timeOf(ms, timezone)}`;
}

function seconds(count: number): string {
  return count % 60 === 0 ? `${count / 60} min` : `${count} s`;
}

function plain(text: string): string {
  return text;
}
