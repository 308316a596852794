import type { SenseConfig } from '../config/schema';
import { isObject } from '../platform/files/json-object';
import { toIso } from '../platform/time/clock';
import type { SenseEvent, WebDetail } from '../time/event';
import { appMatcher } from '../time/classify';
import { BROWSERS, browserOf, siteKey, type Browser } from '../time/site';
import type { SenseSource } from './source';

/** A time in which one site was in front. `site` is null for all sites that were not ticked. */
export interface SiteVisit {
  site: string | null;
  at: number;
  until: number;
  via: Browser;
}

/** The visits that the daemon received lately, each once. Captures store them. */
export type SiteVisits = Map<string, SiteVisit>;

/** An extension keeps at most an hour, in which nobody changes the site this often. */
const MAX_VISITS = 5_000;

export function addVisit(visits: SiteVisits, visit: SiteVisit): void {
  visits.set(JSON.stringify(visit), visit);
  const [oldest] = visits.keys();
  if (visits.size > MAX_VISITS && oldest !== undefined) visits.delete(oldest);
}

/**
 * Creates the web source, which stores what the browser extension sent.
 * @param visits absent outside the daemon
 */
export function webSource(
  deps: { machineId: string; config: Pick<SenseConfig, 'exclude'> },
  isPaired: () => boolean,
  visits: SiteVisits = new Map(),
): SenseSource {
  return {
    id: 'web',
    label: 'Sites',
    description: 'The sites that you ticked in the browser extension, but never an address or a title.',
    async collect({ cursor, nowMs }) {
      const { exclude } = deps.config;
      const isExcluded = await appMatcher(exclude);
      const isKept = ({ site, via }: SiteVisit): boolean =>
        !isExcluded({ app: siteKey(site ?? '') }) && !exclude.some((entry) => browserOf(entry) === via);
      const stored = readCursor(cursor, nowMs);
      const fresh = [...visits.values()].filter(({ via, until }) => until > (stored[via] ?? 0));
      const next = { ...stored };
      for (const { via, until } of fresh) next[via] = Math.max(next[via] ?? 0, until);
      const events = fresh.filter(isKept).map((visit) => eventOf(visit, deps.machineId));
      const unpaired = { state: 'idle', reason: 'no browser is paired (steward sense web install)' } as const;
      return { events, cursor: next, ...(isPaired() ? { state: 'ok' } : unpaired) };
    },
  };
}

/** For each family of browsers, the end of the last visit that was stored or purged. */
type Cursor = Partial<Record<Browser, number>>;

/** If the clock was set back, a cursor's time may be in the future. */
function readCursor(cursor: unknown, nowMs: number): Cursor {
  const times = Object.entries(isObject(cursor) ? cursor : {}).filter(([, ms]) => Number(ms) <= nowMs);
  return Object.fromEntries(times) as Cursor;
}

/** Returns the cursor after a purge. Visits until `untilMs` aren't stored afterwards. */
export function skipVisits(cursor: unknown, untilMs: number, nowMs: number): Cursor {
  const stored = readCursor(cursor, nowMs);
  return Object.fromEntries(BROWSERS.map((browser) => [browser, Math.max(stored[browser] ?? 0, untilMs)]));
}

function eventOf({ site, at, until, via }: SiteVisit, machine: string): SenseEvent {
  const detail = { from: toIso(at), via, machine } satisfies WebDetail;
  const event = { ts: toIso(until), type: 'web-focus', source: 'web', detail } as const;
  return site === null ? event : { ...event, app: siteKey(site) };
}
