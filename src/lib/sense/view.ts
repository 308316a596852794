import {
  bar,
  level,
  longDay,
  minutes,
  palette,
  wrap,
  type Palette,
  joinLines,
  type TextOptions,
} from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, fit, padEnd } from '../platform/terminal/text-width';
import { APP_KINDS, type AppKind } from '../time/classify';
import { siteLines, withoutSites } from '../time/site-rows';
import { machinesText } from '../time/machines/view';
import { isEmptyRecord, type AppTime, type DailyRecord, type SessionRepos } from '../time/record';

/** What a day's record doesn't cover: idle time, and sources that were not captured. */
export interface NotSeen {
  idleMinutes: number;
  sources: readonly { label: string; reason: string }[];
}

export interface RecordTextOptions extends TextOptions {
  notSeen: NotSeen;
  /** Number of rows in the inbox. */
  waiting?: number;
  /** Number of sessions per repository. Repositories with the most sessions come first. */
  sessionRepos?: SessionRepos;
}

const NO_SITES = 'browser sites (none reported)';
const APP_ROWS = 6;
const KIND_COLUMNS = 'consumption'.length;
/** Minimum width for the two-column layout. */
const WIDE = 72;
/** Minimum width of the output. */
export const MIN_COLUMNS = 32;

interface View {
  record: DailyRecord;
  columns: number;
  isWide: boolean;
  side: number;
  colors: Palette;
}

/** Formats a day by kind, application and hour, and lists what was not tracked. */
export function recordText(record: DailyRecord, options: RecordTextOptions): string {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const side = columns - 32 - Math.max(0, Math.min(16, Math.floor((columns - 80) / 2)));
  const view: View = { record, columns, isWide: columns >= WIDE, side, colors: palette(options) };
  const blocks = isEmptyRecord(record)
    ? [[...header(view), ...emptyDay(view, options)]]
    : [[...header(view), ...kindLines(view), ...appLines(view)], hoursAndCounts(view, options)];
  const machines = machinesText(record);
  if (machines !== '') blocks.push(wrap(`machines: ${machines}`, columns, '  ', '    '));
  blocks.push(notSeenLines(record, options.notSeen, columns));
  return joinLines(blocks.flatMap((block, i) => (i === 0 ? block : ['', ...block])));
}

function notSeenLines(record: DailyRecord, { idleMinutes, sources }: NotSeen, columns: number): string[] {
  // A day without recorded time must not look like a day without work.
  const isUnrecorded = record.totalMinutes === 0 && idleMinutes === 0 && sources.length === 0;
  const items = [
    ...(idleMinutes > 0 ? [`idle ${minutes(idleMinutes)}`] : []),
    ...sources.map(({ label, reason }) => `${nameOf(label)} (${clean(reason)})`),
    ...(isUnrecorded && !isEmptyRecord(record) ? ['application time (not recorded)'] : []),
    ...(siteLines(record.apps).length > 0 ? [] : [NO_SITES]),
  ];
  return wrap(`not tracked: ${items.join(' · ') || 'nothing'}`, columns, '  ', '    ');
}

function header({ record, columns, isWide, colors }: View): string[] {
  const day = `${longDay(record.date)} · ${clean(record.timezone)}`;
  const soFar = record.final ? '' : ' · so far';
  const total = record.totalMinutes === 0 ? noTime(record) : `${minutes(record.totalMinutes)} tracked`;
  const end = columns - 2;
  const left = fit(day, isWide ? end - 12 - total.length : columns - soFar.length) + soFar;
  if (isEmptyRecord(record)) return [left];
  return isWide ? [padEnd(left, end - total.length) + colors.strong(total)] : [left, colors.strong(total)];
}

export function noTime({ backfilled }: DailyRecord): string {
  return backfilled === true ? 'time not recorded' : 'no time captured';
}

function emptyDay({ record, columns }: View, { notSeen }: RecordTextOptions): string[] {
  if (record.final) return wrap('Nothing was captured on this day.', columns);
  const isSampled = notSeen.idleMinutes > 0 || notSeen.sources.length > 0;
  const byHand = isSampled ? '' : ' Run "steward sense capture" to capture now.';
  return wrap(`Nothing captured yet today.${byHand}`, columns);
}

function kindLines({ record, columns, isWide, side, colors }: View): string[] {
  if (record.totalMinutes === 0) return [];
  const valueOf = (kind: AppKind): number => record[`${kind}Minutes`];
  const timeColumns = Math.max(...APP_KINDS.map((kind) => minutes(valueOf(kind)).length));
  const line = (kind: AppKind): string =>
    `${colors[kind](kind.padEnd(KIND_COLUMNS))} ${minutes(valueOf(kind)).padStart(timeColumns)}`;
  const drawn = (kind: AppKind, room: number): string =>
    colors[kind](bar(valueOf(kind), record.totalMinutes, room));
  if (!isWide) return APP_KINDS.map((kind) => `${line(kind)}  ${drawn(kind, columns - 14 - timeColumns)}`);
  const time = minutes(record.creationMinutes);
  const room = side - `creation ${time}  `.length - 2;
  const first = `${colors.creation('creation')} ${time}  ${drawn('creation', room)}`;
  return [padEnd(first, side) + line('consumption'), ' '.repeat(side) + line('neutral')];
}

