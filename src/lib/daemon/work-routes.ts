import { boardView, columnsView, type BoardDeps } from '../work/board';
import { refresh, type PollDeps } from '../work/poll';
import { waitingText } from '../work/capture/waiting';
import { workStatus, type StatusDeps, type WorkStatus } from '../work/status';
import { markOfTarget } from '../platform/files/stat';
import { tagged, taggedAnswer, type Tagged } from './app';
import { JSON_HEADERS } from './http-error';
import { type Route, type RouteRequest } from './route';
import type { HttpAnswer } from '../platform/net/http-application';
import type { ModuleHealth } from './status';

export type WorkRoutesDeps = BoardDeps & PollDeps & StatusDeps;
type Work = () => WorkRoutesDeps | Promise<WorkRoutesDeps>;

/** The work module (service.md: Endpoints, Work; shapes in decisions.md 6). Reading asks nobody but the cache. */
export function workRoutes(work: Work): Route[] {
  return [
    { method: 'GET', path: '/api/work', serve: kept(work, boardView) },
    { method: 'GET', path: '/api/work/columns', serve: kept(work, columnsView) },
    { method: 'GET', path: '/api/work/status', isLive: true, run: async () => workStatus(await work()) },
    { method: 'POST', path: '/api/work/refresh', run: async () => refresh(await work()) },
  ];
}

/** How long an answer is kept at most: staleness comes with time alone. */
const KEPT_MS = 1000;

/** A read of the cache whose bytes are made once for all who ask, until a file that it is made of changes. */
function kept(
  work: Work,
  read: (deps: WorkRoutesDeps) => unknown,
): (request: RouteRequest) => HttpAnswer | Promise<HttpAnswer> {
  let last: { key: string; deps: WorkRoutesDeps; atMs: number; bytes: Tagged } | undefined;
  const answer = ({ head }: RouteRequest, deps: WorkRoutesDeps): HttpAnswer => {
    const { cache, poll } = deps.paths;
    const key = `${markOfTarget(cache) ?? ''} ${markOfTarget(poll) ?? ''}`;
    const nowMs = deps.clock.monotonic();
    if (last === undefined || last.key !== key || last.deps !== deps || nowMs - last.atMs > KEPT_MS) {
      const bytes = tagged(`${JSON.stringify(read(deps))}\n`, JSON_HEADERS);
      last = { key, deps, atMs: nowMs, bytes };
    }
    return taggedAnswer(head, last.bytes);
  };
  return (request) => {
    const deps = work();
    return deps instanceof Promise ? deps.then((found) => answer(request, found)) : answer(request, deps);
  };
}

/** How the module is doing, for the status page. */
export function workHealth(status: WorkStatus): ModuleHealth {
  if (status.setupRequired) {
    return {
      state: 'off',
      reason: 'No work repository is set up.',
      fix: 'steward work setup OWNER/REPO --create',
    };
  }
  if (!status.enabled) {
    return { state: 'off', reason: 'WORK.enabled is false.', fix: 'steward config set WORK.enabled true' };
  }
  const { state } = status.privacy;
  if (state === 'public' || state === 'unverified') {
    return {
      state: 'needs-you',
      reason: status.staleReason ?? 'The repository is not verified to be private.',
      fix: 'steward work verify',
    };
  }
  const waiting = status.waiting.find(({ fix }) => fix !== null);
  if (waiting !== undefined)
    return { state: 'needs-you', reason: `${waitingText(waiting)}.`, fix: waiting.fix ?? '' };
  if (!status.stale) return { state: 'ok' };
  return { state: 'error', reason: status.staleReason ?? 'unknown', fix: 'steward work status' };
}
