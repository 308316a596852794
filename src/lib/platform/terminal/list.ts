import { palette, type TextOptions } from './format';
import { clean } from './terminal';
import { fit } from './text-width';

export const EMPTY_LIST = {
  /** The text is what a filter searches. */
  rows: [] as readonly { id: string; text: string }[],
  selected: null as string | null,
  filter: '',
  isTyping: false,
  /** Whether the selected row's details are shown instead of the list. */
  isDetailed: false,
  /** The message to show instead of the keys; null to show the keys. */
  message: null as string | null,
};

/** A list on a terminal, in which keys select a row. */
export type KeyedList = typeof EMPTY_LIST;
export type ListedRow = KeyedList['rows'][number];

export function filteredRows({ rows, filter }: KeyedList): readonly ListedRow[] {
  const words = filter.toLowerCase().split(' ');
  return rows.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
}

/** Replaces the rows. If the selected row has disappeared, selects the one after it or, at the end, before it. */
export function withRows(list: KeyedList, rows: readonly ListedRow[]): KeyedList {
  const before = filteredRows(list);
  const at = before.findIndex(({ id }) => id === list.selected);
  return selectedAmong({ ...list, rows }, [...before.slice(at), ...before.slice(0, at).reverse()]);
}

function selectedAmong(list: KeyedList, wanted: readonly ListedRow[] = []): KeyedList {
  const shown = new Set(filteredRows(list).map(({ id }) => id));
  if (shown.has(list.selected ?? '')) return list;
  const [first = null] = shown;
  return { ...list, selected: wanted.find(({ id }) => shown.has(id))?.id ?? first, isDetailed: false };
}

/** Returns the updated list, and `act` if the key is for the selected row. */
export function pressKey(list: KeyedList, key: string): [KeyedList, 'act' | 'quit' | undefined] {
  const next = { ...list, message: null };
  if (key === 'ctrl-c') return [next, 'quit'];
  if (list.isTyping) return [selectedAmong(typed(next, key)), undefined];
  const step = STEPS[key];
  if (key === 'q') return [next, 'quit'];
  if (step !== undefined) return [moved(next, step), undefined];
  if (key === 'w') return [{ ...next, isDetailed: !list.isDetailed && list.selected !== null }, undefined];
  if (key === '/') return [{ ...next, isTyping: true, isDetailed: false }, undefined];
  if (key === 'escape') return [selectedAmong({ ...next, filter: '', isDetailed: false }), undefined];
  return [next, list.selected === null ? undefined : 'act'];
}

const STEPS: Readonly<Record<string, number>> = { up: -1, k: -1, down: 1, j: 1 };
const MAX_FILTER = 60;

function typed(list: KeyedList, key: string): KeyedList {
  if (key === 'return') return { ...list, isTyping: false };
  if (key === 'escape') return { ...list, isTyping: false, filter: '' };
  if (key === 'backspace') return { ...list, filter: list.filter.slice(0, -1) };
  const text = key === 'space' ? ' ' : key;
  return text.length === 1 ? { ...list, filter: `${list.filter}${text}`.slice(0, MAX_FILTER) } : list;
}

function moved(list: KeyedList, step: number): KeyedList {
  const shown = filteredRows(list);
  const at = shown.findIndex(({ id }) => id === list.selected) + step;
  return { ...list, selected: shown[at]?.id ?? list.selected };
}

/** What a frame shows of the rows. */
export interface ListView {
  head: string;
  keys: string;
  /** The text of an empty list. */
  none: string;
  /** Returns the lines of the rows with these ids, as many for each, in two columns less than the terminal has. */
  lines: (ids: readonly string[]) => string[];
  details: (id: string) => string[];
}

export function listFrame(
  list: KeyedList,
  view: ListView,
  { rows, ...options }: TextOptions & { rows: number },
): string[] {
  const { columns } = options;
  const colors = palette(options);
  const height = bodyRows(rows);
  const { body, more } =
    list.isDetailed && list.selected !== null
      ? { body: view.details(list.selected), more: 0 }
      : listLines(list, view, height);
  const padded = [...body.slice(0, height), ...Array<string>(Math.max(0, height - body.length)).fill('')];
  return [
    colors.strong(fit(view.head, columns)),
    '',
    ...padded.map((line) => fit(line, columns)),
    more === 0 ? '' : colors.neutral(fit(`  ${more} more below`, columns)),
    colors.neutral(fit(footOf(list, view), columns)),
  ];
}

/** Returns how many lines of details fit on a terminal. */
export const bodyRows = (rows: number): number => Math.max(1, rows - 4);

/** Splits a line where the terminal ends, without changing a character. */
export function brokenAt(columns: number, line: string): string[] {
  const chars = [...line];
  // No character takes more than two columns.
  const size = /^[ -~]*$/.test(line) ? columns : Math.floor(columns / 2);
  const count = Math.max(1, Math.ceil(chars.length / size));
  return Array.from({ length: count }, (_, part) => chars.slice(part * size, (part + 1) * size).join(''));
}

function footOf({ filter, isTyping, message }: KeyedList, { keys }: ListView): string {
  if (message !== null) return clean(message);
  if (isTyping) return `Filter: ${filter}_   Enter apply · Esc clear`;
  return filter === '' ? keys : `Filter: ${filter} (Esc to clear) · q quit`;
}

function listLines(list: KeyedList, view: ListView, height: number): { body: string[]; more: number } {
  const shown = filteredRows(list).map(({ id }) => id);
  if (shown.length === 0)
    return { body: [list.rows.length === 0 ? view.none : 'No row matches the filter.'], more: 0 };
  const lines = view.lines(shown);
  const each = lines.length / shown.length;
  const at = Math.max(0, shown.indexOf(list.selected ?? ''));
  const fitting = Math.max(1, Math.floor(height / each));
  const first = Math.max(0, Math.min(at - Math.floor(fitting / 2), shown.length - fitting));
  const marked = lines.map((line, index) => `${index === at * each ? '> ' : '  '}${line}`);
  return {
    body: marked.slice(first * each, (first + fitting) * each),
    more: Math.max(0, shown.length - first - fitting),
  };
}
