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

/** Agents of a session went silent. */
export interface SilenceAlert {
  /** ISO-8601, UTC. */
  ts: string;
  session: string;
  /** What the session is about; null without an artifact. */
  task: string | null;
  /** Agents that are active. */
  agents: number;
  silentSec: number;
  /** When the silence began, ISO-8601, UTC: what tells it from the next one. */
  since: string;
  /** The last tool that was called; null where none was seen. */
  lastTool: string | null;
  message: string;
}

/** How a session with active agents is at this moment. */
export interface WatchedSession {
  session: string;
  task: string | null;
  agents: number;
  status: 'working' | 'waiting';
  silentSec: number;
  lastTool: string | null;
  /** True from `silenceMs` on. */
  silent: boolean;
}

export interface WatchDeps extends ToldDeps {
  sessions: Pick<SessionsDeps, 'path' | 'workEvents' | 'sessions' | 'dayOf'>;
  silenceMs?: number;
}

export interface Watchdog {
  /** Brings in what the log has since, and tells how each session with active agents is. */
  look: () => Watched[];
  /** True while the session runs. */
  isRunning: (session: string) => boolean;
}

interface Watched extends WatchedSession {
  /** Tells one silence from the next: the time of its last tool call. */
  mark: string;
}

interface Activity {
  /** Of the event, as it is in the log. */
  ts: string;
  /** When it was seen, by the clock that never goes back and stands still while the machine sleeps. */
  monotonicMs: number;
  tool: string | null;
}

/**
 * Reads the session state once, and from then on only what is added to the work events. Silence is counted from
 * the last tool call, or the start of the latest agent where that came later.
 */
function watchdog(deps: Pick<WatchDeps, 'clock' | 'sessions' | 'silenceMs'>): Watchdog {
  const { clock, sessions } = deps;
  const silenceMs = deps.silenceMs ?? SILENCE_MS;
  const state = currentSessions(sessions);
  const fold = folder(state, sessions);
  const activity = new Map<string, Activity>();
  const note = (event: WorkEvent, monotonicMs: number): void => {
    if (!ACTIVITY.has(event.type)) return;
    const tool = event.type === 'subagent-start' ? activity.get(event.session)?.tool : event.tool;
    activity.set(event.session, { ts: event.ts, monotonicMs, tool: tool ?? null });
  };
  const monotonicOf = (ts: string): number => clock.monotonic() - Math.max(0, clock.now() - Date.parse(ts));
  // What happened before: when, only the clock on the wall can tell.
  readWorkEvents(sessions.workEvents, LOG_START, (event) => note(event, monotonicOf(event.ts)));
  const lastOf = (session: Session): Activity =>
    session.sessionIds
      .flatMap((id) => activity.get(id) ?? [])
      .reduce<Activity | undefined>(
        (a, b) => (a === undefined || b.monotonicMs >= a.monotonicMs ? b : a),
        undefined,
      ) ?? {
      ts: session.updatedAt,
      monotonicMs: monotonicOf(session.updatedAt),
      tool: null,
    };
  return {
    look() {
      const { cursor } = state;
      const now = clock.monotonic();
      if (!exists(sessions.workEvents)) return [];
      const next = readWorkEvents(sessions.workEvents, cursor, (event) => {
        fold.take(event);
        note(event, now);
        if (event.type === 'session-end') activity.delete(event.session);
      });
      state.cursor = next;
      return Object.values(state.sessions)
        .filter((session) => session.agents.length > 0 && isLive(session, clock.now()))
        .map((session) => {
          const { ts, monotonicMs, tool } = lastOf(session);
          const silent = Math.max(0, now - monotonicMs);
          return {
            session: session.slug,
            task: session.task,
            agents: session.agents.length,
            status: statusOf(session, clock.now()) === 'working' ? 'working' : 'waiting',
            silentSec: Math.floor(silent / 1000),
            lastTool: tool,
            silent: silent >= silenceMs,
            mark: ts,
          };
        });
    },
    isRunning: (slug) => {
      const session = state.sessions[slug];
      return session !== undefined && isLive(session, clock.now());
    },
  };
}

