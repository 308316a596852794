import type { SenseConfig } from '../config/schema';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { appMatcher } from './classify';
import type { SenseEvent } from './event';
import { readFrontApp, type FrontAppReading } from './front-app';
import type { Desktop, FrontApp } from './front-app/adapter';
import { readIdle, type IdleReading } from './idle';
import type { Collected, CollectInput, SenseSource } from './source';

export interface AppFocusDeps {
  desktop: Desktop;
  config: Pick<SenseConfig, 'pollIntervalSec' | 'idleAfterSec' | 'countsAsActive' | 'exclude'>;
  machineId: string;
  /** `readFrontApp` by default. */
  frontApp?: (desktop: Desktop) => Promise<FrontAppReading>;
  /** `readIdle` by default. */
  idle?: (desktop: Desktop) => Promise<IdleReading>;
}

interface Cursor {
  /** Time of the last sample, even of one without an event. */
  lastSampleMs: number;
  /** Sampled time below a second that is in no event yet. */
  carryMs: number;
}

const MAX_TEXT = 200;

/**
 * The appFocus source: one sample of the front application per capture. An event covers the seconds since the previous
 * sample, at most one poll interval. No event while you are away or the application is excluded.
 */
export function appFocusSource(deps: AppFocusDeps): SenseSource {
  return {
    id: 'appFocus',
    label: 'Applications',
    description: 'The application in front, by name; never a window title.',
    collect: (input) => collect(deps, input),
    recover(stored): Cursor | undefined {
      const times = stored.filter(({ source }) => source === 'appFocus').map(({ ts }) => parseIso(ts) ?? 0);
      return times.length === 0 ? undefined : { lastSampleMs: Math.max(...times), carryMs: 0 };
    },
  };
}

async function collect(deps: AppFocusDeps, { nowMs, cursor }: CollectInput): Promise<Collected> {
  const { desktop, config, machineId: machine } = deps;
  const [front, idle] = await Promise.all([
    (deps.frontApp ?? readFrontApp)(desktop),
    (deps.idle ?? readIdle)(desktop),
  ]);
  if (front.state === 'unsupported' || front.state === 'error')
    return { events: [], cursor, state: front.state, reason: clean(front.reason) };
  const before = parseCursor(cursor);
  const sampled = (
    state: Collected['state'],
    reason: string | undefined,
    carryMs = before?.carryMs ?? 0,
    events: SenseEvent[] = [],
  ): Collected => ({
    events,
    cursor: { lastSampleMs: nowMs, carryMs } satisfies Cursor,
    state,
    ...(reason === undefined ? {} : { reason }),
  });

  const app = front.state === 'seen' ? boundedNames(front.app) : undefined;
  const away = await awayReason(app, idle, config);
  if (away !== undefined) return sampled('idle', away);
  if (app === undefined || front.state !== 'seen') return sampled('idle', 'no window has the focus');
  if ((await appMatcher(config.exclude))(app)) return sampled('ok', 'the application in front is excluded');
  const { intervalSec, carryMs } = sampleInterval(nowMs, before, config.pollIntervalSec);
  const warning =
    'unknown' in idle ? clean(`idle time is unknown, so all time counts: ${idle.unknown}`) : undefined;
  const { app: name, ...bundle } = app;
  const detail = { intervalSec, via: front.via, ...bundle, machine };
  const event: SenseEvent = { ts: toIso(nowMs), type: 'app-focus', source: 'appFocus', app: name, detail };
  return sampled('ok', warning, carryMs, intervalSec === 0 ? [] : [event]);
}

/**
 * Returns the whole seconds that a sample covers: the time since the last one, at most one poll interval, plus the carried
 * milliseconds. None after the clock was set back, since that time is unknown.
 */
function sampleInterval(
  nowMs: number,
  before: Cursor | undefined,
  pollIntervalSec: number,
): { intervalSec: number; carryMs: number } {
  const pollMs = pollIntervalSec * 1000;
  const elapsedMs = before === undefined ? pollMs : Math.max(0, nowMs - before.lastSampleMs);
  const ms = Math.min(elapsedMs, pollMs) + (before?.carryMs ?? 0);
  const intervalSec = Math.floor(ms / 1000);
  return { intervalSec, carryMs: ms - intervalSec * 1000 };
}

/** Parses a cursor; undefined if it is invalid. Earlier versions wrote no `carryMs`. */
function parseCursor(cursor: unknown): Cursor | undefined {
  const { lastSampleMs, carryMs } = (cursor ?? {}) as Record<string, unknown>;
  if (typeof lastSampleMs !== 'number' || !Number.isFinite(lastSampleMs)) return undefined;
  const isValid = typeof carryMs === 'number' && carryMs >= 0 && carryMs < 1000;
  return { lastSampleMs, carryMs: isValid ? carryMs : 0 };
}

/** Returns why you count as away; undefined when you are active, or the application counts without input. */
async function awayReason(
  app: FrontApp | undefined,
  idle: IdleReading,
  config: AppFocusDeps['config'],
): Promise<string | undefined> {
  if ('unknown' in idle) return undefined;
  const { locked, idleMs = 0 } = idle;
  if (locked === true) return 'locked';
  if (idleMs < config.idleAfterSec * 1000) return undefined;
  if (app !== undefined && (await appMatcher(config.countsAsActive))(app)) return undefined;
  return `idle ${Math.floor(idleMs / 60_000)} min`;
}

/** Cleans and shortens names, which come from other programs. */
function boundedNames({ app, bundleId = '' }: FrontApp): { app: string; bundleId?: string } {
  const limit = (text: string): string => [...clean(text).trim()].slice(0, MAX_TEXT).join('');
  const id = limit(bundleId);
  return { app: limit(app) || 'unknown', ...(id === '' ? {} : { bundleId: id }) };
}
