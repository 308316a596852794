import { join } from 'node:path';

import { StewardError, undefinedIf } from '../errors';
import { exists } from '../platform/files/folder';
import { LOG_START } from '../platform/files/journal';
import { isObject } from '../platform/files/json-object';
import { ifFree, withMachineLock } from '../platform/files/lock';
import { writeObject, readObject, refuseNewer } from '../platform/files/object-file';
import { shortHash } from '../platform/files/short-hash';
import { cleanLine } from '../platform/terminal/terminal';
import { type Clock, toIso } from '../platform/time/clock';
import { wait } from '../platform/time/wait';
import { folder } from '../sessions/fold';
import { type Session, isLive, statusOf } from '../sessions/session';
import { currentSessions, withProcesses, type SessionsDeps } from '../sessions/state';
import { type WorkEvent, readWorkEvents } from '../sessions/work-events';

/** How long an active agent can go without a tool call before it counts as silent. */
export const SILENCE_MS = 90_000;
const POLL_MS = 2000;
const MAX_TASK = 120;

/** `ts` is the time of the alert, ISO 8601 in UTC. */
export type SilenceAlert = ReturnType<typeof alertOf>;

interface Activity {
  ts: string;
  /** When the event occurred, in ms on a monotonic clock that stops while the machine sleeps. */
  monotonicMs: number;
  tool: string | null;
}

type Watch = ReturnType<typeof startWatch>;

const ACTIVITY: readonly WorkEvent['type'][] = ['tool-before', 'tool-after', 'tool-failed', 'subagent-start'];

function startWatch(deps: SessionsDeps) {
  const state = currentSessions(deps);
  const watching = { deps, state, fold: folder(state, deps), activity: new Map<string, Activity>() };
  readWorkEvents(deps.area.workEvents, LOG_START, (event) =>
    recordActivity(watching, event, monotonicOf(deps.clock, event.ts)),
  );
  return watching;
}

function monotonicOf(clock: Clock, ts: string): number {
  return clock.monotonic() - Math.max(0, clock.now() - Date.parse(ts));
}

function recordActivity({ activity }: Watch, event: WorkEvent, monotonicMs: number): void {
  if (!ACTIVITY.includes(event.type)) return;
  const tool = event.type === 'subagent-start' ? activity.get(event.session)?.tool : event.tool;
  activity.set(event.session, { ts: event.ts, monotonicMs, tool: tool ?? null });
}

function poll(watching: Watch) {
  const { deps, state, fold, activity } = watching;
  const { area, clock } = deps;
  const now = clock.monotonic();
  if (!exists(area.workEvents)) return [];
  state.cursor = readWorkEvents(area.workEvents, state.cursor, (event) => {
    fold.take(event);
    recordActivity(watching, event, now);
    if (event.type === 'session-end') activity.delete(event.session);
  });
  return Object.values(withProcesses(state, deps).sessions)
    .filter((session) => session.agents.length > 0 && isLive(session, clock.now()))
    .map((session) => {
      const { ts, monotonicMs, tool } = lastActivity(watching, session);
      const silentMs = Math.max(0, now - monotonicMs);
      return {
        session: session.slug,
        /** The session's task; null if the session has no session file. */
        task: session.task,
        agents: session.agents.length,
        status: statusOf(session, clock.now()) === 'working' ? ('working' as const) : ('waiting' as const),
        silentSec: Math.floor(silentMs / 1000),
        /**
         * Time of the last tool call (ISO 8601, UTC). Identifies a silent period, so that each period is reported
         * only once.
         */
        since: ts,
        lastTool: tool,
        silent: silentMs >= SILENCE_MS,
      };
    });
}

/** The current state of a session with active agents. */
export type WatchedSession = ReturnType<typeof poll>[number];

/** Returns a session's latest activity: a tool call or the start of an agent. */
function lastActivity({ deps, activity }: Watch, { sessionIds, updatedAt }: Session): Activity {
  const all = sessionIds.flatMap((id) => activity.get(id) ?? []);
  const last = all.sort((a, b) => a.monotonicMs - b.monotonicMs).at(-1);
  return last ?? { ts: updatedAt, monotonicMs: monotonicOf(deps.clock, updatedAt), tool: null };
}

/** Returns the sessions with active agents, or only the given session. Does not send alerts. */
export function watchedSessions(deps: Watch['deps'], session?: string): Omit<WatchedSession, 'since'>[] {
  return poll(startWatch(deps))
    .filter((watched) => session === undefined || watched.session === session)
    .map(({ since: _, ...watched }) => watched);
}