const ACTIVITY: ReadonlySet<WorkEvent['type']> = new Set(['tool-before', 'tool-after', 'tool-failed', 'subagent-start']); // prettier-ignore
/** One look, for a person or a script: nothing is remembered, and no alert goes out. */
export function lookOnce(deps: Pick<WatchDeps, 'clock' | 'sessions' | 'silenceMs'>): WatchedSession[] {
  return watchdog(deps)
    .look()
    .map(({ session, task, agents, status, silentSec, lastTool, silent }) => ({
      session,
      task,
      agents,
      status,
      silentSec,
      lastTool,
      silent,
    }));
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

/** One look after the other: each alerts of the silences that nobody has told yet. */
export function silenceCheck(
  deps: WatchDeps,
  { session, alert }: Pick<WatchOptions, 'session' | 'alert'>,
): () => Promise<{ isActive: boolean; isOver: boolean }> {
  const dog = watchdog(deps);
  /** The silence of each session that was told already: without asking the file again. */
  const told = new Map<string, string>();
  return async () => {
    const watched = dog.look().filter((seen) => session === undefined || seen.session === session);
    for (const seen of watched) {
      if (!seen.silent || told.get(seen.session) === seen.mark) continue;
      told.set(seen.session, seen.mark);
      if (await claim(deps, seen)) await alert(alertOf(seen, deps.clock.now()));
    }
    return { isActive: watched.length > 0, isOver: session !== undefined && !dog.isRunning(session) };
  };
}

function alertOf(seen: Watched, nowMs: number): SilenceAlert {
  const { session, task, agents, silentSec, lastTool, mark } = seen;
  const who = agents === 1 ? '1 agent' : `${agents} agents`;
  const message = `${who} of ${cleanLine(task ?? session, MAX_TASK)} made no tool call for ${silentSec} s.`;
  return { ts: toIso(nowMs), session, task, agents, silentSec, since: mark, lastTool, message };
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

/** The format of the file of told silences. */
const VERSION = 1;

export interface ToldDeps {
  clock: Clock;
  machineId: string;
  /** Machine-local folder of the locks. */
  locks: string;
  /** `state/watchdog.json`: for which silence an alert went out. */
  alerts: string;
}

/** Takes the right to tell of this silence: false when it was told of before. */
export async function claim(
  deps: ToldDeps,
  { session, mark }: { session: string; mark: string },
): Promise<boolean> {
  const { clock, machineId, alerts } = deps;
  const lock = join(deps.locks, 'watchdog-alerts.lock');
  return withLock(lock, { clock, machineId, waitMs: LOCK_WAIT_MS }, () => {
    ensureFolder(dirname(alerts));
    const known = toldIn(alerts);
    if (known.get(session) === mark) return Promise.resolve(false);
    known.delete(session);
    known.set(session, mark);
    const kept = Object.fromEntries([...known].slice(-MAX_REMEMBERED));
    replaceFile(alerts, `${JSON.stringify({ version: VERSION, alerts: kept })}\n`);
    return Promise.resolve(true);
  });
}

/** A file that is no JSON means at worst one alert more; a newer format is `config`. */
function toldIn(path: string): Map<string, string> {
  const stored = parseObject(readText(path, { maxBytes: 1024 * 1024 }) ?? '');
  const version = stored?.['version'];
  if (typeof version === 'number' && version > VERSION) {
    throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
      hint: 'Upgrade steward; this version leaves the file alone.',
    });
  }
  const alerts = stored?.['alerts'];
  if (!isObject(alerts)) return new Map();
  return new Map(
    Object.entries(alerts).flatMap(([slug, mark]) => (typeof mark === 'string' ? [[slug, mark]] : [])),
  );
}
