import {
  bar,
  longDay,
  minutes,
  palette,
  table,
  weekday,
  wrap,
  type Palette,
  plural,
  joinLines,
  type TextOptions,
} from '../platform/terminal/format';
import { forShell } from '../platform/process/spawn';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, padEnd } from '../platform/terminal/text-width';
import { parseIso } from '../platform/time/clock';
import { dayOf, timeOf } from '../platform/time/time';
import type { CaptureResult } from './capture';
import { APP_KINDS, siteHint } from '../time/classify';
import type { Classified } from './classify-file';
import { isSite } from '../platform/net/site';
import type { PurgeResult } from './purge';
import { isEmptyRecord, type DailyRecord } from '../time/record';
import type { SenseStatus } from './read';
import type { SourceState, SourceStatus } from './source';
import { jumpText } from './state';
import { MIN_COLUMNS, noTime } from './view';

export interface StatusTextOptions extends TextOptions {
  timezone: string;
  /** The current time. Times today are shown without a date. */
  now: number;
}

/** Formats one row per source, with its description and the reason for its state. */
export function sourcesText(sources: readonly SourceStatus[], options: StatusTextOptions): string {
  return joinLines(sourceLines(sources, options, true));
}

export function statusText(status: SenseStatus, options: StatusTextOptions): string {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const colors = palette(options);
  const every = status.pollIntervalSec;
  const last = status.lastCaptureTs;
  const row = (name: string, value: string, isAlert = false): string[] =>
    wrap(value, columns - 14, '').map(
      (line, i) => (i === 0 ? name : '').padEnd(14) + (isAlert ? colors.attention(line) : line),
    );
  const lines = [
    ...(status.enabled
      ? row('capture', `on, every ${every % 60 === 0 ? `${every / 60} min` : `${every} s`}`)
      : row('capture', `off; turn it on with "steward config set sense.enabled true"`, true)),
    ...row(
      'repositories',
      status.repos.map(clean).join(', ') || 'none; add one with "steward config add sense.repos PATH"',
    ),
    ...row('event logs', `deleted after ${plural(status.retentionDays, 'day')}; records remain`),
    ...row('last capture', last === null ? 'never; run "steward sense capture"' : localTime(last, options)),
    ...row('events today', String(status.eventsToday)),
    ...row('last record', status.lastRecord ?? 'none yet; days are recorded after they end'),
    ...row('scheduler', schedulerText(status), status.scheduler?.installed === false),
    ...(status.quarantined === 0 ? [] : row('quarantined', quarantinedText(status.quarantined), true)),
    ...status.clockJumps.flatMap((jump) =>
      row('clock', `set ${jumpText(jump)}, noticed ${localTime(jump.at, options)}`, true),
    ),
    ...(status.sources.length === 0 ? [] : ['', ...sourceLines(status.sources, options, false)]),
  ];
  return joinLines(lines);
}

function quarantinedText(count: number): string {
  return `${plural(count, 'invalid line')}, moved to sense/quarantine when the day is recorded`;
}

function schedulerText({ scheduler }: SenseStatus): string {
  if (scheduler === null) return 'none; captures run only while "steward up" is running';
  const kind = clean(scheduler.kind);
  return scheduler.installed ? kind : `${kind} has no capture job`;
}

function sourceLines(sources: readonly SourceStatus[], options: StatusTextOptions, describe: boolean) {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const colors = palette(options);
  const rows = sources.map((source) => [
    clean(source.id),
    paintState(source.state, colors),
    `${source.eventsToday} today`,
    source.lastEventTs === null ? 'never' : `last ${localTime(source.lastEventTs, options)}`,
  ]);
  const lines = widestTable(rows, [4, 3], columns);
  return sources.flatMap(({ description, reason }, i) => [
    lines[i] ?? '',
    ...(describe ? wrap(clean(description), columns, '  ').map(colors.neutral) : []),
    ...(reason === undefined ? [] : wrap(clean(reason), columns, '  ')),
  ]);
}

