import { isDeepStrictEqual } from 'node:util';

import type { SenseConfig } from '../config/schema';
import { OTHER_SITES } from '../platform/net/site';
import { toIso } from '../platform/time/clock';
import { dayOf } from '../platform/time/time';
import type { SenseEvent, WebDetail } from '../time/event';
import { appMatcher } from '../time/classify';
import { BROWSER_NAMES, browserOf, siteKey, type Browser } from '../time/site';
import { appendEvents, openRun, type CaptureDeps } from './capture';
import { withoutPurged } from './purged';
import { NOT_SET_UP, type SenseSource } from './source';

/** A time in which one site was in front. `site` is null for all sites that were not ticked. */
export interface SiteVisit {
  site: string | null;
  at: number;
  until: number;
  via: Browser;
}

/** How old a visit may be when it arrives. The extension keeps visits for an hour. */
export const MAX_AGE_MS = 2 * 3_600_000;

/** Creates the web source. Its events are stored when they arrive, so a capture finds none. */
export function webSource(isPaired: () => boolean): SenseSource {
  return {
    id: 'web',
    label: 'Sites',
    description: 'The sites that you ticked in the browser extension, but never an address or a title.',
    collect({ cursor }) {
      const paired = { state: 'ok', reason: 'the daemon stores visits when the browser sends them' } as const;
      const unpaired = { state: 'idle', reason: 'no browser is paired (steward sense web install)' } as const;
      return Promise.resolve({ events: [], cursor, ...(isPaired() ? paired : unpaired) });
    },
  };
}

/** Returns why sites are not recorded, and the command that changes it; undefined if they are. */
export function whyOff(isSetUp: boolean, { enabled, sources }: Pick<SenseConfig, 'enabled' | 'sources'>) {
  if (!isSetUp) return { found: NOT_SET_UP.found, fix: 'steward up' };
  const key = enabled ? 'sense.sources.web' : 'sense.enabled';
  return enabled && sources.web
    ? undefined
    : { found: `${key} is false`, fix: `steward config set ${key} true` };
}

/**
 * Stores a visit once, unless it was excluded or purged. Returns the problems. The caller must hold the sense lock.
 */
export async function storeVisit(
  deps: CaptureDeps & { config: Pick<SenseConfig, 'exclude'> },
  visit: SiteVisit,
  machine: string,
): Promise<string[]> {
  const { run, state } = openRun(deps);
  const [event] = withoutPurged([eventOf(visit, machine)], state.cursors['purges'], run);
  if (event === undefined || (await isExcluded(visit, deps.config.exclude))) return run.problems;
  const { events } = deps.store.readLog(dayOf(visit.until, deps.timezone));
  if (events.some((stored) => isDeepStrictEqual(stored, event))) return run.problems;
  state.sources['web'] = { state: 'ok', at: event.ts, ...state.sources['web'], lastEventTs: event.ts };
  appendEvents(run, state, [event]);
  return run.problems;
}

/** A visit does not tell which browser of the family it was in, so an excluded one excludes the family. */
async function isExcluded({ site, via }: SiteVisit, exclude: readonly string[]): Promise<boolean> {
  const matches = await appMatcher(exclude);
  const isBrowser = exclude.some((name) => browserOf(name) === via);
  const names = [siteKey(site ?? OTHER_SITES), ...BROWSER_NAMES[via]];
  return isBrowser || names.some((app) => matches({ app }));
}

function eventOf({ site, at, until, via }: SiteVisit, machine: string): SenseEvent {
  const detail = { from: toIso(at), via, machine } satisfies WebDetail;
  const event = { ts: toIso(until), type: 'web-focus', source: 'web', detail } as const;
  return site === null ? event : { ...event, app: siteKey(site) };
}
