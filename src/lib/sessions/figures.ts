import { sessionsById, type Session } from './session';

export interface SessionFigures {
  slug: string;
  workingMinutes: number;
  waitingMinutes: number;
  readyMinutes: number;
  tokens: number;
}

/** Minutes by place. Each key is a `Place` from the ledger. */
type Minutes = Readonly<Record<string, number>>;

/** The tokens of the session with the id `key`. */
export type SessionTokens = { key: string } & Record<'input' | 'output' | 'cacheRead' | 'cacheWrite', number>;

/** Adds up each session's time and tokens. Omits sessions that have neither. */
export function figuresOf(
  sessions: readonly Pick<Session, 'slug' | 'sessionIds'>[],
  agents: readonly { session: string; cells: { working?: Minutes; waiting?: Minutes; ready?: Minutes } }[],
  usage: readonly SessionTokens[],
): SessionFigures[] {
  const byId = sessionsById(sessions);
  const figures = new Map<string, SessionFigures>();
  const of = (id: string): SessionFigures => {
    const slug = byId.get(id)?.slug ?? '';
    const known = figures.get(slug) ?? {
      slug,
      workingMinutes: 0,
      waitingMinutes: 0,
      readyMinutes: 0,
      tokens: 0,
    };
    if (slug !== '') figures.set(slug, known);
    return known;
  };
  for (const { session, cells } of agents) {
    const row = of(session);
    row.workingMinutes += sum(cells.working);
    row.waitingMinutes += sum(cells.waiting);
    row.readyMinutes += sum(cells.ready);
  }
  for (const { key, input, output, cacheRead, cacheWrite } of usage)
    of(key).tokens += input + output + cacheRead + cacheWrite;
  return [...figures.values()];
}

function sum(row: Minutes = {}): number {
  return Object.values(row).reduce((total, minutes) => total + minutes, 0);
}
