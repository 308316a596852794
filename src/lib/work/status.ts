import { parseIso, toIso } from '../platform/time/clock';
import { SETUP_STEPS } from './board';
import { waitingCaptures } from './capture/waiting';
import type { WorkDeps } from './deps';
import { readLedger } from './ensure';
import { staleness } from './poll';
import { VERIFY_AFTER_MS, privacyState } from './privacy';

export function workStatus(deps: WorkDeps) {
  const config = deps.workRepo();
  const { repo, privacy } = config;
  const { issues, malformed } = repo === undefined ? { issues: [], malformed: 0 } : deps.cache(repo);
  const open = issues.filter(({ state }) => state === 'open').length;
  const at = parseIso(privacy.verifiedAt ?? '');
  const fetched = staleness(deps, config);
  return {
    setupRequired: repo === undefined,
    steps: repo === undefined ? [...SETUP_STEPS] : [],
    repo: repo ?? null,
    enabled: config.enabled,
    privacy: {
      state: privacyState(config, deps.clock.now()),
      visibility: privacy.visibility ?? null,
      verifiedAt: privacy.verifiedAt ?? null,
      /** When the next verification is due; `null` before the first one. */
      nextVerification: at === undefined ? null : toIso(at + VERIFY_AFTER_MS),
    },
    ...fetched,
    issues: { open, closed: issues.length - open },
    /** Number of malformed issues. `issues` doesn't count them. */
    malformed,
    /** Number of issues that GitHub may have created since the last fetch. */
    unfinished: repo === undefined ? 0 : unconfirmed(deps, repo, fetched.lastFetch),
    /** Pending captures, grouped by reason. */
    waiting: waitingCaptures(deps.area),
    pollIntervalSeconds: deps.config.POLL_INTERVAL_SECONDS,
    captureNative: deps.config.CAPTURE_NATIVE,
    captureSweep: deps.config.CAPTURE_SWEEP,
    /** Whether the matching line of a prompt is captured, or the whole prompt. */
    capturePrompt: deps.config.CAPTURE_PROMPT,
  };
}

/** The response to GET /api/work/status, and the output of `work status`. Contains only local data. */
export type WorkStatus = ReturnType<typeof workStatus>;

/** Counts the requested issues that the last fetch could not show yet. */
function unconfirmed({ cache, paths, settleMs }: WorkDeps, repo: string, lastFetch: string | null): number {
  const known = new Set(cache(repo).issues.map(({ identity }) => identity));
  const fetchedMs = parseIso(lastFetch ?? '') ?? -Infinity;
  return [...readLedger(paths.ledger, repo)].filter(
    ([key, { number, at }]) =>
      number === null && !known.has(key) && fetchedMs < (parseIso(at) ?? 0) + settleMs,
  ).length;
}
