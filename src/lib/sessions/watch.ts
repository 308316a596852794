import { fit } from '../platform/terminal/text-width';
import { palette, table } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { type Session, type SessionsState, statusOf } from './session';
import { factsOf, sessionLines, type SessionsTextOptions, type SessionTextOptions } from './view';
import { type RowOptions, rowsOf, sessionDetail, type SessionRow } from './rows';

export interface WatchList {
  rows: readonly SessionRow[];
  selected: string | null;
  filter: string;
  isTyping: boolean;
  /** Whether the selected session's details are shown instead of the list. */
  isDetailed: boolean;
  /** The message to show instead of the keyboard shortcuts; null to show the shortcuts. */
  message: string | null;
}

export const EMPTY_LIST: WatchList = {
  rows: [],
  selected: null,
  filter: '',
  isTyping: false,
  isDetailed: false,
  message: null,
};

const RECENT_MS = 3_600_000;

/** Returns the rows of the live list: running sessions, and sessions that ended in the last hour. */
export function watchedRows(state: SessionsState, options: RowOptions): SessionRow[] {
  const { nowMs } = options;
  const isRecent = (session: Session): boolean => {
    const status = statusOf(session, nowMs);
    const isOver = status === 'ended' || status === 'crashed';
    return !isOver || nowMs - Date.parse(session.updatedAt) < RECENT_MS;
  };
  return rowsOf(Object.values(state.sessions).filter(isRecent), options);
}

export function filteredRows({ rows, filter }: WatchList): readonly SessionRow[] {
  const words = filter.toLowerCase().split(' ');
  return rows.filter((row) => {
    const text = [row.name, row.repo, row.branch, row.slug, row.task, row.title, row.status].join('\n');
    return words.every((word) => text.toLowerCase().includes(word));
  });
}

/** Replaces the rows. If the selected session has disappeared, selects the first row. */
export function withRows(list: WatchList, rows: readonly SessionRow[]): WatchList {
  return selectedAmong({ ...list, rows });
}

function selectedAmong(list: WatchList): WatchList {
  const shown = filteredRows(list);
  const isThere = shown.some(({ slug }) => slug === list.selected);
  return isThere ? list : { ...list, selected: shown[0]?.slug ?? null };
}

/** Returns the updated list, and the action that the key triggers. */
export function pressKey(list: WatchList, key: string): [WatchList, 'go' | 'quit' | undefined] {
  const next = { ...list, message: null };
  if (key === 'ctrl-c') return [next, 'quit'];
  if (list.isTyping) return [selectedAmong(typed(next, key)), undefined];
  switch (key) {
    case 'q':
      return [next, 'quit'];
    case 'return':
    case 'enter':
      return [next, list.selected === null ? undefined : 'go'];
    case 'up':
    case 'k':
      return [moved(next, -1), undefined];
    case 'down':
    case 'j':
      return [moved(next, 1), undefined];
    case 'n':
      return [nextWaiting(next), undefined];
    case 's':
      return [{ ...next, isDetailed: !list.isDetailed && list.selected !== null }, undefined];
    case '/':
      return [{ ...next, isTyping: true, isDetailed: false }, undefined];
    case 'escape':
      return [selectedAmong({ ...next, filter: '', isDetailed: false }), undefined];
    default:
      return [next, undefined];
  }
}

const MAX_FILTER = 60;

function typed(list: WatchList, key: string): WatchList {
  if (key === 'return' || key === 'enter') return { ...list, isTyping: false };
  if (key === 'escape') return { ...list, isTyping: false, filter: '' };
  if (key === 'backspace') return { ...list, filter: list.filter.slice(0, -1) };
  const text = key === 'space' ? ' ' : key;
  return text.length === 1 ? { ...list, filter: `${list.filter}${text}`.slice(0, MAX_FILTER) } : list;
}

function moved(list: WatchList, step: number): WatchList {
  const shown = filteredRows(list);
  const at = shown.findIndex(({ slug }) => slug === list.selected) + step;
  return { ...list, selected: shown[at]?.slug ?? list.selected };
}

function nextWaiting(list: WatchList): WatchList {
  const shown = filteredRows(list);
  const at = shown.findIndex(({ slug }) => slug === list.selected);
  const waiting = [...shown.slice(at + 1), ...shown.slice(0, at + 1)].find(
    ({ status }) => status === 'waiting',
  );
  return waiting === undefined ? { ...list, message: 'No session is waiting for you.' } : { ...list, selected: waiting.slug }; // prettier-ignore
}

export interface FrameOptions extends SessionsTextOptions, SessionTextOptions {
  rows: number;
}

export function watchFrame(list: WatchList, state: SessionsState, options: FrameOptions): string[] {
  const { columns, rows } = options;
  const colors = palette(options);
  const session = state.sessions[list.selected ?? ''];
  const height = Math.max(1, rows - 4);
  const { body, more } =
    list.isDetailed && session !== undefined
      ? { body: detailLines(list, session, options), more: 0 }
      : listLines(list, options, height);
  const padded = [...body.slice(0, height), ...Array<string>(Math.max(0, height - body.length)).fill('')];
  return [
    colors.strong(fit(headOf(list, columns), columns)),
    '',
    ...padded,
    more === 0 ? '' : colors.neutral(fit(`  ${more} more below`, columns)),
    colors.neutral(fit(footOf(list, columns), columns)),
  ];
}

function headOf({ rows }: WatchList, columns: number): string {
  const count = (...statuses: SessionRow['status'][]): number =>
    rows.filter(({ status }) => statuses.includes(status)).length;
  const parts = [
    `${count('waiting')} waiting`,
    `${count('working', 'no-signal')} working`,
    `${count('ended', 'crashed')} done${columns < 60 ? '' : ' in the last hour'}`,
  ];
  return parts.join(' · ');
}

function footOf({ filter, isTyping, message }: WatchList, columns: number): string {
  if (message !== null) return clean(message);
  if (isTyping) return `Filter: ${filter}_   Enter apply · Esc clear`;
  const keys = columns < 60 ? 'Enter go  n next  / filter  s details  q quit' : 'Enter jump · n next waiting · / filter · s details · q quit'; // prettier-ignore
  return filter === '' ? keys : `Filter: ${filter} (Esc to clear) · Enter jump · q quit`;
}

function listLines(list: WatchList, options: FrameOptions, height: number): { body: string[]; more: number } {
  const shown = filteredRows(list);
  if (shown.length === 0) {
    const none = list.rows.length === 0 ? 'No sessions are running.' : 'No session matches the filter.';
    return { body: [fit(none, options.columns)], more: 0 };
  }
  const lines = sessionLines(shown, { ...options, columns: options.columns - 2 });
  const each = lines.length / shown.length;
  const at = Math.max(0, shown.findIndex(({ slug }) => slug === list.selected)); // prettier-ignore
  const fitting = Math.max(1, Math.floor(height / each));
  const first = Math.max(0, Math.min(at - Math.floor(fitting / 2), shown.length - fitting));
  const marked = lines.map((line, index) => `${index === at * each ? '> ' : '  '}${line}`);
  return {
    body: marked.slice(first * each, (first + fitting) * each),
    more: Math.max(0, shown.length - first - fitting),
  };
}

function detailLines(list: WatchList, session: Session, options: FrameOptions): string[] {
  const row = list.rows.find(({ slug }) => slug === session.slug);
  const detail = {
    ...sessionDetail(session, options),
    name: row?.name ?? session.slug,
    place: row?.place ?? null,
  };
  const facts = table(factsOf(detail, options)).split('\n');
  return [clean(detail.name), '', ...facts].map((line) => fit(line, options.columns));
}
