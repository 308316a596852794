import type { SenseConfig } from '../config/schema';
import { definedOnly, textOf } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { appMatcher } from '../time/classify';
import type { FocusDetail } from '../time/event';
import { readFrontApp, type FrontAppReading } from './front-app';
import type { Desktop, FrontApp } from './front-app/adapter';
import { readIdle, type IdleReading } from './idle';
import type { PanePlace } from './pane/place';

export interface ObserveDeps {
  desktop: Desktop;
  config: Pick<SenseConfig, 'idleAfterSec' | 'countsAsActive' | 'exclude'>;
  /**
   * Returns the repository and sessions in the focused pane. `inputMs` is the time of the last input, if
   * known.
   */
  place?: (app: FrontApp, inputMs: number | undefined) => Promise<PanePlace>;
  frontApp?: (desktop: Desktop) => Promise<FrontAppReading>;
  idle?: (desktop: Desktop) => Promise<IdleReading>;
}

/** The application with the focus, without its window title. */
export interface Focus {
  app: string;
  repo?: string;
  detail: Pick<FocusDetail, 'via' | 'bundleId' | 'path' | 'branch' | 'otherFolder' | 'sessions'>;
}

export interface Away {
  state: 'away';
  reason: 'idle' | 'locked';
  text: string;
  /** When the idle limit was reached or, if it was not reached or is unknown, the time of the observation. */
  sinceMs: number;
  /** Time of the last input, if known. */
  inputMs?: number;
}

/** An observation of your activity. `inputMs` is the time of the last input, if known. */
export type Observation =
  | { state: 'focus'; focus: Focus; inputMs?: number; /** Why the idle time is unknown. */ warning?: string }
  | Away
  | { state: 'none' }
  | { state: 'excluded' }
  | { state: 'unsupported'; reason: string }
  | { state: 'error'; reason: string };

const MAX_TEXT = 200;
/** Terminals report the time of their input in steps. */
const TTY_STEP_MS = 8_000;

export interface Last {
  atMs: number;
  seen: Observation;
}

/**
 * Observes the focus and your activity. Reuses the focus in `last` if there has been no input since that
 * observation.
 */
export async function observe(deps: ObserveDeps, nowMs: number, last?: Last): Promise<Observation> {
  const { desktop, config } = deps;
  const readFront = deps.frontApp ?? readFrontApp;
  const readInput = deps.idle ?? readIdle;
  const input = last && (await readInput(desktop));
  const same = last && input && (await sameAs(last, input, config, nowMs));
  if (same !== undefined) return same;
  const [front, idle] = await Promise.all([readFront(desktop), input ?? readInput(desktop)]);
  if (front.state === 'unsupported' || front.state === 'error')
    return { state: front.state, reason: clean(front.reason) };
  const app = front.state === 'seen' ? boundedNames(front.app) : undefined;
  const away = await awayOf(app, idle, config, nowMs);
  if (away !== undefined) return away;
  if (app === undefined) return { state: 'none' };
  if ((await appMatcher(config.exclude))(app)) return { state: 'excluded' };
  const inputMs = 'unknown' in idle || idle.idleMs === undefined ? undefined : nowMs - idle.idleMs;
  const { repo, ...place } = (await deps.place?.(app, inputMs)) ?? {};
  const bundle = app.bundleId === undefined ? {} : { bundleId: app.bundleId };
  const detail = { via: front.via, ...bundle, ...place };
  const focus = { app: app.app, ...(repo === undefined ? {} : { repo }), detail };
  if (!('unknown' in idle)) return { state: 'focus', focus, ...(inputMs === undefined ? {} : { inputMs }) };
  return {
    state: 'focus',
    focus,
    warning: clean(`idle time is unknown, so it counts as active: ${idle.unknown}`),
  };
}

/** Returns the current observation if there has been no input since the last one, or undefined otherwise. */
async function sameAs(
  { atMs, seen }: Last,
  idle: IdleReading,
  config: ObserveDeps['config'],
  nowMs: number,
): Promise<Observation | undefined> {
  if ('unknown' in idle || idle.idleMs === undefined) return undefined;
  const inputMs = nowMs - idle.idleMs + (idle.via.startsWith('terminal') ? TTY_STEP_MS : 0);
  if (inputMs >= atMs) return undefined;
  const app = seen.state === 'focus' ? { app: seen.focus.app, ...seen.focus.detail } : undefined;
  const away = await awayOf(app, idle, config, nowMs);
  if (away !== undefined) return away;
  return seen.state === 'away' ? undefined : seen;
}

/**
 * Returns why you count as away. Returns undefined if you are active, or if the focused application counts as
 * active even without input.
 */
async function awayOf(
  app: Pick<FrontApp, 'app' | 'bundleId'> | undefined,
  idle: IdleReading,
  config: ObserveDeps['config'],
  nowMs: number,
): Promise<Away | undefined> {
  if ('unknown' in idle) return undefined;
  const { locked, idleMs } = idle;
  const limitMs = config.idleAfterSec * 1000;
  const input = idleMs === undefined ? {} : { inputMs: nowMs - idleMs };
  const sinceMs = nowMs - Math.max(0, (idleMs ?? 0) - limitMs);
  if (locked === true) return { state: 'away', reason: 'locked', text: 'locked', sinceMs, ...input };
  if (idleMs === undefined || idleMs < limitMs) return undefined;
  if (app !== undefined && (await appMatcher(config.countsAsActive))(app)) return undefined;
  const text = `idle ${Math.floor(idleMs / 60_000)} min`;
  return { state: 'away', reason: 'idle', text, sinceMs, ...input };
}

function boundedNames({ app, bundleId = '', pid, tty }: FrontApp): FrontApp {
  const limit = (text: string): string => [...clean(text).trim()].slice(0, MAX_TEXT).join('');
  return definedOnly({ app: limit(app) || 'unknown', bundleId: textOf(limit(bundleId)), pid, tty });
}
