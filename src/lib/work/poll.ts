import { dirname } from 'node:path';

import type { WorkRepoConfig } from '../config/schema';
import { StewardError, toStewardError, orElse } from '../errors';
import { ensureFolder } from '../platform/files/folder';
import { parseIso, toIso } from '../platform/time/clock';
import { merged, readPoll, writeCache, writePoll, type Cache } from './cache';
import type { WorkDeps } from './deps';
import type { Host } from './host';
import { privacyState, repoOf, verify } from './privacy';

const NEVER_FETCHED = 'The issues have not been fetched yet.';

/**
 * Updates the cache and, if due, verifies that the repository is private. If GitHub is unavailable, returns
 * the reason and keeps the old cache.
 */
export async function refresh(deps: WorkDeps) {
  const config = deps.workRepo();
  const state = privacyState(config, deps.clock.now());
  if (state === 'setup' || state === 'off' || state === 'public') {
    const { lastFetch, staleReason } = staleness(deps, config);
    const reason = staleReason ?? 'Work tracking is not set up; run `steward work setup OWNER/REPO`.';
    return { ok: false, lastFetch, stale: true, reason };
  }
  const repo = repoOf(config);
  const before = wasFetched(deps, repo) ? readPoll(deps.paths.poll, repo).lastFetch : null;
  try {
    ensureFolder(dirname(deps.paths.cache));
    if (state !== 'fresh') await verify(deps);
    await freshCache(deps, await deps.host(), repo);
    return { ok: true, lastFetch: readPoll(deps.paths.poll, repo).lastFetch, stale: false };
  } catch (error) {
    const known = toStewardError(error);
    if (known.kind === 'internal' || known.kind === 'canceled') throw error;
    const failure = { at: toIso(deps.clock.now()), message: known.message, hint: known.hint ?? '' };
    // The caller reports the failure even if it can't be saved.
    orElse(undefined, () => writePoll(deps.paths.poll, repo, { lastFetch: before, failure }));
    return { ok: false, lastFetch: before, stale: true, reason: known.message };
  }
}

/** Updates the cache and returns it. Throws on any failure. */
export async function freshCache(deps: WorkDeps, host: Host, repo: string): Promise<Cache> {
  const cache = await fetchChanges(deps, host, repo);
  writePoll(deps.paths.poll, repo, { lastFetch: toIso(deps.clock.now()), failure: null });
  return cache;
}

const FULL_FETCH_MS = 24 * 3_600_000;

async function fetchChanges({ paths, clock, cache: read }: WorkDeps, host: Host, repo: string) {
  const { since, fullAt, etag } = read(repo);
  // A fetch time in the future means that the clock moved back, so use the absolute age.
  const full =
    since === null || Math.abs(clock.now() - (parseIso(fullAt ?? '') ?? -Infinity)) > FULL_FETCH_MS;
  const found = await host.issues(repo, {
    ...(full ? {} : { since }),
    ...(!full && etag?.tokenHash === host.tokenHash ? { etag: etag.value } : {}),
  });
  if (found.unchanged) return read(repo);
  // Read the cache again, because another process may have updated it during the request.
  const { value, malformed } = found;
  const next = merged(read(repo), value, { full, nowMs: clock.now(), malformed });
  if (!full && next.since === since && found.etag !== null)
    next.etag = { value: found.etag, tokenHash: host.tokenHash };
  writeCache(paths.cache, next);
  return next;
}

/**
 * Returns whether the issue list has ever been fetched. Until then, the issue count is unknown rather than
 * zero.
 */
function wasFetched({ cache }: Pick<WorkDeps, 'cache'>, repo: string): boolean {
  return cache(repo).fullAt !== null;
}

/** Returns when the board was last fetched, and whether and why it is stale. */
export function staleness(
  deps: Pick<WorkDeps, 'paths' | 'clock' | 'config' | 'cache'>,
  config: WorkRepoConfig,
) {
  const nowMs = deps.clock.now();
  const { repo } = config;
  if (repo === undefined) return { lastFetch: null, stale: false, staleReason: null };
  const { failure, ...poll } = readPoll(deps.paths.poll, repo);
  const lastFetch = wasFetched(deps, repo) ? poll.lastFetch : null;
  const stale = (staleReason: string) => ({ lastFetch, stale: true, staleReason });
  const state = privacyState(config, nowMs);
  if (state === 'off') return stale('Work tracking is off (WORK.enabled is false).');
  if (state === 'public') {
    const visibility = config.privacy.visibility ?? 'public';
    const fix = 'Make it private, then run `steward work verify`.';
    return stale(`${repo} is ${visibility}, so nothing is read or sent. ${fix}`);
  }
  if (failure !== null) return stale(`${failure.message} ${failure.hint}`.trim());
  const at = parseIso(lastFetch ?? '');
  if (at === undefined) return stale(NEVER_FETCHED);
  const limit = Math.max(5 * 60_000, 3 * deps.config.POLL_INTERVAL_SECONDS * 1000);
  const isOld = Math.abs(nowMs - at) > limit;
  return isOld ? stale('The issues are out of date.') : { lastFetch, stale: false, staleReason: null };
}

/** Returns the error for a command that needs cached issues when there are none. */
export function nothingCached(reason: string | null): StewardError {
  return new StewardError('unavailable', reason ?? NEVER_FETCHED, {
    hint: 'Run `steward work status` to see why.',
  });
}
