import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { withLock } from '../platform/files/lock';
import { LOG_START } from '../platform/files/journal';
import { shortHash } from '../platform/files/short-hash';
import { cleanLine } from '../platform/terminal/terminal';
import { type Clock, toIso } from '../platform/time/clock';
import { folder } from '../sessions/fold';
import { type Session, isLive, statusOf } from '../sessions/session';
import { type SessionsDeps, currentSessions } from '../sessions/state';
import { type WorkEvent, readWorkEvents } from '../sessions/work-events';

/** Agents are active and there was no tool call for so long. */
export const SILENCE_MS = 90_000;
const POLL_MS = 2000;

/** Of what the session is about, in an alert. */
const MAX_TASK = 120;

/** How a session with active agents is at this moment. */
export interface WatchedSession {
  session: string;
  /** What the session is about; null without an artifact. */
  task: string | null;
  /** Agents that are active. */
  agents: number;
  status: 'working' | 'waiting';
  silentSec: number;
  /** When its last tool call was, ISO-8601, UTC: what tells one silence from the next. */
  since: string;
  /** The last tool that was called; null where none was seen. */
  lastTool: string | null;
  silent: boolean;
}

/** Agents of a session went silent. */
export interface SilenceAlert extends Omit<WatchedSession, 'status' | 'silent'> {
  /** ISO-8601, UTC. */
  ts: string;
  message: string;
}

export interface WatchDeps {
  clock: Clock;
  machineId: string;
  /** Machine-local folder of the locks. */
  locks: string;
  /** `state/watchdog.json`: the silences that an alert went out for. */
  alerts: string;
  sessions: Pick<SessionsDeps, 'path' | 'workEvents' | 'sessions' | 'dayOf'>;
}

interface Activity {
  /** Of the event, as it is in the log. */
  ts: string;
  /** When it was seen, by the clock that never goes back and stands still while the machine sleeps. */
  monotonicMs: number;
  tool: string | null;
}

interface Watching {
  deps: Pick<WatchDeps, 'clock' | 'sessions'>;
  state: ReturnType<typeof currentSessions>;
  fold: ReturnType<typeof folder>;
  /** The last activity of each of the assistant's sessions. */
  activity: Map<string, Activity>;
}

const ACTIVITY: readonly WorkEvent['type'][] = ['tool-before', 'tool-after', 'tool-failed', 'subagent-start'];

/** Reads the session state once; from then on `look` reads only what is added to the work events. */
function startWatching(deps: Watching['deps']): Watching {
  const { clock, sessions } = deps;
  const state = currentSessions(sessions);
  const at: Watching = { deps, state, fold: folder(state, sessions), activity: new Map() };
  // When that was, only the clock on the wall can tell.
  readWorkEvents(sessions.workEvents, LOG_START, (event) => note(at, event, monotonicOf(clock, event.ts)));
  return at;
}

function monotonicOf(clock: Clock, ts: string): number {
  return clock.monotonic() - Math.max(0, clock.now() - Date.parse(ts));
}

function note({ activity }: Watching, event: WorkEvent, monotonicMs: number): void {
  if (!ACTIVITY.includes(event.type)) return;
  const tool = event.type === 'subagent-start' ? activity.get(event.session)?.tool : event.tool;
  activity.set(event.session, { ts: event.ts, monotonicMs, tool: tool ?? null });
}

/** Reads what the log has since, and tells how each session with active agents is. */
function look(at: Watching): WatchedSession[] {
  const { deps, state, fold, activity } = at;
  const { clock, sessions } = deps;
  const now = clock.monotonic();
  if (!exists(sessions.workEvents)) return [];
  state.cursor = readWorkEvents(sessions.workEvents, state.cursor, (event) => {
    fold.take(event);
    note(at, event, now);
    if (event.type === 'session-end') activity.delete(event.session);
  });
  return Object.values(state.sessions)
    .filter((session) => session.agents.length > 0 && isLive(session, clock.now()))
    .map((session) => {
      const { ts, monotonicMs, tool } = lastOf(at, session);
      const silentMs = Math.max(0, now - monotonicMs);
      return {
        session: session.slug,
        task: session.task,
        agents: session.agents.length,
        status: statusOf(session, clock.now()) === 'working' ? 'working' : 'waiting',
        silentSec: Math.floor(silentMs / 1000),
        since: ts,
        lastTool: tool,
        silent: silentMs >= SILENCE_MS,
      };
    });
}

/** The last tool call of a session, or the start of its latest agent where that came later. */
function lastOf({ deps, activity }: Watching, { sessionIds, updatedAt }: Session): Activity {
  const all = sessionIds.flatMap((id) => activity.get(id) ?? []);
  const last = all.sort((a, b) => a.monotonicMs - b.monotonicMs).at(-1);
  return last ?? { ts: updatedAt, monotonicMs: monotonicOf(deps.clock, updatedAt), tool: null };
}

/** One look, for a person or a script: nothing is remembered, and no alert goes out. */
export function lookOnce(deps: Watching['deps']): Omit<WatchedSession, 'since'>[] {
  return look(startWatching(deps)).map(({ since: _, ...watched }) => watched);
}

