import * as v from 'valibot';

import type { Machine } from '../config/user-area';
import { recent, today, type ReadDeps } from '../sense/read';
import { figuresOf, type SessionFigures, type SessionTokens } from '../sessions/figures';
import { goNow } from '../sessions/go';
import type { GoDeps } from '../sessions/jump';
import { nameSession } from '../sessions/rename';
import { sessionsReport, type SessionRow, type SessionsReport } from '../sessions/rows';
import type { SessionsState } from '../sessions/session';
import { spoolStatus } from '../sessions/spool';
import type { SessionsDeps } from '../sessions/state';
import { oneOf, route, type Route } from './route';
import { writeRoute } from './write-route';

const FIGURE_DAYS = 30;
const SHORT = v.pipe(v.string(), v.maxLength(200));

export interface SessionRoutesDeps {
  jump: () => GoDeps;
  openSessions: () => Promise<SessionsDeps>;
  sessions: () => Promise<SessionsState>;
  sense: () => Promise<ReadDeps>;
  /** Asks other machines for their sessions. */
  elsewhere: () => Promise<readonly SessionRow[]>;
  /** Returns the usage of the last days by session. */
  usage: (days: number) => Promise<readonly SessionTokens[]>;
}

export function sessionRoutes({ area, clock }: Machine, deps: SessionRoutesDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/sessions',
      input: ({ query }) => oneOf(query, 'all', ['0', '1']) === '1',
      async run(all): Promise<SessionsReport> {
        const elsewhere = await deps.elsewhere();
        const options = { nowMs: clock.now(), all, elsewhere };
        return sessionsReport(await deps.sessions(), spoolStatus(area.spool), options);
      },
    }),
    {
      method: 'GET',
      path: '/api/sense/sessions',
      async run(): Promise<SessionFigures[]> {
        // Merged records have other ids for this machine's sessions.
        const sense = { ...(await deps.sense()), machines: undefined };
        const records = [today(sense).record, ...recent(sense, FIGURE_DAYS - 1)];
        const agents = records.flatMap(({ ledger }) => ledger.agents);
        const rows = await deps.usage(FIGURE_DAYS);
        return figuresOf(Object.values((await deps.sessions()).sessions), agents, rows);
      },
    },
    writeRoute('/api/go', { slug: SHORT }, async ({ slug }) =>
      goNow(await deps.openSessions(), deps.jump(), slug, () => Promise.resolve(undefined)),
    ),
    writeRoute('/api/sessions/name', { session: SHORT, name: SHORT }, async ({ session, name }) =>
      nameSession(await deps.openSessions(), session, name),
    ),
  ];
}