/** Formats a table, using the first column count in `counts` that fits the width. */
function widestTable(rows: readonly string[][], counts: readonly number[], room: number): string[] {
  const align = [{}, {}, { align: 'right' as const }];
  const tables = counts.map((count) => {
    const cells = rows.map((row) => row.slice(0, count));
    return table(cells, align).split('\n');
  });
  return tables.find((lines) => widthOf(lines) <= room) ?? tables.at(-1) ?? [];
}

function widthOf(lines: readonly string[]): number {
  return Math.max(0, ...lines.map(displayWidth));
}

function paintState(state: SourceState, colors: Palette): string {
  if (state === 'error' || state === 'unsupported') return colors.attention(state);
  return state === 'ok' ? state : colors.neutral(state);
}

/** Formats a time as `09:42`, or as `2026-11-19 17:20` if it isn't today. */
function localTime(iso: string, { timezone, now }: StatusTextOptions): string {
  const ms = parseIso(iso);
  if (ms === undefined) return clean(iso);
  const day = dayOf(ms, timezone);
  return day === dayOf(now, timezone) ? timeOf(ms, timezone) : `${day} ${timeOf(ms, timezone)}`;
}

/** Formats each day as a line with a bar, newest first. */
export function recentText(records: readonly DailyRecord[], options: TextOptions): string {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  if (records.length === 0) {
    const text =
      'No days recorded yet; a day is recorded after it ends. For today, run "steward sense today".';
    return joinLines(wrap(text, columns));
  }
  const colors = palette(options);
  const timeOfDay = ({ totalMinutes }: DailyRecord): string =>
    totalMinutes === 0 ? '-' : minutes(totalMinutes);
  const days = records.map((record) => [record.date, weekday(record.date), timeOfDay(record)]);
  const left = table(days, [{}, {}, { align: 'right' }]).split('\n');
  const leftColumns = widthOf(left);
  const right = rightCells(records, columns - leftColumns - 2);
  const max = Math.max(...records.map((record) => record.totalMinutes));
  const room = max === 0 ? 0 : columns - leftColumns - 4 - widthOf(right);
  const lines = records.map((record, i) => {
    const drawn = room < 6 ? '' : bar(record.totalMinutes, max, room);
    const gap = room < 6 ? '' : paintShares(drawn, record, colors) + ' '.repeat(room + 2 - drawn.length);
    return `${padEnd(left[i] ?? '', leftColumns)}  ${gap}${right[i] ?? ''}`;
  });
  return joinLines(lines);
}

/** Returns the text after each bar, in as many columns as fit. */
function rightCells(records: readonly DailyRecord[], room: number): string[] {
  const isOpen = records.some((record) => !record.final);
  const hasTime = records.some(({ totalMinutes }) => totalMinutes > 0);
  const rows = records.map((record) => {
    const isEmpty = isEmptyRecord(record);
    const soFar = isOpen ? [record.final ? '' : 'so far'] : [];
    const time = timeWords(record);
    const counts = isEmpty
      ? ['', '']
      : [plural(record.commits.count, 'commit'), plural(record.sessions.count, 'session')];
    return hasTime ? [time, ...soFar, ...counts] : [...counts, ...soFar, time];
  });
  const barRoom = hasTime ? 8 : 0;
  for (let count = 4; count > 0; count -= 1) {
    const lines = table(rows.map((row) => row.slice(0, count))).split('\n');
    if (widthOf(lines) + (count > 1 ? barRoom : 0) <= room) return lines;
  }
  return records.map(() => '');
}

function timeWords(record: DailyRecord): string {
  if (isEmptyRecord(record)) return record.backfilled === true ? 'not recorded' : 'nothing captured';
  return record.totalMinutes === 0 ? noTime(record) : `creation ${minutes(record.creationMinutes)}`;
}