export interface WatchOptions {
  /** Only this session, and until it ends; all of them for ever when left out. */
  session?: string;
  /** With `session`: ends as soon as it has no active agent. */
  untilIdle?: boolean;
  /** Where another one watches already: leaves it to that, without an error. */
  ifFree?: boolean;
  signal: AbortSignal;
  /** How an alert goes out; it is not this feature's to know. */
  alert: (alert: SilenceAlert) => void | Promise<void>;
  /** Waits until the next look; two seconds when left out. */
  pause?: (signal: AbortSignal) => Promise<void>;
}

/**
 * Watches until it is aborted, or its one session has ended. One watchdog a session: a second one of the same is
 * `locked`. A silence is told once, also across restarts and by two watchdogs at once; the next one only after a
 * tool call has ended it.
 */
export async function watch(deps: WatchDeps, options: WatchOptions): Promise<void> {
  const { session } = options;
  const name = session === undefined ? 'watchdog' : `watchdog-${shortHash(session)}`;
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: 0 };
  let began = false;
  try {
    await withLock(join(deps.locks, `${name}.lock`), lock, () => {
      began = true;
      return run(deps, options);
    });
  } catch (error) {
    if (began || !(error instanceof StewardError) || error.kind !== 'locked') throw error;
    if (options.ifFree === true) return;
    throw new StewardError(
      'locked',
      session === undefined ? 'A watchdog runs already.' : `A watchdog watches ${session} already.`,
      {
        hint: 'One is enough; "steward agents watch --once" only looks.',
        cause: error,
      },
    );
  }
}

async function run(deps: WatchDeps, options: WatchOptions): Promise<void> {
  const { untilIdle, signal, pause } = options;
  const check = silenceCheck(deps, options);
  while (!signal.aborted) {
    const { isActive, isOver } = await check();
    if (isOver || (untilIdle === true && !isActive)) return;
    await (pause ?? pauseForPoll)(signal);
  }
}

/** One look after the other: each alerts of the silences that were not reported yet. */
export function silenceCheck(
  deps: WatchDeps,
  { session, alert }: Pick<WatchOptions, 'session' | 'alert'>,
): () => Promise<{ isActive: boolean; isOver: boolean }> {
  const at = startWatching(deps);
  /** The silence of each session that was reported already, so that the file need not be asked again. */
  const told = new Map<string, string>();
  return async () => {
    const watched = look(at).filter((seen) => session === undefined || seen.session === session);
    for (const seen of watched) {
      if (!seen.silent || told.get(seen.session) === seen.since) continue;
      told.set(seen.session, seen.since);
      if (await claim(deps, seen)) await alert(alertOf(seen, deps.clock.now()));
    }
    const own = session === undefined ? undefined : at.state.sessions[session];
    const isRunning = own !== undefined && isLive(own, deps.clock.now());
    return { isActive: watched.length > 0, isOver: session !== undefined && !isRunning };
  };
}

function alertOf(seen: WatchedSession, nowMs: number): SilenceAlert {
  const { session, task, agents, silentSec, since, lastTool } = seen;
  const who = agents === 1 ? '1 agent' : `${agents} agents`;
  const message = `${who} of ${cleanLine(task ?? session, MAX_TASK)} made no tool call for ${silentSec} s.`;
  return { ts: toIso(nowMs), session, task, agents, silentSec, since, lastTool, message };
}

async function pauseForPoll(signal: AbortSignal): Promise<void> {
  try {
    await delay(POLL_MS, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const LOCK_WAIT_MS = 5000;
const MAX_REMEMBERED = 500;
/** The format of `state/watchdog.json`. */
const VERSION = 1;

/** Claims the right to report this silence: false when it was reported before. */
async function claim(
  { clock, machineId, alerts, locks }: WatchDeps,
  { session, since }: WatchedSession,
): Promise<boolean> {
  const lock = { clock, machineId, waitMs: LOCK_WAIT_MS };
  return withLock(join(locks, 'watchdog-alerts.lock'), lock, () => {
    ensureFolder(dirname(alerts));
    const { [session]: known, ...others } = alertsIn(alerts);
    if (known === since) return Promise.resolve(false);
    const kept = Object.entries({ ...others, [session]: since }).slice(-MAX_REMEMBERED);
    const stored = { version: VERSION, alerts: Object.fromEntries(kept) };
    replaceFile(alerts, `${JSON.stringify(stored)}\n`);
    return Promise.resolve(true);
  });
}

/** A file that is no JSON means at worst one alert more; a newer format is `config`. */
function alertsIn(path: string): Record<string, unknown> {
  const { version, alerts } = parseObject(readText(path, { maxBytes: 1024 * 1024 }) ?? '') ?? {};
  if (typeof version === 'number' && version > VERSION) {
    throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
      hint: 'Upgrade steward; this version leaves the file alone.',
    });
  }
  return isObject(alerts) ? alerts : {};
}
