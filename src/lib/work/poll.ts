import type { WorkConfig, WorkRepoConfig } from '../config/schema';
import { StewardError, toStewardError } from '../errors';
import { parseIso, toIso } from '../platform/time/clock';
import { ensureFolder } from '../platform/files/folder';
import { dirname } from 'node:path';
import {
  isFullDue,
  keptIssue,
  merged,
  readPoll,
  writeCache,
  writePoll,
  type Cache,
  type CachePaths,
  type Poll,
} from './cache';
import type { Host } from './host';
import { privacyState, repoOf, verify, type PrivacyDeps } from './privacy';

export interface PollDeps extends PrivacyDeps {
  paths: CachePaths;
  config: WorkConfig;
  /** The cached state; `cacheReader` for those who ask often. What it gives is not changed by anybody. */
  cache: (repo: string) => Cache;
}

/** POST /api/work/refresh (decisions.md 6). */
export interface RefreshResult {
  ok: boolean;
  lastFetch: string | null;
  stale: boolean;
  reason?: string;
}

const NOT_SET_UP = 'No repository is set up: run `steward work setup OWNER/REPO`.';

/**
 * Brings the cache up to date. Nothing is thrown for what the service or the network does: the cache stays, and
 * the result says why. An unchanged repository costs one request, answered 304; privacy is verified when due.
 */
export async function refresh(deps: PollDeps): Promise<RefreshResult> {
  const config = deps.workRepo();
  const state = privacyState(config, deps.clock.now());
  if (state === 'setup' || state === 'off' || state === 'public') {
    const shown = staleness(deps, config);
    return { ok: false, lastFetch: shown.lastFetch, stale: true, reason: shown.staleReason ?? NOT_SET_UP };
  }
  const repo = repoOf(config);
  const before = isKnown(deps, repo) ? readPoll(deps.paths.poll, repo).lastFetch : null;
  try {
    ensureFolder(dirname(deps.paths.cache));
    if (state !== 'fresh') await verify(deps);
    await fetchChanges(deps, await deps.host(), repo);
    const lastFetch = toIso(deps.clock.now());
    writePoll(deps.paths.poll, repo, { lastFetch, failure: null });
    return { ok: true, lastFetch, stale: false };
  } catch (error) {
    const known = toStewardError(error);
    if (known.kind === 'internal' || known.kind === 'canceled') throw error;
    const failure = { at: toIso(deps.clock.now()), message: known.message, hint: known.hint ?? '' };
    noteFailure(deps, repo, { lastFetch: before, failure });
    return { ok: false, lastFetch: before, stale: true, reason: known.message };
  }
}

/** Where it cannot be written down (a full disk, a folder that may only be read), whoever asked is told all the same. */
function noteFailure({ paths }: Pick<PollDeps, 'paths'>, repo: string, poll: Poll): void {
  try {
    writePoll(paths.poll, repo, poll);
  } catch (error) {
    if (toStewardError(error).kind === 'internal') throw error;
  }
}

/** The same for a command that must have the truth: what goes wrong is thrown. */
export async function freshCache(deps: PollDeps, host: Host, repo: string): Promise<Cache> {
  const cache = await fetchChanges(deps, host, repo);
  writePoll(deps.paths.poll, repo, { lastFetch: toIso(deps.clock.now()), failure: null });
  return cache;
}

async function fetchChanges(
  deps: Pick<PollDeps, 'paths' | 'clock' | 'cache'>,
  host: Host,
  repo: string,
): Promise<Cache> {
  const { paths, clock } = deps;
  const cache = deps.cache(repo);
  const all = isFullDue(cache, clock.now()) || cache.since === null;
  const since = all ? {} : { since: cache.since ?? '' };
  const etag = !all && cache.etag?.tokenHash === host.tokenHash ? { etag: cache.etag.value } : {};
  const found = await host.issues(repo, { ...since, ...etag });
  if (found.unchanged) return cache;
  // What another process has learnt in the meantime (labels) is kept.
  const current = deps.cache(repo);
  const next = merged(current, found.value.map(keptIssue), {
    all,
    nowMs: clock.now(),
    malformed: found.malformed,
  });
  const isSameQuestion = !all && next.since === cache.since && found.etag !== null;
  const kept = {
    ...next,
    etag: isSameQuestion ? { value: found.etag ?? '', tokenHash: host.tokenHash } : null,
  };
  writeCache(paths.cache, kept);
  return kept;
}

export interface Staleness {
  lastFetch: string | null;
  stale: boolean;
  staleReason: string | null;
}

/** Was the list ever read as a whole? A cache that was removed, or is broken, holds nothing: that is not "no issues". */
function isKnown({ cache }: Pick<PollDeps, 'cache'>, repo: string): boolean {
  return cache(repo).fullAt !== null;
}

/** How old what is shown is, and why. */
export function staleness(
  deps: Pick<PollDeps, 'paths' | 'clock' | 'config' | 'cache'>,
  config: WorkRepoConfig,
): Staleness {
  const nowMs = deps.clock.now();
  const state = privacyState(config, nowMs);
  if (config.repo === undefined) return { lastFetch: null, stale: false, staleReason: null };
  const poll = readPoll(deps.paths.poll, config.repo);
  const { failure } = poll;
  const lastFetch = isKnown(deps, config.repo) ? poll.lastFetch : null;
  const stale = (staleReason: string): Staleness => ({ lastFetch, stale: true, staleReason });
  if (state === 'off') return stale('Work tracking is switched off (WORK.enabled is false).');
  if (state === 'public') {
    const seen = config.privacy.visibility ?? 'public';
    return stale(
      `${config.repo} is ${seen}, not private: nothing is read or sent. Make it private, then run \`steward work verify\`.`,
    );
  }
  if (failure !== null) return stale(`${failure.message} ${failure.hint}`.trim());
  const at = parseIso(lastFetch ?? '');
  if (at === undefined) return stale('Nothing was fetched yet.');
  const age = nowMs - at;
  const limit = Math.max(5 * 60_000, 3 * deps.config.POLL_INTERVAL_SECONDS * 1000);
  if (age > limit || age < -limit) return stale('It was not fetched again since.');
  return { lastFetch, stale: false, staleReason: null };
}

/** A cached read that has nothing at all to show. */
export function nothingCached(reason: string | null): StewardError {
  return new StewardError('unavailable', reason ?? 'Nothing was fetched yet.', {
    hint: 'Run `steward work status` to see what stands in the way.',
  });
}