function paintShares(text: string, record: DailyRecord, colors: Palette): string {
  const chars = [...text];
  const total = record.totalMinutes || 1;
  let minutesBefore = 0;
  let from = 0;
  return APP_KINDS.map((kind, i) => {
    minutesBefore += record[`${kind}Minutes`];
    const to = i === 2 ? chars.length : Math.round((minutesBefore / total) * chars.length);
    const part = colors[kind](chars.slice(from, to).join(''));
    from = to;
    return part;
  }).join('');
}

export function captureText(result: CaptureResult, options: { timezone: string; columns: number }): string {
  if (!result.captured) {
    return 'Nothing was captured: sense.enabled is false. Turn it on with "steward config set sense.enabled true".';
  }
  const at = timeOf(parseIso(result.ts) ?? 0, options.timezone);
  const cells = result.sources.map(({ id, state, events }) => [`  ${id}`, state, plural(events, 'event')]);
  const rows = table(cells).split('\n');
  const lines = result.sources.flatMap(({ reason }, i) => [
    rows[i] ?? '',
    ...(reason === undefined ? [] : wrap(clean(reason), options.columns, '    ')),
  ]);
  return [
    `Captured at ${at}: ${plural(result.events, 'event')}`,
    ...(lines.length === 0 ? ['  all sources are off'] : lines),
    ...daysLine('Recorded', result.rolled),
    ...daysLine('Event logs deleted for', result.pruned),
  ].join('\n');
}

export function classifiedText({ app, kind, file, rolled, kept }: Classified): string {
  return [
    `${clean(app)}${siteHint(app)} now counts as ${kind} (${file}).`,
    ...daysLine('Records rebuilt:', rolled),
    ...daysLine('Not rebuilt, because their event logs were deleted:', kept),
  ].join('\n');
}

/** Formats the result of a purge. `usage` lists the days whose token usage is also removed; `app` was selected. */
export function purgeText(result: PurgeResult & { usage?: readonly string[]; app?: string }): string {
  const { dryRun, events, logs, rebuilt, removed, kept, insights, usage = [], app } = result;
  const isWhole = app === undefined && result.repo === null;
  const lines = [
    ...daysLine(`  ${plural(events, 'event')} from the event logs for`, logs),
    ...daysLine('  records rebuilt:', rebuilt),
    ...daysLine(
      `  records removed${isWhole ? '' : ' with everything else in them, because their event logs were deleted'}:`,
      removed,
    ),
    ...daysLine('  insights removed:', insights),
    ...daysLine('  token usage removed:', usage),
    ...daysLine(
      '  records not rebuilt, because their event logs were deleted (to remove these records with everything else in them, use --records):',
      kept,
    ),
    ...unclearLine(result.repo),
  ];
  const { path = null } = result.repo ?? {};
  const range = [...(path === null ? [] : [`repository ${clean(path)}`]), ...rangeText(result)].join(', ');
  const when = range === '' ? '' : ` (${range})`;
  const hint = isSite(app ?? '') ? ` For a site, use --app site:${app}.` : '';
  if (lines.length === 0) return `No stored data matches${when}.${hint}`;
  return [`${dryRun ? 'Would remove' : 'Removed'}${when}${dryRun ? ', with --yes' : ''}:`, ...lines].join(
    '\n',
  );
}

function rangeText({ from, to }: PurgeResult): string[] {
  if (from === null || to === null) return [];
  return [from === to ? `only ${longDay(from)}` : `${longDay(from)} to ${longDay(to)}`];
}

function unclearLine(repo: PurgeResult['repo']): string[] {
  if (repo === null) return [];
  const commands = repo.names.map((name) => `steward sense purge --repo ${forShell(clean(name))} --records`);
  const others = repo.others.map((path) => clean(path)).join(', ');
  const what = `  not removed, because this data has no path and may belong to ${others} (to remove it anyway: ${commands.join('; ')}):`;
  return daysLine(what, repo.unclear);
}

function daysLine(what: string, days: readonly string[]): string[] {
  return days.length === 0 ? [] : [`${what} ${days.join(', ')}`];
}
