import type { HttpAnswer } from '../platform/net/http-application';
import { loopTurn } from '../platform/time/loop-turn';
import { latestInsight, type InsightReadDeps } from '../sense/insight-read';
import type { LiveReads } from '../sense/live';
import { recent, type ReadDeps } from '../sense/read';
import { tagged, taggedAnswer, type Tagged } from './app';
import { JSON_HEADERS } from './http-error';
import { route, wholeNumber, type Route, type RouteRequest } from './route';

export interface SenseRoutesDeps {
  /** Resolved again whenever a file of the configuration has changed; a broken one is `config`. */
  sense: () => ReadDeps | Promise<ReadDeps>;
  live: LiveReads;
  insights: InsightReadDeps['insights'];
}

const DEFAULT_DAYS = 7;

/** The reads of sense (service.md: Endpoints, Sense; shapes in decisions.md 3). */
export function senseRoutes({ sense, live, insights }: SenseRoutesDeps): Route[] {
  return [
    { method: 'GET', path: '/api/sense/today', serve: kept(sense, live.today) },
    { method: 'GET', path: '/api/sense/sources', serve: kept(sense, live.sources) },
    { method: 'GET', path: '/api/sense/status', serve: kept(sense, live.status) },
    {
      method: 'GET',
      path: '/api/sense/insight',
      run: async () => {
        const { clock, timezone, store } = await sense();
        return latestInsight({ clock, timezone, store, insights });
      },
    },
    route({
      method: 'GET',
      path: '/api/sense/recent',
      input: ({ query }) => wholeNumber(query, 'days') ?? DEFAULT_DAYS,
      run: async (days) => recent(await sense(), days),
    }),
  ];
}

/**
 * A read whose bytes are kept as long as it gives the same object. The requests that one turn of the loop brings had
 * all arrived when the first of them looked for what has changed: they share its look.
 */
function kept<T>(
  sense: SenseRoutesDeps['sense'],
  read: (deps: ReadDeps) => T,
): (request: RouteRequest) => HttpAnswer | Promise<HttpAnswer> {
  let last: { value: T; bytes: Tagged; turn: number } | undefined;
  const answer = (request: RouteRequest, deps: ReadDeps): HttpAnswer => {
    const value = read(deps);
    const bytes = last?.value === value ? last.bytes : tagged(`${JSON.stringify(value)}\n`, JSON_HEADERS);
    last = { value, bytes, turn: loopTurn() };
    return taggedAnswer(request.head, bytes);
  };
  return (request) => {
    if (last?.turn === loopTurn()) return taggedAnswer(request.head, last.bytes);
    const deps = sense();
    return deps instanceof Promise ? deps.then((found) => answer(request, found)) : answer(request, deps);
  };
}
