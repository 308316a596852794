import { parseIso } from '../platform/clock';
import { longDay, palette, table, toAscii, wrap, type Palette } from '../platform/format';
import { clean } from '../platform/terminal';
import { displayWidth, fit, padEnd } from '../platform/text-width';
import { dayOf, timeOf } from '../platform/time';
import type { Added, Closed, Shown } from './actions';
import { groupItems, type BoardView, type Item } from './board';
import type { Lane } from '../config/schema';
import type { ClaimResult } from './claim';
import { parseTitle } from './issue';
import type { SeedResult } from './labels';
import type { SetupResult } from './setup';
import type { WorkStatus } from './status';
import type { TaskListResult } from './task-repo';

export interface WorkTextOptions {
  columns: number;
  color: boolean;
  /** False for terminals without block characters; true when left out. */
  unicode?: boolean;
  /** Wall-clock ms. */
  nowMs: number;
  timezone: string;
}

const MIN_COLUMNS = 32;
const LANE_ROWS = 10;
const COMPLETE_ROWS = 5;

interface View extends WorkTextOptions {
  colors: Palette;
}

function view(options: WorkTextOptions): View {
  return {
    ...options,
    columns: Math.max(MIN_COLUMNS, options.columns),
    colors: palette({ color: options.color }),
  };
}

function finish(lines: readonly string[], options: WorkTextOptions): string {
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return options.unicode === false ? toAscii(text) : text;
}

/** `work board`: the lanes one below the other, most urgent first. */
export function boardText(board: BoardView, options: WorkTextOptions): string {
  const at = view(options);
  if (board.setupRequired) return finish(setupLines(board.steps, at), options);
  const groups = groupItems(board.items, board.config.columns);
  const open = board.items.filter(({ state }) => state === 'open').length;
  const lines = [
    ...header(`${clean(board.config.repo ?? '')}`, `${open} open`, at),
    ...staleLines(board, at),
  ];
  if (board.items.length === 0) lines.push('', ...emptyLines(board, at));
  else
    for (const [lane, items] of Object.entries(groups)) lines.push('', ...laneLines(lane as Lane, items, at));
  return finish(lines, options);
}

function emptyLines(board: BoardView, at: View): string[] {
  if (board.lastFetch === null) return wrap('Nothing was read yet.', at.columns);
  return wrap('No issue yet. "steward work add" makes the first one.', at.columns);
}

function header(left: string, right: string, { columns, colors }: View): string[] {
  const room = columns - displayWidth(right) - 2;
  return [padEnd(fit(left, room), room + 2) + colors.strong(right)];
}

function setupLines(steps: readonly string[], { columns }: View): string[] {
  return [
    ...wrap(
      'Work tracking is not set up. It keeps work as issues in one private repository of yours:',
      columns,
    ),
    '',
    ...steps.map((step) => `  ${step}`),
  ];
}

function staleLines(
  { stale, staleReason, lastFetch }: Pick<BoardView, 'stale' | 'staleReason' | 'lastFetch'>,
  at: View,
): string[] {
  if (!stale) return [];
  const since = lastFetch === null ? '' : ` Shown as of ${when(lastFetch, at)}.`;
  return wrap(`${clean(staleReason ?? '')}${since}`, at.columns).map(at.colors.attention);
}

function laneLines(lane: Lane, items: readonly Item[], at: View): string[] {
  const paint =
    lane === 'Complete' ? at.colors.neutral : lane === 'Blocked' ? at.colors.attention : at.colors.creation;
  const most = lane === 'Complete' ? COMPLETE_ROWS : LANE_ROWS;
  const more = items.length - most;
  return [
    `${paint(lane)} ${at.colors.strong(String(items.length))}`,
    ...itemRows(items.slice(0, most), at),
    ...(more > 0
      ? [
          at.colors.neutral(
            `  ${more} more: steward work list --lane ${lane}${lane === 'Complete' ? ' --state all' : ''}`,
          ),
        ]
      : []),
  ];
}

