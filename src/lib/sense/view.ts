import { bar, level, longDay, minutes, palette, wrap, type Palette } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, fit, padEnd } from '../platform/terminal/text-width';
import { APP_KINDS, type AppKind } from './app-kind';
import type { AppTime, DailyRecord } from './record';
import type { SessionRepos } from './record-tally';
import { finish, isEmpty, MIN_COLUMNS, nameOf, seenHours, topApps, type TextOptions } from './view-parts';

/** What the day's record cannot hold, said beside it (service.md: an incomplete day is shown as one). */
export interface NotSeen {
  /** Time that was sampled while the person was away. */
  idleMinutes: number;
  /** Sources that should have seen something and did not, with the reason. */
  sources: readonly { label: string; reason: string }[];
}

export interface RecordTextOptions extends TextOptions {
  notSeen: NotSeen;
  /** `09:42`; left out where nothing captures by itself. */
  nextCapture?: string;
  /** Sessions that wait for the person. */
  waiting?: number;
  /** Where the day's sessions were, most first. */
  sessionRepos?: SessionRepos;
}

/** No adapter of this version sees these, on any system. */
const NEVER_SEEN = ['browser tabs (no adapter in this version)'] as const;

const APP_ROWS = 6;
/** From here on the figures stand beside each other. */
const WIDE = 72;

/** A day for the terminal: what was seen, by kind, by application and by hour; and what was not. */
export function recordText(record: DailyRecord, options: RecordTextOptions): string {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const colors = palette({ color: options.color });
  const isWide = columns >= WIDE;
  // The right-hand block takes 32 columns, and half of what a wide terminal has to spare.
  const side = columns - 32 - Math.max(0, Math.min(16, Math.floor((columns - 80) / 2)));
  const view: View = { record, columns, isWide, side, colors };
  const blocks = isEmpty(record)
    ? [[...header(view), ...emptyDay(record, columns, options)]]
    : [[...header(view), ...kindLines(view), ...appLines(view)], hoursAndCounts(view, options)];
  blocks.push(notSeenLines(record, options.notSeen, columns));
  const lines = blocks.flatMap((block, i) => (i === 0 ? block : ['', ...block]));
  return finish(lines, options);
}

/** `not seen: …`, wrapped; the reasons say what to do, so they are never cut. */
function notSeenLines(record: DailyRecord, notSeen: NotSeen, columns: number): string[] {
  // Of a past day no source says why; that nothing was recorded does not mean that nobody worked.
  const isUnrecorded =
    record.totalMinutes === 0 &&
    !isEmpty(record) &&
    notSeen.idleMinutes === 0 &&
    notSeen.sources.length === 0;
  const items = [
    ...(notSeen.idleMinutes > 0 ? [`idle ${minutes(notSeen.idleMinutes)}`] : []),
    ...notSeen.sources.map(({ label, reason }) => `${nameOf(label)} (${clean(reason)})`),
    ...(isUnrecorded ? ['application time (not recorded)'] : []),
    ...NEVER_SEEN,
  ];
  return wrap(`not seen: ${items.join(' · ')}`, columns, '  ', '    ');
}

interface View {
  record: DailyRecord;
  columns: number;
  isWide: boolean;
  /** Where the right-hand block begins. */
  side: number;
  colors: Palette;
}

function header({ record, columns, isWide, colors }: View): string[] {
  const soFar = record.final ? '' : ' · so far';
  const seen = record.totalMinutes === 0 ? 'no time captured' : `${minutes(record.totalMinutes)} seen`;
  if (!isWide) {
    const left = fit(`${longDay(record.date)} · ${clean(record.timezone)}`, columns - soFar.length) + soFar;
    return isEmpty(record) ? [left] : [left, colors.strong(seen)];
  }
  const end = columns - 2;
  const left = fit(`${longDay(record.date)} · ${clean(record.timezone)}`, end - 12 - seen.length) + soFar;
  if (isEmpty(record)) return [left];
  return [padEnd(left, end - seen.length) + colors.strong(seen)];
}

function emptyDay(record: DailyRecord, columns: number, options: RecordTextOptions): string[] {
  if (record.final) return wrap('Nothing was captured on this day.', columns);
  const { nextCapture, notSeen } = options;
  const isSampled = notSeen.idleMinutes > 0 || notSeen.sources.length > 0;
  const next = isSampled ? '' : ' Run "steward sense capture" to take a sample.';
  return wrap(
    `Nothing captured yet today.${nextCapture === undefined ? next : ` The next capture is at ${nextCapture}.`}`,
    columns,
  );
}

