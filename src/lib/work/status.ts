import type { WorkConfig } from '../config/schema';
import { parseIso, toIso } from '../platform/time/clock';
import { SETUP_STEPS } from './board';
import { waitingCaptures, type Waiting } from './capture/waiting';
import type { WorkDeps } from './deps';
import { readLedger } from './ensure';
import { staleness } from './poll';
import { VERIFY_AFTER_MS, privacyState, type PrivacyState } from './privacy';

/** The response to GET /api/work/status, and the output of `work status`. Contains only local data. */
export interface WorkStatus {
  setupRequired: boolean;
  steps: string[];
  repo: string | null;
  enabled: boolean;
  privacy: {
    state: PrivacyState;
    visibility: string | null;
    verifiedAt: string | null;
    /** When the next verification is due; `null` before the first one. */
    nextVerification: string | null;
  };
  lastFetch: string | null;
  stale: boolean;
  staleReason: string | null;
  issues: { open: number; closed: number };
  /** Number of malformed issues. `issues` doesn't count them. */
  malformed: number;
  /** Number of issues that GitHub may have created since the last fetch. */
  unfinished: number;
  /** Pending captures, grouped by reason. */
  waiting: Waiting[];
  pollIntervalSeconds: number;
  captureNative: boolean;
  captureSweep: boolean;
  /** Whether the matching line of a prompt is captured, or the whole prompt. */
  capturePrompt: WorkConfig['CAPTURE_PROMPT'];
}

export function workStatus(deps: WorkDeps): WorkStatus {
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
      nextVerification: at === undefined ? null : toIso(at + VERIFY_AFTER_MS),
    },
    ...fetched,
    issues: { open, closed: issues.length - open },
    malformed,
    unfinished: repo === undefined ? 0 : unconfirmed(deps, repo, fetched.lastFetch),
    waiting: waitingCaptures(deps.area),
    pollIntervalSeconds: deps.config.POLL_INTERVAL_SECONDS,
    captureNative: deps.config.CAPTURE_NATIVE,
    captureSweep: deps.config.CAPTURE_SWEEP,
    capturePrompt: deps.config.CAPTURE_PROMPT,
  };
}

/** Counts the requested issues that the last fetch could not show yet. */
function unconfirmed({ cache, paths, settleMs }: WorkDeps, repo: string, lastFetch: string | null): number {
  const known = new Set(cache(repo).issues.map(({ identity }) => identity));
  const fetchedMs = parseIso(lastFetch ?? '') ?? -Infinity;
  return [...readLedger(paths.ledger, repo)].filter(
    ([key, { number, at }]) =>
      number === null && !known.has(key) && fetchedMs < (parseIso(at) ?? 0) + settleMs,
  ).length;
}