/** Number, priority, title, who and what, age: the title takes what room there is. */
function itemRows(items: readonly Item[], at: View): string[] {
  const numbers = Math.max(0, ...items.map(({ number }) => String(number).length));
  const isWide = at.columns >= 60;
  return items.map((item) => {
    const end = age(item.state === 'closed' ? (item.closedAt ?? item.updatedAt) : item.updatedAt, at.nowMs);
    const facts = isWide ? fit(factsOf(item), Math.max(0, Math.floor(at.columns / 3))) : '';
    const left = `  ${String(item.number).padStart(numbers)}  ${(item.priority ?? '').padEnd(2)}  `;
    const right = `${facts === '' ? '' : `  ${facts}`}  ${end.padStart(5)}`;
    const room = at.columns - displayWidth(left) - displayWidth(right);
    const title = padEnd(fit(titleOf(item), Math.max(4, room)), Math.max(4, room));
    const tail = `  ${item.stale ? at.colors.attention(end.padStart(5)) : at.colors.neutral(end.padStart(5))}`;
    return `${left}${title}${facts === '' ? '' : `  ${at.colors.neutral(facts)}`}${tail}`;
  });
}

function factsOf(item: Item): string {
  const names = item.agents.map(clean);
  return [...names, item.property, item.stale ? 'stale' : null].filter((fact) => fact !== null).join(' · ');
}

/** The title without its prefix and identity, for a terminal. */
function titleOf(item: Pick<Item, 'title'>): string {
  const text = clean(parseTitle(item.title).text).trim();
  return text === '' ? 'untitled' : text;
}

/** `work list` and `work ready`. */
export function listText(
  board: BoardView,
  items: readonly Item[],
  options: WorkTextOptions,
  empty: string,
): string {
  const at = view(options);
  if (board.setupRequired) return finish(setupLines(board.steps, at), options);
  const rows = items.length === 0 ? wrap(empty, at.columns) : itemRows(items, at);
  return finish([...staleLines(board, at), ...rows], options);
}

/** `work show N`. */
export function showText(item: Shown, options: WorkTextOptions): string {
  const at = view(options);
  const facts: [string, string | null][] = [
    [
      'state',
      item.state === 'closed'
        ? `closed ${when(item.closedAt ?? item.updatedAt, at)}`
        : (item.status ?? 'open'),
    ],
    ['lane', item.lane],
    ['type', item.type],
    ['priority', item.priority],
    ['property', item.property],
    ['agents', item.agents.length === 0 ? null : item.agents.join(', ')],
    ['source', item.source],
    ['session', item.slug],
    ['due', item.due === null ? null : when(item.due, at)],
    ['created', when(item.createdAt, at)],
    ['changed', `${when(item.updatedAt, at)}${item.stale ? ', stale' : ''}`],
    ['page', item.url],
  ];
  const known = facts.filter((row): row is [string, string] => row[1] !== null);
  const lines = [
    ...wrap(`#${item.number} ${titleOf(item)}`, at.columns, '', '  ').map((line, i) =>
      i === 0 ? at.colors.strong(line) : line,
    ),
    ...(item.fromCache
      ? wrap(`Only what was read before can be shown. ${clean(item.staleReason ?? '')}`, at.columns).map(
          at.colors.attention,
        )
      : []),
    '',
    ...table(known.map(([name, value]) => [`  ${name}`, clean(value)]))
      .split('\n')
      .map((line) => (line.includes('https://') || line.includes('http://') ? line : fit(line, at.columns))),
  ];
  const body = (item.body ?? '').replace(/<!--[\s\S]*?-->/g, '').trim();
  if (body !== '') lines.push('', ...paragraphs(body, at, '  '));
  for (const comment of item.comments ?? []) {
    lines.push('', at.colors.neutral(`  ${clean(comment.author)}, ${when(comment.createdAt, at)}`));
    lines.push(...paragraphs(comment.body, at, '    '));
  }
  return finish(lines, options);
}

function paragraphs(text: string, { columns }: View, indent: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => wrap(clean(line), columns, indent));
}

/** `work add` and `work remind`. */
export function addedText(added: Added, options: WorkTextOptions): string {
  const at = view(options);
  const due = added.due === null ? '' : `, due ${when(added.due, at)}`;
  return finish([fit(`#${added.number} ${titleOf(added)}${due}`, at.columns), clean(added.url)], options);
}

export function missingText(missing: readonly string[]): string {
  return `The repository has no label ${missing.map(clean).join(', ')}; the issue was made without. \`steward work labels seed\` adds those of labels.yml.`;
}

export function claimText({ number, agent, already, title, url }: ClaimResult): string {
  const words = already ? 'is yours already' : 'is yours now';
  return `#${number} ${words}, ${clean(agent)}: ${clean(parseTitle(title).text)}\n${clean(url)}`;
}

