import {
  longDay,
  palette,
  table,
  wrap,
  type Palette,
  joinLines,
  type TextOptions,
} from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, fit, padEnd } from '../platform/terminal/text-width';
import { parseIso } from '../platform/time/clock';
import { dayOf, timeOf } from '../platform/time/time';
import type { ShownItem } from './actions';
import type { BoardView, Item } from './board';
import { titleText } from './issue';

export interface WorkTextOptions extends TextOptions {
  nowMs: number;
  timezone: string;
}

interface View extends WorkTextOptions {
  colors: Palette;
}

const MIN_COLUMNS = 32;

export function view(options: WorkTextOptions): View {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  return { ...options, columns, colors: palette({ color: options.color }) };
}

export function setupLines(steps: readonly string[], { columns }: View): string[] {
  const intro =
    'Work tracking is not set up. It stores your work as issues in one private GitHub repository. Run:';
  return [...wrap(intro, columns), '', ...steps.map((step) => `  ${step}`)];
}

export function titleOf({ title }: Pick<Item, 'title'>): string {
  return clean(titleText(title)).trim() || 'untitled';
}

/** Formats `09:42` for today, otherwise `Fri 20 Nov 2026 09:42`. `year: false` omits the year. */
export function when(iso: string, at: Pick<View, 'nowMs' | 'timezone'>, { year = true } = {}): string {
  const ms = parseIso(iso);
  if (ms === undefined) return 'unknown';
  const day = dayOf(ms, at.timezone);
  const time = timeOf(ms, at.timezone);
  if (day === dayOf(at.nowMs, at.timezone)) return time;
  return `${year ? longDay(day) : longDay(day).slice(0, -5)} ${time}`;
}

const LANE_ROWS = 10;
const COMPLETE_ROWS = 5;
const NOT_FETCHED = 'The issues have not been fetched yet.';

/** Formats the output of `work board`, one lane below another. */
export function boardText(board: BoardView, options: WorkTextOptions): string {
  const at = view(options);
  if (board.setupRequired) return joinLines(setupLines(board.steps, at));
  const open = board.items.filter(({ state }) => state === 'open').length;
  const count = board.lastFetch === null ? '' : `${open} open`;
  const room = at.columns - displayWidth(count) - 2;
  const name = padEnd(fit(clean(board.config.repo ?? ''), room), room + 2);
  const byNumber = new Map(board.items.map((item) => [item.number, item]));
  const lanes = Object.entries(board.columns);
  const none = board.lastFetch === null ? NOT_FETCHED : 'No issues yet. Create one: steward work add TITLE';
  return joinLines([
    name + at.colors.strong(count),
    ...staleLines(board, at),
    ...(board.items.length === 0
      ? ['', ...wrap(none, at.columns)]
      : lanes.flatMap(([lane, numbers]) => ['', ...laneLines(lane, numbers, byNumber, at)])),
  ]);
}

function staleLines({ stale, staleReason, lastFetch }: BoardView, at: View): string[] {
  if (!stale) return [];
  const since = lastFetch === null ? '' : ` Last fetched: ${when(lastFetch, at)}.`;
  return wrap(`${clean(staleReason ?? '')}${since}`, at.columns).map(at.colors.attention);
}

function laneLines(lane: string, numbers: number[], items: Map<number, Item>, at: View): string[] {
  const isComplete = lane === 'Complete';
  const { neutral, attention, creation, strong } = at.colors;
  const paint = isComplete ? neutral : lane === 'Blocked' ? attention : creation;
  const limit = isComplete ? COMPLETE_ROWS : LANE_ROWS;
  const shown = numbers.slice(0, limit).flatMap((number) => items.get(number) ?? []);
  const more = `  ${numbers.length - limit} more: steward work list --lane ${lane}${isComplete ? ' --state all' : ''}`;
  return [
    `${paint(lane)} ${strong(String(numbers.length))}`,
    ...itemRows(shown, at),
    ...(numbers.length > limit ? [neutral(more)] : []),
  ];
}

