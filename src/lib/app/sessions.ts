import { StewardError } from '../errors';
import type { PhaseDeps } from '../notify/phase';
import { refreshCached, type Cached } from '../platform/files/file-cache';
import { processHost } from '../platform/files/paths';
import { archiveReader } from '../sessions/archive';
import { labelOf, namesOf } from '../sessions/describe';
import { findSession, liveSessions, matchingSessions, nthSession } from '../sessions/find';
import { type GoDeps, goToSession, placesOf, type Went } from '../sessions/jump';
import { giveName, namesFolder } from '../sessions/names';
import type { Session, SessionsState } from '../sessions/session';
import { isNameless } from '../sessions/slug';
import { type SessionsDeps, currentSessions, runningSessions, withProcesses } from '../sessions/state';
import { sessionsOnTerminal } from '../sessions/terminals';
import { rowsOf, type SessionRow } from '../sessions/rows';
import { sessionsNow } from '../sessions/turn-signs';
import type { Context } from './context';
import { sessionsDeps } from './session-deps';
import { type HookSettings, hookSettings } from '../config/hook-settings';

export async function openSessions(context: Context): Promise<SessionsDeps> {
  return depsOf(context, await hookSettings(context));
}

/**
 * Returns a function that reads all sessions. The function caches the archive, for long-running processes.
 */
export function sessionReader(context: Context): () => Promise<SessionsState> {
  const archived = archiveReader(context.clock);
  return async () => currentSessions(await openSessions(context), archived);
}

const running = new WeakMap<Context, Cached<SessionsState>>();

/** Returns the running sessions. Reads their files again only after a change. */
export function openRunning(context: Context, deps: SessionsDeps): SessionsState {
  const files = [deps.area.sessionsState, deps.area.workEvents, namesFolder(deps.area.machine)];
  const read = refreshCached(deps.clock, running.get(context), files, () => runningSessions(deps));
  running.set(context, read);
  return withProcesses(read.value, deps);
}

export interface NamedSession {
  slug: string;
  /** The new name; null if the session's name was removed. */
  name: string | null;
}

/** Names a session, or removes its name if the text is empty. `before` is the previous name. */
export async function nameSession(
  context: Context,
  wanted: string,
  text: string,
): Promise<NamedSession & { before: string }> {
  const deps = await openSessions(context);
  const session = findSession(currentSessions(deps), wanted, deps.clock.now());
  if (isNameless(session.slug))
    throw new StewardError('usage', 'A restricted session has no name.', {
      hint: `Use its number, or ${session.slug}.`,
    });
  const before = labelOf(session) ?? session.slug;
  return { slug: session.slug, name: giveName(namesFolder(deps.area.machine), session, text), before };
}

export async function openPhase(context: Context): Promise<PhaseDeps> {
  const settings = await hookSettings(context);
  return { sessions: depsOf(context, settings), tab: settings.tab };
}

function depsOf(context: Context, settings: HookSettings): SessionsDeps {
  const { area, clock } = context;
  return sessionsDeps({ area, clock, machineId: () => context.machineId }, settings);
}

export async function sessionsOn(
  context: Context,
  tty: string,
): Promise<ReturnType<typeof sessionsOnTerminal>> {
  const deps = await openSessions(context);
  return sessionsOnTerminal(Object.values(runningSessions(deps).sessions), tty, deps.clock.now());
}

/** Maps each session's slug to its tmux or kitty window. */
export function placesNow(context: Context, sessions: readonly Session[]): Promise<Map<string, string>> {
  return placesOf(jumpDeps(context), sessions);
}

/**
 * Brings a session's terminal to the front. `choose` asks the user to pick one of several matching sessions,
 * and returns undefined in non-interactive mode.
 */
export async function goNow(
  context: Context,
  wanted: string | undefined,
  choose: (rows: readonly SessionRow[]) => Promise<number | undefined>,
): Promise<Went> {
  const deps = await openSessions(context);
  const nowMs = deps.clock.now();
  const live = liveSessions(sessionsNow(deps), nowMs);
  if (live.length === 0 || wanted === undefined) throw nowhere(live.length);
  const nth = nthSession(live, wanted);
  const found = nth === undefined ? matchingSessions(live, wanted) : [nth];
  const rowsNow = async (): Promise<SessionRow[]> => {
    const rows = rowsOf(live, { nowMs, places: await placesNow(context, found) });
    return found.flatMap(({ slug }) => rows.filter((row) => row.slug === slug));
  };
  const index = found.length > 1 ? await choose(await rowsNow()) : 0;
  const sessions = Object.fromEntries(live.map((session) => [session.slug, session]));
  const session = found[index ?? -1] ?? findSession({ sessions }, wanted, nowMs);
  return goTo(context, session, namesOf(live).get(session.slug) ?? session.slug);
}

function nowhere(live: number): StewardError {
  const message = live === 0 ? 'No sessions are running.' : 'No session is waiting for you.';
  const hint = 'If sessions are missing, run "steward install hooks".';
  return new StewardError('not_found', message, { hint });
}

export function goTo(context: Context, session: Session, name: string): Promise<Went> {
  return goToSession(jumpDeps(context), session, name);
}

function jumpDeps({ run, machineId }: Context): GoDeps {
  const { env, platform } = processHost();
  return { run, env, platform, machineId };
}
