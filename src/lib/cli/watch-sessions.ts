import type { Context } from '../app/context';
import { openElsewhere } from '../app/elsewhere';
import { openJump, openSessions } from '../app/sessions';
import { goToSession, placesOf } from '../sessions/jump';
import { toStewardError } from '../errors';
import type { Terminal } from '../platform/terminal/stdio';
import { localTimes } from '../platform/time/day-words';
import { namesFolder } from '../sessions/names';
import { lostSessions, type SessionRow } from '../sessions/rows';
import { emptySessions, isLive } from '../sessions/session';
import { noteLost, runningSessions } from '../sessions/state';
import { type SeenLogs, withTurnSigns } from '../sessions/turn-signs';
import { listedSessions, watchedRows, watchView } from '../sessions/watch';
import { runList } from './live-list';

const PLACES_MS = 30_000;

/** Runs `steward sessions --watch` on a terminal until you quit. */
export async function watchSessions(context: Context, terminal: Terminal): Promise<void> {
  const deps = await openSessions(context);
  const { clock, area } = deps;
  const logs: SeenLogs = new Map();
  let [state, rows]: [ReturnType<typeof emptySessions>, SessionRow[]] = [emptySessions(), []];
  let asked = { slugs: '', atMs: -Infinity, places: new Map<string, string>() };
  const askPlaces = async (): Promise<void> => {
    const live = Object.values(state.sessions).filter((session) => isLive(session, clock.now()));
    const [slugs, atMs] = [live.map(({ slug }) => slug).join(), clock.monotonic()];
    if (slugs === asked.slugs && atMs - asked.atMs < PLACES_MS) return;
    asked = { slugs, atMs, places: await placesOf(openJump(context), live) };
  };
  await runList({
    clock,
    terminal,
    files: [area.workEvents, area.sessionsState, namesFolder(area.machine)],
    async read() {
      state = withTurnSigns(deps, () => runningSessions(deps), logs);
      const problem = await noteLost(deps, lostSessions(state));
      const unknown = await askPlaces().catch((error: unknown) => toStewardError(error).message);
      const { rows: elsewhere } = await openElsewhere(context);
      rows = [...watchedRows(state, { nowMs: clock.now(), places: asked.places }), ...elsewhere];
      return { rows: listedSessions(rows), problem: problem ?? (unknown || undefined) };
    },
    view: (size) => watchView(rows, state, { ...size, nowMs: clock.now(), localTime: localTimes(clock) }),
    async act(key, id) {
      const [session, row] = [state.sessions[id], rows.find(({ slug }) => slug === id)];
      if (key !== 'return' || row === undefined) return undefined;
      if (session === undefined) return { message: `Run: ${row.go ?? ''}` };
      const { name, via, target } = await goToSession(openJump(context), session, row.name);
      return { message: `Brought ${name} to the front (${via} ${target}).` };
    },
  });
}
