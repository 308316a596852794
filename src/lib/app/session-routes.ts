import * as v from 'valibot';

import { periodicJob, type DaemonJob } from '../daemon/jobs';
import { oneOf, route, type Route } from '../daemon/route';
import { writeRoute } from '../daemon/write-route';
import { marksOf } from '../platform/files/stat';
import { recent, today, type ReadDeps } from '../sense/read';
import { figuresOf, type SessionFigures } from '../sessions/figures';
import { goNow } from '../sessions/go';
import type { SessionsState } from '../sessions/session';
import { spoolStatus } from '../sessions/spool';
import { runningSessions } from '../sessions/state';
import { hasTurn, withTurnSigns, type SeenLogs } from '../sessions/turn-signs';
import { nameSession } from '../sessions/rename';
import { sessionsReport, type SessionsReport } from '../sessions/rows';
import type { Context } from './context';
import { openElsewhere } from './elsewhere';
import { openJump, openSessions } from './sessions';
import { openUsage } from './usage';

const FIGURE_DAYS = 30;
const SHORT = v.pipe(v.string(), v.maxLength(200));

interface SessionRoutesDeps {
  sessions: () => Promise<SessionsState>;
  sense: () => Promise<ReadDeps>;
}

export function sessionRoutes(context: Context, { sessions, sense }: SessionRoutesDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/sessions',
      input: ({ query }) => oneOf(query, 'all', ['0', '1']) === '1',
      async run(all): Promise<SessionsReport> {
        const { rows: elsewhere } = await openElsewhere(context);
        const options = { nowMs: context.clock.now(), all, elsewhere };
        return sessionsReport(await sessions(), spoolStatus(context.area.spool), options);
      },
    }),
    {
      method: 'GET',
      path: '/api/sense/sessions',
      async run(): Promise<SessionFigures[]> {
        // Merged records have other ids for this machine's sessions.
        const deps = { ...(await sense()), machines: undefined };
        const records = [today(deps).record, ...recent(deps, FIGURE_DAYS - 1)];
        const rows = await (await openUsage(context)).bySession(FIGURE_DAYS);
        const agents = records.flatMap(({ ledger }) => ledger.agents);
        return figuresOf(Object.values((await sessions()).sessions), agents, rows);
      },
    },
    writeRoute('/api/go', { slug: SHORT }, async ({ slug }) =>
      goNow(await openSessions(context), openJump(context), slug, () => Promise.resolve(undefined)),
    ),
    writeRoute('/api/sessions/name', { session: SHORT, name: SHORT }, async ({ session, name }) =>
      nameSession(await openSessions(context), session, name),
    ),
  ];
}

/** The job that follows the assistants' logs of running sessions. */
export function turnSignsJob(context: Context): DaemonJob {
  const { sessionsState, workEvents } = context.area;
  const seen: SeenLogs = new Map();
  let quiet: string | undefined;
  return periodicJob('turns', 'hooks', TURN_SIGNS_SEC, async () => {
    const { text } = marksOf([sessionsState, workEvents]);
    // Only a hook starts a turn.
    if (text === quiet) return;
    const deps = await openSessions(context);
    const { sessions } = withTurnSigns(deps, () => runningSessions(deps), seen);
    quiet = Object.values(sessions).some((session) => hasTurn(deps, session)) ? undefined : text;
  });
}

const TURN_SIGNS_SEC = 1;