function kindLines({ record, columns, isWide, side, colors }: View): string[] {
  if (record.totalMinutes === 0) return [];
  const time: Record<AppKind, string> = {
    creation: minutes(record.creationMinutes),
    consumption: minutes(record.consumptionMinutes),
    neutral: minutes(record.neutralMinutes),
  };
  const share: Record<AppKind, number> = {
    creation: record.creationMinutes,
    consumption: record.consumptionMinutes,
    neutral: record.neutralMinutes,
  };
  const timeColumns = Math.max(...APP_KINDS.map((kind) => time[kind].length));
  const line = (kind: AppKind): string =>
    `${colors[kind](kind.padEnd(11))} ${time[kind].padStart(timeColumns)}`;
  if (!isWide) {
    return APP_KINDS.map((kind) => {
      const room = columns - 14 - timeColumns;
      return `${line(kind)}  ${colors[kind](bar(share[kind], record.totalMinutes, room))}`;
    });
  }
  const start = `creation ${time.creation}  `;
  const drawn = bar(share.creation, record.totalMinutes, side - start.length - 2);
  const first = `${colors.creation('creation')} ${time.creation}  ${colors.creation(drawn)}`;
  return [padEnd(first, side) + line('consumption'), ' '.repeat(side) + line('neutral')];
}

/** The longest ones; kinds stand together and the first row of each says which it is. */
function appLines({ record, columns, colors }: View): string[] {
  const { named, rest } = topApps(record, APP_ROWS);
  const rows = APP_KINDS.flatMap((kind) => named.filter((app) => app.kind === kind)).map((app, i, all) => ({
    name: nameOf(app.app),
    time: minutes(app.minutes),
    value: app.minutes,
    kind: app.kind,
    word: app.kind === all[i - 1]?.kind ? '' : app.kind,
  }));
  if (rest.length > 0) rows.push(restRow(rest));
  const timeColumns = Math.max(8, ...rows.map(({ time }) => time.length));
  const widest = Math.max(8, ...rows.map(({ name }) => displayWidth(name)));
  // Names go before bars where there is no room for both.
  const reserved = 8 + timeColumns + KIND_COLUMNS + (columns < 60 ? 0 : 8);
  const nameColumns = Math.min(widest, columns - reserved, 17 + Math.max(0, columns - 80));
  const room = columns - (2 + nameColumns + 2 + timeColumns + 2) - (2 + KIND_COLUMNS);
  const barColumns = room < 6 ? 0 : room;
  const max = Math.max(...rows.map(({ value }) => value));
  return rows.map(({ name, time, value, kind, word }) => {
    const label = padEnd(fit(name, nameColumns), nameColumns);
    const drawn = barColumns === 0 ? '' : padEnd(bar(value, max, barColumns), barColumns + 2);
    const paint = colors[kind];
    return `  ${label}  ${time.padStart(timeColumns)}  ${paint(`${drawn}${word}`.trimEnd())}`;
  });
}

const KIND_COLUMNS = 'consumption'.length;

function restRow(rest: readonly AppTime[]) {
  const value = rest.reduce((sum, app) => sum + app.minutes, 0);
  const [first] = rest;
  const isOneKind = first !== undefined && rest.every(({ kind }) => kind === first.kind);
  const kind: AppKind = isOneKind ? first.kind : 'neutral';
  return { name: `${rest.length} more`, time: minutes(value), value, kind, word: isOneKind ? kind : 'mixed' };
}

function hoursAndCounts(view: View, options: RecordTextOptions): string[] {
  const { record, columns, isWide, side } = view;
  const hours = seenHours(record);
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

/** Whole items that fit, and how many more there are: a figure is never cut. */
function asManyAs(items: readonly string[], room: number): string {
  for (let count = items.length; count > 0; count -= 1) {
    const more = count < items.length ? [`${items.length - count} more`] : [];
    const text = [...items.slice(0, count), ...more].join(' · ');
    if (displayWidth(text) <= room) return text;
  }
  return '';
}

/** The hours as columns under their labels: creation on the left of each, the rest on the right. */
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
  const legend = cell === 1 ? 'by the hour' : 'by the hour: creation, then the rest';
  return [fit(labels.join('').trimEnd(), room), marks.join(''), colors.neutral(fit(legend, room))];
}