export function closedText(closed: Closed): string {
  return `Closed #${closed.number} ${titleOf(closed)}\n${clean(closed.comment)}`;
}

export function setupText(result: SetupResult): string {
  const { created, updated, unchanged } = result.labels;
  const changed = created.length + updated.length;
  const labels =
    changed === 0
      ? `all ${unchanged} there`
      : `${created.length} created, ${updated.length} updated, ${unchanged} as they were`;
  return [
    `${clean(result.repo)} is private${result.created ? ', and was made now' : ''}.`,
    `labels  ${labels}`,
    `issues  ${result.issues}`,
    ...result.files.map((file) => `wrote   ${file}`),
    '',
    'Next:',
    ...result.next.map((step) => `  ${step}`),
  ].join('\n');
}

export function seedText(result: SeedResult): string {
  const did = result.dryRun ? ['would create', 'would update'] : ['created', 'updated'];
  const lines = [
    ...result.created.map((name) => `${did[0]} ${clean(name)}`),
    ...result.updated.map((name) => `${did[1]} ${clean(name)}`),
  ];
  return [...lines, `${result.unchanged} as they are`].join('\n');
}

/** `work tasks regenerate`. */
export function taskListText(result: TaskListResult): string {
  const counts = Object.entries(result.sections).map(([section, count]) => `${section} ${count}`);
  const done = result.pushed
    ? 'committed and pushed'
    : result.committed
      ? 'committed, not pushed'
      : result.changed
        ? 'written'
        : 'as it was';
  return [`${result.path}: ${done}`, counts.join(' · ')].join('\n');
}

const PRIVACY_WORDS: Readonly<Record<WorkStatus['privacy']['state'], string>> = {
  setup: 'not set up',
  off: 'switched off',
  public: 'not private: everything is off',
  unverified: 'not verified; run "steward work verify"',
  fresh: 'private',
  due: 'private, to be looked at again',
  expired: 'not seen for too long; run "steward work verify"',
};

/** `work status`. */
export function statusText(status: WorkStatus, options: WorkTextOptions): string {
  const at = view(options);
  if (status.setupRequired) return finish(setupLines(status.steps, at), options);
  const row = (name: string, value: string, paint: (text: string) => string = (text) => text): string[] =>
    wrap(value, at.columns - 14, '').map((line, i) => (i === 0 ? name : '').padEnd(14) + paint(line));
  const { privacy } = status;
  const fine = privacy.state === 'fresh' || privacy.state === 'due';
  const seen = privacy.verifiedAt === null ? '' : `, seen ${when(privacy.verifiedAt, at)}`;
  const lines = [
    ...row('repository', clean(status.repo ?? '')),
    ...row('privacy', `${PRIVACY_WORDS[privacy.state]}${seen}`, fine ? undefined : at.colors.attention),
    ...row('issues', `${status.issues.open} open, ${status.issues.closed} closed`),
    ...row('last read', status.lastFetch === null ? 'never' : when(status.lastFetch, at)),
    ...(status.stale ? row('', clean(status.staleReason ?? ''), at.colors.attention) : []),
    ...row('poll', `every ${status.pollIntervalSeconds} s`),
    ...row('capture', `native sessions ${onOff(status.captureNative)} · sweep ${onOff(status.captureSweep)}`),
    ...(status.unfinished === 0
      ? []
      : row('unfinished', `${status.unfinished}, looked for again before anything is made`)),
  ];
  return finish(lines, options);
}

function onOff(value: boolean): string {
  return value ? 'on' : 'off';
}

/** `09:42` of today, `Fri 20 Nov 2026 09:42` of another day. */
function when(iso: string, at: Pick<WorkTextOptions, 'nowMs' | 'timezone'>): string {
  const ms = parseIso(iso);
  if (ms === undefined) return 'unknown';
  const day = dayOf(ms, at.timezone);
  const time = timeOf(ms, at.timezone);
  return day === dayOf(at.nowMs, at.timezone) ? time : `${longDay(day)} ${time}`;
}

/** `5 m`, `3 h`, `12 d`, `4 y`: how long ago. */
function age(iso: string, nowMs: number): string {
  const minutes = Math.max(0, Math.floor((nowMs - (parseIso(iso) ?? nowMs)) / 60_000));
  if (minutes < 60) return `${minutes} m`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  const days = Math.floor(minutes / 1440);
  return days < 1000 ? `${days} d` : `${Math.floor(days / 365)} y`;
}
