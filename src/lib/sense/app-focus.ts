import { parseIso, toIso } from '../platform/clock';
import { clean } from '../platform/terminal';
import type { SenseConfig } from '../config/schema';
import { appMatcher } from './app-match';
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

/** Cursor of this source: when the last sample was taken, whatever it saw. */
interface Sampled {
  lastSampleMs: number;
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
      return times.length === 0 ? undefined : { lastSampleMs: Math.max(...times) };
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
  const { intervalSec, lastSampleMs } = standsFor(input, config.pollIntervalSec);
  const sampled = (state: Collected['state'], reason?: string, events: SenseEvent[] = []): Collected => ({
    events,
    cursor: { lastSampleMs } satisfies Sampled,
    state,
    ...(reason === undefined ? {} : { reason }),
  });

  const app = sight.state === 'seen' ? bounded(sight.app) : undefined;
  const away = await whyAway(app, idle, config);
  if (away !== undefined) return sampled('idle', away);
  if (app === undefined) return sampled('idle', 'no window has the focus');
  if ((await appMatcher(config.exclude))(app)) return sampled('ok', 'the application in front is excluded');
  if (intervalSec === 0) return sampled('ok', unknownIdle(idle));

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
  return sampled('ok', unknownIdle(idle), [event]);
}

/**
 * The whole seconds that a sample stands for. After the clock was set back the true time since the last
 * sample is not known: the sample only sets a new mark, for time that might be counted already is not
 * counted. What is left of a second is kept for the next sample.
 */
function standsFor(input: CollectInput, pollIntervalSec: number): Sampled & { intervalSec: number } {
  const { nowMs } = input;
  const last = lastSampleOf(input.cursor);
  if (last === undefined) return { intervalSec: pollIntervalSec, lastSampleMs: nowMs };
  if (last > nowMs) return { intervalSec: 0, lastSampleMs: nowMs };
  const elapsedSec = Math.floor((nowMs - last) / 1000);
  if (elapsedSec > pollIntervalSec) return { intervalSec: pollIntervalSec, lastSampleMs: nowMs };
  return { intervalSec: elapsedSec, lastSampleMs: last + elapsedSec * 1000 };
}

function lastSampleOf(cursor: unknown): number | undefined {
  if (typeof cursor !== 'object' || cursor === null || !('lastSampleMs' in cursor)) return undefined;
  const last = cursor.lastSampleMs;
  return typeof last === 'number' && Number.isFinite(last) ? last : undefined;
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