/** Formats the number, priority, title, details and age of each item. The title gets the remaining width. */
function itemRows(items: readonly Item[], at: View): string[] {
  const numbers = Math.max(0, ...items.map(({ number }) => String(number).length));
  const { attention, neutral } = at.colors;
  return items.map((item) => {
    const changed = item.state === 'closed' ? (item.closedAt ?? item.updatedAt) : item.updatedAt;
    const end = `  ${age(changed, at.nowMs).padStart(5)}`;
    const facts = at.columns >= 60 ? fit(factsOf(item, at), Math.floor(at.columns / 3)) : '';
    const middle = facts === '' ? '' : `  ${facts}`;
    const start = `  ${String(item.number).padStart(numbers)}  ${(item.priority ?? '').padEnd(2)}  `;
    const room = Math.max(4, at.columns - displayWidth(start + middle + end));
    const title = padEnd(fit(titleOf(item), room), room);
    return `${start}${title}${neutral(middle)}${item.stale ? attention(end) : neutral(end)}`;
  });
}

function factsOf(item: Item, at: View): string {
  const due =
    item.due === null || item.state === 'closed' ? null : `due ${when(item.due, at, { year: false })}`;
  return [due, ...item.agents.map(clean), item.property, item.stale ? 'stale' : null]
    .filter((fact) => fact !== null)
    .join(' · ');
}

export function listText(board: BoardView, items: readonly Item[], options: WorkTextOptions, empty: string) {
  const at = view(options);
  if (board.setupRequired) return joinLines(setupLines(board.steps, at));
  const none = wrap(board.lastFetch === null ? NOT_FETCHED : empty, at.columns);
  return joinLines([...staleLines(board, at), ...(items.length === 0 ? none : itemRows(items, at))]);
}

export function showText(item: ShownItem, options: WorkTextOptions): string {
  const at = view(options);
  const { state, status, agents, due, comments } = item;
  const facts = {
    state: state === 'closed' ? `closed ${when(item.closedAt ?? item.updatedAt, at)}` : (status ?? 'open'),
    lane: item.lane,
    type: item.type,
    priority: item.priority,
    property: item.property,
    agents: agents.length === 0 ? null : agents.join(', '),
    source: item.source,
    session: item.slug,
    due: due === null ? null : when(due, at),
    created: when(item.createdAt, at),
    updated: `${when(item.updatedAt, at)}${item.stale ? ', stale' : ''}`,
    page: item.url,
  };
  const rows = Object.entries(facts).flatMap(([name, value]) =>
    value === null ? [] : [[`  ${name}`, clean(value)]],
  );
  const [title = '', ...rest] = wrap(`#${item.number} ${titleOf(item)}`, at.columns, '', '  ');
  const cached = `Cached copy, without the description or comments. ${clean(item.staleReason ?? '')}`;
  const body = (item.body ?? '').replace(/<!--[^]*?(?:-->|$)/g, '').trim();
  return joinLines([
    at.colors.strong(title),
    ...rest,
    ...(item.fromCache ? wrap(cached, at.columns).map(at.colors.attention) : []),
    '',
    ...table(rows)
      .split('\n')
      .map((line) => (/https?:\/\//.test(line) ? line : fit(line, at.columns))),
    ...(body === '' ? [] : ['', ...paragraphs(body, at, '  ')]),
    ...(comments ?? []).flatMap(({ author, createdAt, body: text }) => [
      '',
      at.colors.neutral(`  ${clean(author)}, ${when(createdAt, at)}`),
      ...paragraphs(text, at, '    '),
    ]),
  ]);
}

function paragraphs(text: string, { columns }: View, indent: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => wrap(clean(line), columns, indent));
}

/** Formats an age: `5 m`, `3 h`, `12 d`, `4 y`. */
function age(iso: string, nowMs: number): string {
  const minutes = Math.max(0, Math.floor((nowMs - (parseIso(iso) ?? nowMs)) / 60_000));
  if (minutes < 60) return `${minutes} m`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  const days = Math.floor(minutes / 1440);
  return days < 1000 ? `${days} d` : `${Math.floor(days / 365)} y`;
}
