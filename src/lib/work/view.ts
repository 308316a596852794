import type { Lane } from '../config/schema';
import { table, wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, fit, padEnd } from '../platform/terminal/text-width';
import { parseIso } from '../platform/time/clock';
import type { Shown } from './actions';
import { groupItems, type BoardView, type Item } from './board';
import { waitingText } from './capture/waiting';
import type { SweepResult } from './sweep';
import {
  type View,
  type WorkTextOptions,
  finish,
  setupLines,
  shortWhen,
  skippedWords,
  titleOf,
  view,
  when,
} from './view-results';

const LANE_ROWS = 10;
const COMPLETE_ROWS = 5;

/** `work board`: the lanes one below the other, most urgent first. */
export function boardText(board: BoardView, options: WorkTextOptions): string {
  const at = view(options);
  if (board.setupRequired) return finish(setupLines(board.steps, at), options);
  const open = board.items.filter(({ state }) => state === 'open').length;
  const lines = [
    ...header(clean(board.config.repo ?? ''), board.lastFetch === null ? '' : `${open} open`, at),
    ...staleLines(board, at),
  ];
  if (board.items.length === 0) lines.push('', ...emptyLines(board, at));
  else
    for (const [lane, items] of Object.entries(groupItems(board.items, board.config.columns)))
      lines.push('', ...laneLines(lane as Lane, items, at));
  return finish(lines, options);
}

const NOTHING_READ = 'Nothing was read yet.';

function emptyLines(board: BoardView, at: View): string[] {
  if (board.lastFetch === null) return wrap(NOTHING_READ, at.columns);
  return wrap('No issue yet. "steward work add" makes the first one.', at.columns);
}

function header(left: string, right: string, { columns, colors }: View): string[] {
  const room = columns - displayWidth(right) - 2;
  return [padEnd(fit(left, room), room + 2) + colors.strong(right)];
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
    const facts = isWide ? fit(factsOf(item, at), Math.max(0, Math.floor(at.columns / 3))) : '';
    const left = `  ${String(item.number).padStart(numbers)}  ${(item.priority ?? '').padEnd(2)}  `;
    const right = `${facts === '' ? '' : `  ${facts}`}  ${end.padStart(5)}`;
    const room = at.columns - displayWidth(left) - displayWidth(right);
    const title = padEnd(fit(titleOf(item), Math.max(4, room)), Math.max(4, room));
    const tail = `  ${item.stale ? at.colors.attention(end.padStart(5)) : at.colors.neutral(end.padStart(5))}`;
    return `${left}${title}${facts === '' ? '' : `  ${at.colors.neutral(facts)}`}${tail}`;
  });
}

function factsOf(item: Item, at: View): string {
  const names = item.agents.map(clean);
  const due = item.due === null || item.state === 'closed' ? null : `due ${shortWhen(item.due, at)}`;
  return [due, ...names, item.property, item.stale ? 'stale' : null]
    .filter((fact) => fact !== null)
    .join(' · ');
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
  const none = board.lastFetch === null ? NOTHING_READ : empty;
  const rows = items.length === 0 ? wrap(none, at.columns) : itemRows(items, at);
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
  const body = (item.body ?? '').replace(/<!--[^]*?(?:-->|$)/g, '').trim();
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

/** `5 m`, `3 h`, `12 d`, `4 y`: how long ago. */
function age(iso: string, nowMs: number): string {
  const minutes = Math.max(0, Math.floor((nowMs - (parseIso(iso) ?? nowMs)) / 60_000));
  if (minutes < 60) return `${minutes} m`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  const days = Math.floor(minutes / 1440);
  return days < 1000 ? `${days} d` : `${Math.floor(days / 365)} y`;
}

/** `work sweep`: what was done, and the command that goes on where the limit was reached. */
export function sweepText(result: SweepResult, since: string, maxCreate: number): string {
  const waiting = result.waiting.map((one) => `${waitingText(one)}.`);
  if (result.skipped !== null) return [`Nothing was swept: ${result.skipped}.`, ...waiting].join('\n');
  if (result.errors.some(({ step }) => step === 'start')) return 'Nothing was swept.';
  const { created, updated, staleFlagged, duplicatesMerged, sessionsScanned, requests } = result;
  const facts = [
    `${created} ${result.dryRun ? 'to create' : 'created'}`,
    `${updated} updated`,
    `${staleFlagged} ${result.dryRun ? 'to flag' : 'flagged'} as stale`,
    duplicatesMerged === 1 ? '1 duplicate' : `${duplicatesMerged} duplicates`,
    sessionsScanned === 1 ? '1 session seen' : `${sessionsScanned} sessions seen`,
    ...(result.reminded === 0 ? [] : [`${result.reminded} reminded`]),
    ...(result.malformed === 0 ? [] : [skippedWords(result.malformed)]),
    requests === 1 ? '1 request' : `${requests} requests`,
  ];
  const more =
    result.left === 0
      ? []
      : [
          `${result.left} more wait; go on with: steward work sweep --since ${since} --max-create ${maxCreate}`,
        ];
  return [...result.titles.map((title) => `  ${clean(title)}`), facts.join(' · '), ...more, ...waiting].join(
    '\n',
  );
}