function appLines({ record, columns, colors }: View): string[] {
  const apps = withoutSites(record.apps);
  const count = apps.length <= APP_ROWS ? apps.length : APP_ROWS - 1;
  const named = apps.slice(0, count);
  const rows = APP_KINDS.flatMap((kind) => named.filter((app) => app.kind === kind)).map((app, i, all) => ({
    name: nameOf(app.app),
    value: app.minutes,
    kind: app.kind,
    word: app.kind === all[i - 1]?.kind ? '' : (app.kind as string),
  }));
  if (apps.length > count) rows.push(restRow(apps.slice(count)));
  const timeColumns = Math.max(8, ...rows.map(({ value }) => minutes(value).length));
  const widest = Math.max(8, ...rows.map(({ name }) => displayWidth(name)));
  const reserved = 8 + timeColumns + KIND_COLUMNS + (columns < 60 ? 0 : 8);
  const nameColumns = Math.min(widest, columns - reserved, 17 + Math.max(0, columns - 80));
  const room = columns - (2 + nameColumns + 2 + timeColumns + 2) - (2 + KIND_COLUMNS);
  const max = Math.max(...rows.map(({ value }) => value));
  const lines = rows.map(({ name, value, kind, word }) => {
    const label = padEnd(fit(name, nameColumns), nameColumns);
    const drawn = room < 6 ? '' : padEnd(bar(value, max, room), room + 2);
    return `  ${label}  ${minutes(value).padStart(timeColumns)}  ${colors[kind](`${drawn}${word}`.trimEnd())}`;
  });
  const sites = siteLines(record.apps).flatMap((line) => wrap(nameOf(line), columns, '  ', '    '));
  return [...lines, ...sites];
}

function restRow(rest: readonly AppTime[]): { name: string; value: number; kind: AppKind; word: string } {
  const value = rest.reduce((sum, app) => sum + app.minutes, 0);
  const kinds = [...new Set(rest.map(({ kind }) => kind))];
  const kind = kinds.length === 1 ? (kinds[0] ?? 'neutral') : 'neutral';
  return { name: `${rest.length} more`, value, kind, word: kinds.length === 1 ? kind : 'mixed' };
}

function hoursAndCounts(view: View, options: RecordTextOptions): string[] {
  const { record, columns, isWide, side } = view;
  const hours = activeHours(record);
  const counts = countLines(view, options, isWide && hours.length > 0 ? columns - side : columns - 2);
  if (hours.length === 0) return counts.map((line) => `  ${line}`);
  const strip = hourStrip(view, hours, (isWide ? side : columns) - 4);
  if (!isWide) return [...strip, ...counts].map((line) => `  ${line}`);
  return strip.map((line, i) => padEnd(`  ${line}`, side) + (counts[i] ?? ''));
}

function countLines({ record, colors }: View, options: RecordTextOptions, room: number): string[] {
  const { waiting = 0, sessionRepos = [] } = options;
  const commits = `commits ${record.commits.count}`.padEnd(10);
  const sessions = `sessions ${record.sessions.count}`.padEnd(10);
  const wait = waiting === 0 ? '' : fit(`${waiting} waiting for you`, room - sessions.length - 2);
  const repos = asManyAs(
    record.commits.repos.map(({ repo, commits: n }) => `${nameOf(repo)} ${n}`),
    room - commits.length - 2,
  );
  const places = asManyAs(
    sessionRepos.map(({ repo, sessions: n }) => `${nameOf(repo)} ${n}`),
    room - sessions.length - 2 - (wait === '' ? 0 : wait.length + 3),
  );
  const after = [...(places === '' ? [] : [places]), ...(wait === '' ? [] : [colors.attention(wait)])];
  return [`${commits}  ${repos}`.trimEnd(), `${sessions}  ${after.join(' · ')}`.trimEnd()];
}

/** Returns as many items as fit, and the number of omitted items. */
function asManyAs(items: readonly string[], room: number): string {
  for (let count = items.length; count > 0; count -= 1) {
    const more = count < items.length ? [`${items.length - count} more`] : [];
    const text = [...items.slice(0, count), ...more].join(' · ');
    if (displayWidth(text) <= room) return text;
  }
  return '';
}

/** Formats each hour as a pair of bars, with creation on the left and other time on the right. */
function hourStrip({ colors }: View, hours: DailyRecord['hours'], room: number): string[] {
  const cell = Math.max(1, Math.min(4, Math.floor(room / hours.length)));
  const step = cell >= 3 ? 1 : cell === 2 ? 2 : 3;
  const labels = hours.map(({ start }, i) => (i % step === 0 ? start.slice(11, 13).padEnd(cell * step) : ''));
  const marks = hours.map(({ creation, consumption, neutral }) => {
    const other = consumption >= neutral ? colors.consumption : colors.neutral;
    if (cell === 1) return level(creation + consumption + neutral, 60);
    const pair = colors.creation(level(creation, 60)) + other(level(consumption + neutral, 60));
    return pair + ' '.repeat(cell - 2);
  });
  const legend = cell === 1 ? 'by hour' : 'by hour: creation, then other time';
  return [fit(labels.join('').trimEnd(), room), marks.join(''), colors.neutral(fit(legend, room))];
}

/** Returns the hours from the first to the last with activity. */
export function activeHours({ hours }: DailyRecord): DailyRecord['hours'] {
  const isActive = hours.map(({ creation, consumption, neutral }) => creation + consumption + neutral > 0);
  return hours.slice(Math.max(0, isActive.indexOf(true)), isActive.lastIndexOf(true) + 1);
}

export function nameOf(text: string): string {
  return clean(text).trim() || 'unknown';
}