interface WatchOptions {
  /** The session to watch until it ends. By default, all sessions are watched until aborted. */
  session?: string;
  /** Whether to stop when `session` has no active agents. */
  untilIdle?: boolean;
  /** Whether to exit without an error if another watchdog is running. */
  ifFree?: boolean;
  signal: AbortSignal;
  alert: (alert: SilenceAlert) => void | Promise<void>;
  /** Waits until the next poll. By default, waits two seconds. */
  pause?: (signal: AbortSignal) => Promise<void>;
}

/**
 * Watches until aborted or until the session ends. Reports each silence once, even across restarts. Throws
 * `locked` if the session already has a watchdog.
 */
export async function watch(deps: SessionsDeps, options: WatchOptions): Promise<void> {
  const { session } = options;
  const name = session === undefined ? 'watchdog' : `watchdog-${shortHash(session)}`;
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: 0 };
  const done = await ifFree(join(deps.area.machine, `${name}.lock`), lock, () => run(deps, options));
  if (done !== undefined || options.ifFree === true) return;
  throw new StewardError('locked', `Another watchdog is already watching ${session ?? 'all sessions'}.`, {
    hint: 'To see the agents now, run "steward agents watch --once".',
  });
}

async function run(deps: SessionsDeps, options: WatchOptions): Promise<void> {
  const { untilIdle, signal, pause } = options;
  const check = silenceCheck(deps, options);
  while (!signal.aborted) {
    const { isActive, isOver } = await check();
    if (isOver || (untilIdle === true && !isActive)) return;
    await (pause ?? pauseForPoll)(signal);
  }
}

async function pauseForPoll(signal: AbortSignal): Promise<void> {
  await wait(POLL_MS, signal).catch(undefinedIf(() => signal.aborted));
}

/** Returns a function that polls once and alerts about each new silence. */
export function silenceCheck(
  deps: SessionsDeps,
  { session, alert }: Pick<WatchOptions, 'session' | 'alert'>,
): () => Promise<{ isActive: boolean; isOver: boolean }> {
  const watching = startWatch(deps);
  /** Each session's last reported silence, cached to avoid reading the file on every poll. */
  const reported = new Map<string, string>();
  return async () => {
    const sessions = poll(watching).filter((watched) => session === undefined || watched.session === session);
    for (const watched of sessions) {
      if (!watched.silent || reported.get(watched.session) === watched.since) continue;
      reported.set(watched.session, watched.since);
      if (await markReported(deps, watched)) await alert(alertOf(watched, deps.clock.now()));
    }
    const own = session === undefined ? undefined : watching.state.sessions[session];
    const isRunning = own !== undefined && isLive(own, deps.clock.now());
    return { isActive: sessions.length > 0, isOver: session !== undefined && !isRunning };
  };
}

function alertOf(watched: WatchedSession, nowMs: number) {
  const { session, task, agents, silentSec, since, lastTool } = watched;
  const count = agents === 1 ? '1 agent' : `${agents} agents`;
  const message = `${count} in ${cleanLine(task ?? session, MAX_TASK)}: no tool call for ${silentSec} s.`;
  return { ts: toIso(nowMs), session, task, agents, silentSec, since, lastTool, message };
}

const LOCK_WAIT_MS = 5000;
const MAX_REMEMBERED = 500;
/** Format version of `state/watchdog.json`. */
const VERSION = 1;

/** Marks a silence as reported; returns false if another watchdog has already reported it. */
async function markReported(deps: SessionsDeps, { session, since }: WatchedSession) {
  const alerts = join(deps.area.state, 'watchdog.json');
  return withMachineLock(deps, 'watchdog-alerts', LOCK_WAIT_MS, () => {
    const { [session]: known, ...rest } = readAlerts(alerts);
    if (known === since) return false;
    const latest = Object.entries({ ...rest, [session]: since }).slice(-MAX_REMEMBERED);
    writeObject(alerts, { version: VERSION, alerts: Object.fromEntries(latest) });
    return true;
  });
}

/**
 * Returns the reported silences; empty if the file is invalid. Throws `config` for a newer format version.
 */
function readAlerts(path: string): Record<string, unknown> {
  const { version, alerts } = readObject(path) ?? {};
  refuseNewer(path, version, VERSION);
  return isObject(alerts) ? alerts : {};
}
