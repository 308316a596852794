import { parseIso, toIso } from '../platform/time/clock';
import { clean } from '../platform/terminal/terminal';
import type { SenseConfig } from '../config/schema';
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
 * The source `appFocus` (service.md: Sense sources; decisions.md 3): one sample of the front application at
 * each capture. An event stands for the seconds since the previous sample, at most one poll interval, so
 * that captures between two polls add nothing twice. Away, locked, excluded or nothing in front: no event.
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

async function collect(needs: AppFocusNeeds, input: CollectInput): Promise<Collected> {
  const { desktop, config, machineId } = needs;
  const [sight, idle] = await Promise.all([
    (needs.frontApp ?? readFrontApp)(desktop),
    (needs.idle ?? readIdle)(desktop),
  ]);
  if (sight.state === 'unsupported' || sight.state === 'error') {
    return { events: [], cursor: input.cursor, state: sight.state, reason: clean(sight.reason) };
  }
  const before = cursorOf(input.cursor);
  const { intervalSec, carryMs } = standsFor(input.nowMs, before, config.pollIntervalSec);
  const sampled = (
    state: Collected['state'],
    reason: string | undefined,
    { events = [], carry = before?.carryMs ?? 0 }: { events?: SenseEvent[]; carry?: number } = {},
  ): Collected => ({
    events,
    cursor: { lastSampleMs: input.nowMs, carryMs: carry } satisfies Sampled,
    state,
    ...(reason === undefined ? {} : { reason }),
  });

  const app = sight.state === 'seen' ? bounded(sight.app) : undefined;
  const away = await whyAway(app, idle, config);
  if (away !== undefined) return sampled('idle', away);
  if (app === undefined) return sampled('idle', 'no window has the focus');
  if ((await appMatcher(config.exclude))(app)) return sampled('ok', 'the application in front is excluded');
  if (intervalSec === 0) return sampled('ok', unknownIdle(idle), { carry: carryMs });

  const event: SenseEvent = {
    ts: toIso(input.nowMs),
    type: 'app-focus',
    source: 'appFocus',
    app: app.app,
    detail: {
      intervalSec,
      via: sight.via,
      ...(app.bundleId === undefined ? {} : { bundleId: app.bundleId }),
      machine: machineId,
    },
  };
  return sampled('ok', unknownIdle(idle), { events: [event], carry: carryMs });
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

/** Undefined where it is none; one of an earlier version has no `carryMs`. */
function cursorOf(cursor: unknown): Sampled | undefined {
  if (typeof cursor !== 'object' || cursor === null || !('lastSampleMs' in cursor)) return undefined;
  const { lastSampleMs } = cursor;
  if (typeof lastSampleMs !== 'number' || !Number.isFinite(lastSampleMs)) return undefined;
  const carryMs = 'carryMs' in cursor ? Number(cursor.carryMs) : 0;
  return { lastSampleMs, carryMs: carryMs >= 0 && carryMs < 1000 ? carryMs : 0 };
}

/** Why the time is nobody's; undefined when a person is there, or the application counts without one. */
async function whyAway(
  app: FrontApp | undefined,
  idle: IdleSight,
  config: AppFocusNeeds['config'],
): Promise<string | undefined> {
  if ('unknown' in idle) return undefined;
  if (idle.locked === true) return 'locked';
  const idleMs = idle.idleMs ?? 0;
  if (idleMs < config.idleAfterSec * 1000) return undefined;
  if (app !== undefined && (await appMatcher(config.countsAsActive))(app)) return undefined;
  return `idle ${Math.floor(idleMs / 60_000)} min`;
}

function unknownIdle(idle: IdleSight): string | undefined {
  return 'unknown' in idle ? clean(`idle time is not known, so all time counts: ${idle.unknown}`) : undefined;
}

/** Names come from other programs: cleaned, and of a length that a line of the log can hold. */
function bounded(app: FrontApp): FrontApp {
  const name = limit(app.app);
  const bundleId = app.bundleId === undefined ? '' : limit(app.bundleId);
  return { app: name === '' ? 'unknown' : name, ...(bundleId === '' ? {} : { bundleId }) };
}

function limit(text: string): string {
  return [...clean(text).trim()].slice(0, MAX_TEXT).join('');
}
