import { isDeepStrictEqual } from 'node:util';

import type { SenseConfig } from '../config/schema';
import { definedOnly } from '../platform/files/json-object';
import { folderHash } from '../platform/files/short-hash';
import { isText, listOf, optional, shape, type ShapeOf } from '../platform/files/shape';
import { toIso } from '../platform/time/clock';
import { isInRange, type DayRange } from '../platform/time/period';
import { dayOf } from '../platform/time/time';
import type { SenseEvent, WebDetail } from '../time/event';
import { appMatcher } from '../time/classify';
import { browserOf, siteKey, type Browser } from '../time/site';
import { appendEvents, openRun, type CaptureDeps } from './capture';
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
  const day = dayOf(visit.until, deps.timezone);
  const names = [siteKey(visit.site ?? ''), visit.via].map(folderHash);
  const purged = purgesIn(state.cursors['web'], run.nowMs).filter(
    ({ name, ...range }) => isInRange(range, day) && (name === undefined || names.includes(name)),
  );
  const fromMs = Math.max(visit.at, ...purged.map(({ atMs }) => atMs));
  const event = eventOf({ ...visit, at: fromMs }, machine);
  const isExcluded = (await appMatcher(deps.config.exclude))({ app: siteKey(visit.site ?? '') });
  const isGone =
    fromMs >= visit.until || isExcluded || deps.config.exclude.some((name) => browserOf(name) === visit.via);
  if (isGone || deps.store.readLog(day).events.some((stored) => isDeepStrictEqual(stored, event)))
    return run.problems;
  state.sources['web'] = { state: 'ok', at: event.ts, ...state.sources['web'], lastEventTs: event.ts };
  appendEvents(run, state, [event]);
  return run.problems;
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value);
const PURGE = { atMs: isTime, from: optional(isText), to: optional(isText), name: optional(isText) };
/** A purge that also applies to visits that arrive later. Its name is a hash, because a purge deletes the name. */
type VisitPurge = ShapeOf<typeof PURGE>;
const arePurges = listOf(shape(PURGE));

/** Returns the purges of the last hours, without those after a clock that was set back. */
function purgesIn(cursor: unknown, nowMs: number): VisitPurge[] {
  return (arePurges(cursor) ? cursor : []).filter(({ atMs }) => atMs <= nowMs && atMs > nowMs - MAX_AGE_MS);
}

/** Returns the source's cursor after a purge. */
export function withPurge(cursor: unknown, { from, to, app }: DayRange & { app?: string }, nowMs: number) {
  const name = app === undefined ? undefined : folderHash(browserOf(app) ?? app.toLowerCase());
  return [...purgesIn(cursor, nowMs), definedOnly({ from, to, name, atMs: nowMs })];
}

function eventOf({ site, at, until, via }: SiteVisit, machine: string): SenseEvent {
  const detail = { from: toIso(at), via, machine } satisfies WebDetail;
  const event = { ts: toIso(until), type: 'web-focus', source: 'web', detail } as const;
  return site === null ? event : { ...event, app: siteKey(site) };
}
