import { table } from '../platform/terminal/format';
import type { ListedRow, ListView } from '../platform/terminal/list';
import { clean } from '../platform/terminal/terminal';
import { type RowOptions, rowsOf, sessionDetail, type SessionRow } from './rows';
import { type Session, type SessionsState, statusOf } from './session';
import { factsOf, sessionLines, type SessionsTextOptions, type SessionTextOptions } from './view';

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

export function listedSessions(rows: readonly SessionRow[]): ListedRow[] {
  return rows.map(({ slug, name, repo, branch, task, title, status }) => ({
    id: slug,
    text: [name, repo, branch, slug, task, title, status].join('\n'),
  }));
}

/** Returns what the live list shows. */
export function watchView(
  rows: readonly SessionRow[],
  state: SessionsState,
  options: SessionsTextOptions & SessionTextOptions,
): ListView {
  const { columns } = options;
  const count = (...statuses: SessionRow['status'][]): number =>
    rows.filter(({ status }) => statuses.includes(status)).length;
  const rowOf = (id: string): SessionRow[] => rows.filter(({ slug }) => slug === id);
  return {
    head: [
      `${count('waiting')} waiting`,
      `${count('working', 'no-signal')} working`,
      `${count('ended', 'crashed')} done`,
    ].join(' · '),
    keys: 'Enter go · / filter · w details · q quit',
    none: 'No sessions are running.',
    lines: (ids) => sessionLines(ids.flatMap(rowOf), { ...options, columns: columns - 2 }),
    details(id) {
      const [{ name, place } = { name: id, place: null }] = rowOf(id);
      const session = state.sessions[id];
      if (session === undefined) return [];
      const detail = { ...sessionDetail(session, options), name, place };
      return [clean(name), '', ...table(factsOf(detail, options)).split('\n')];
    },
  };
}
