import type { SenseConfig } from '../config/schema';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { appMatcher } from './classify';
import type { SenseEvent } from './event';
import { readFrontApp, type FrontAppSight } from './front-app';
import type { Desktop, FrontApp } from './front-app/adapter';
import { readIdle, type IdleSight } from './idle';
import type { Collected, CollectInput, SenseSource } from './source';

export interface AppFocusNeeds {
  desktop: Desktop;
  config: Pick<SenseConfig, 'pollIntervalSec' | 'idleAfterSec' | 'countsAsActive' | 'exclude'>;
  machineId: string;
  /** The machine's own by default. */
  frontApp?: (desktop: Desktop) => Promise<FrontAppSight>;
  idle?: (desktop: Desktop) => Promise<IdleSight>;
}

/** Cursor of this source. */
interface Sampled {
  /** When the last sample was taken, whatever it saw. */
  lastSampleMs: number;
  /** Sampled time that is in no event yet: less than a second. */
  carryMs: number;
}

const MAX_TEXT = 200;

/**
 * The source `appFocus`: one sample of the front application at each capture. An event stands for the seconds since the
 * previous sample, at most one poll interval. Away, locked, excluded or nothing in front: no event.
 */
export function appFocusSource(needs: AppFocusNeeds): SenseSource {
  return {
    id: 'appFocus',
    label: 'Applications',
    description: 'Which application is in front, by name only: never a window title.',
    collect: (input) => collect(needs, input),
    recover(stored): Sampled | undefined {
      const times = stored.filter(({ source }) => source === 'appFocus').map(({ ts }) => parseIso(ts) ?? 0);
      return times.length === 0 ? undefined : { lastSampleMs: Math.max(...times), carryMs: 0 };
    },
  };
}

async function collect(needs: AppFocusNeeds, { nowMs, cursor }: CollectInput): Promise<Collected> {
  const { desktop, config, machineId: machine } = needs;
  const [sight, idle] = await Promise.all([
    (needs.frontApp ?? readFrontApp)(desktop),
    (needs.idle ?? readIdle)(desktop),
  ]);
  if (sight.state === 'unsupported' || sight.state === 'error')
    return { events: [], cursor, state: sight.state, reason: clean(sight.reason) };
  const before = cursorOf(cursor);
  const sampled = (
    state: Collected['state'],
    reason: string | undefined,
    carryMs = before?.carryMs ?? 0,
    events: SenseEvent[] = [],
  ): Collected => ({
    events,
    cursor: { lastSampleMs: nowMs, carryMs } satisfies Sampled,
    state,
    ...(reason === undefined ? {} : { reason }),
  });

  const app = sight.state === 'seen' ? bounded(sight.app) : undefined;
  const away = await whyAway(app, idle, config);
  if (away !== undefined) return sampled('idle', away);
  if (app === undefined || sight.state !== 'seen') return sampled('idle', 'no window has the focus');
  if ((await appMatcher(config.exclude))(app)) return sampled('ok', 'the application in front is excluded');
  const { intervalSec, carryMs } = standsFor(nowMs, before, config.pollIntervalSec);
  const unknownIdle =
    'unknown' in idle ? clean(`idle time is not known, so all time counts: ${idle.unknown}`) : undefined;
  const { app: name, ...bundle } = app;
  const detail = { intervalSec, via: sight.via, ...bundle, machine };
  const event: SenseEvent = { ts: toIso(nowMs), type: 'app-focus', source: 'appFocus', app: name, detail };
  return sampled('ok', unknownIdle, carryMs, intervalSec === 0 ? [] : [event]);
}

/**
 * The whole seconds that a sample stands for: the time since the last one, at most one poll interval, with what was
 * left of a second before. After the clock was set back that time is unknown, and none is counted.
 */
function standsFor(
  nowMs: number,
  before: Sampled | undefined,
  pollIntervalSec: number,
): { intervalSec: number; carryMs: number } {
  const pollMs = pollIntervalSec * 1000;
  const sinceMs = before === undefined ? pollMs : Math.max(0, nowMs - before.lastSampleMs);
  const ms = Math.min(sinceMs, pollMs) + (before?.carryMs ?? 0);
  const intervalSec = Math.floor(ms / 1000);
  return { intervalSec, carryMs: ms - intervalSec * 1000 };
}

/** Undefined when it is invalid; one of an earlier version has no `carryMs`. */
function cursorOf(cursor: unknown): Sampled | undefined {
  const { lastSampleMs, carryMs } = (cursor ?? {}) as Record<string, unknown>;
  if (typeof lastSampleMs !== 'number' || !Number.isFinite(lastSampleMs)) return undefined;
  const isCarry = typeof carryMs === 'number' && carryMs >= 0 && carryMs < 1000;
  return { lastSampleMs, carryMs: isCarry ? carryMs : 0 };
}

/** Why the time is nobody's; undefined when a person is there, or the application counts without one. */
async function whyAway(
  app: FrontApp | undefined,
  idle: IdleSight,
  config: AppFocusNeeds['config'],
): Promise<string | undefined> {
  if ('unknown' in idle) return undefined;
  const { locked, idleMs = 0 } = idle;
  if (locked === true) return 'locked';
  if (idleMs < config.idleAfterSec * 1000) return undefined;
  if (app !== undefined && (await appMatcher(config.countsAsActive))(app)) return undefined;
  return `idle ${Math.floor(idleMs / 60_000)} min`;
}

/** Names come from other programs: cleaned, and of a length that a line of the log can hold. */
function bounded({ app, bundleId = '' }: FrontApp): { app: string; bundleId?: string } {
  const limit = (text: string): string => [...clean(text).trim()].slice(0, MAX_TEXT).join('');
  const id = limit(bundleId);
  return { app: limit(app) || 'unknown', ...(id === '' ? {} : { bundleId: id }) };
}
