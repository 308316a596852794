import { dirname } from 'node:path';

import type { WorkRepoConfig } from '../config/schema';
import { StewardError, toStewardError } from '../errors';
import { ensureFolder } from '../platform/files/folder';
import { parseIso, toIso } from '../platform/time/clock';
import { merged, readPoll, writeCache, writePoll, type Cache, type Poll } from './cache';
import type { WorkDeps } from './deps';
import type { Host } from './host';
import { privacyState, repoOf, verify } from './privacy';

/** POST /api/work/refresh. */
export interface RefreshResult {
  ok: boolean;
  lastFetch: string | null;
  stale: boolean;
  reason?: string;
}

/**
 * Brings the cache up to date. Nothing is thrown for what the service or the network does: the cache stays, and
 * the result says why. An unchanged repository costs one request, answered 304; privacy is verified when due.
 */
export async function refresh(deps: WorkDeps): Promise<RefreshResult> {
  const config = deps.workRepo();
  const state = privacyState(config, deps.clock.now());
  if (state === 'setup' || state === 'off' || state === 'public') {
    const { lastFetch, staleReason } = staleness(deps, config);
    const reason = staleReason ?? 'No repository is set up: run `steward work setup OWNER/REPO`.';
    return { ok: false, lastFetch, stale: true, reason };
  }
  const repo = repoOf(config);
  const before = isKnown(deps, repo) ? readPoll(deps.paths.poll, repo).lastFetch : null;
  try {
    ensureFolder(dirname(deps.paths.cache));
    if (state !== 'fresh') await verify(deps);
    await freshCache(deps, await deps.host(), repo);
    return { ok: true, lastFetch: readPoll(deps.paths.poll, repo).lastFetch, stale: false };
  } catch (error) {
    const known = toStewardError(error);
    if (known.kind === 'internal' || known.kind === 'canceled') throw error;
    const failure = { at: toIso(deps.clock.now()), message: known.message, hint: known.hint ?? '' };
    noteFailure(deps, repo, { lastFetch: before, failure });
    return { ok: false, lastFetch: before, stale: true, reason: known.message };
  }
}

/** Where it cannot be written down (a full disk, a folder that may only be read), whoever asked is told all the same. */
function noteFailure({ paths }: WorkDeps, repo: string, poll: Poll): void {
  try {
    writePoll(paths.poll, repo, poll);
  } catch (error) {
    if (toStewardError(error).kind === 'internal') throw error;
  }
}

/** The same for a command that must have the truth: what goes wrong is thrown. */
export async function freshCache(deps: WorkDeps, host: Host, repo: string): Promise<Cache> {
  const cache = await fetchChanges(deps, host, repo);
  writePoll(deps.paths.poll, repo, { lastFetch: toIso(deps.clock.now()), failure: null });
  return cache;
}

const FULL_EVERY_MS = 24 * 3_600_000;

async function fetchChanges(
  { paths, clock, cache: read }: WorkDeps,
  host: Host,
  repo: string,
): Promise<Cache> {
  const { since, fullAt, etag } = read(repo);
  // A date in the future was written by a clock that was put back since.
  const isFull = Math.abs(clock.now() - (parseIso(fullAt ?? '') ?? -Infinity)) > FULL_EVERY_MS;
  const from = isFull ? null : since;
  const found = await host.issues(repo, {
    ...(from === null ? {} : { since: from }),
    ...(from !== null && etag?.tokenHash === host.tokenHash ? { etag: etag.value } : {}),
  });
  if (found.unchanged) return read(repo);
  // What another process has learnt in the meantime (labels) is kept.
  const { value, malformed } = found;
  const next = merged(read(repo), value, { all: from === null, nowMs: clock.now(), malformed });
  const isSameQuestion = from !== null && next.since === from && found.etag !== null;
  if (isSameQuestion) next.etag = { value: found.etag ?? '', tokenHash: host.tokenHash };
  writeCache(paths.cache, next);
  return next;
}

export interface Staleness {
  lastFetch: string | null;
  stale: boolean;
  staleReason: string | null;
}

/** Was the list ever read as a whole? A cache that was removed, or is broken, holds nothing: that is not "no issues". */
function isKnown({ cache }: Pick<WorkDeps, 'cache'>, repo: string): boolean {
  return cache(repo).fullAt !== null;
}

/** How old what is shown is, and why. */
export function staleness(
  deps: Pick<WorkDeps, 'paths' | 'clock' | 'config' | 'cache'>,
  config: WorkRepoConfig,
): Staleness {
  const nowMs = deps.clock.now();
  const { repo } = config;
  if (repo === undefined) return { lastFetch: null, stale: false, staleReason: null };
  const { failure, ...poll } = readPoll(deps.paths.poll, repo);
  const lastFetch = isKnown(deps, repo) ? poll.lastFetch : null;
  const stale = (staleReason: string): Staleness => ({ lastFetch, stale: true, staleReason });
  const state = privacyState(config, nowMs);
  if (state === 'off') return stale('Work tracking is switched off (WORK.enabled is false).');
  if (state === 'public') {
    const seen = config.privacy.visibility ?? 'public';
    return stale(
      `${repo} is ${seen}, not private: nothing is read or sent. Make it private, then run \`steward work verify\`.`,
    );
  }
  if (failure !== null) return stale(`${failure.message} ${failure.hint}`.trim());
  const at = parseIso(lastFetch ?? '');
  if (at === undefined) return stale('Nothing was fetched yet.');
  const limit = Math.max(5 * 60_000, 3 * deps.config.POLL_INTERVAL_SECONDS * 1000);
  const isOld = nowMs - at > limit || at - nowMs > limit;
  return isOld ? stale('It was not fetched again since.') : { lastFetch, stale: false, staleReason: null };
}

/** A cached read that has nothing at all to show. */
export function nothingCached(reason: string | null): StewardError {
  return new StewardError('unavailable', reason ?? 'Nothing was fetched yet.', {
    hint: 'Run `steward work status` to see what stands in the way.',
  });
}
