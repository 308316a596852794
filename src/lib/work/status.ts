import type { WorkConfig } from '../config/schema';
import { parseIso, toIso } from '../platform/time/clock';
import { SETUP_STEPS } from './board';
import { waitingCaptures, type Waiting } from './capture/waiting';
import type { WorkDeps } from './deps';
import { readLedger } from './ensure';
import { staleness } from './poll';
import { privacyState, type PrivacyState } from './privacy';

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
  /** Number of issues whose creation GitHub has not confirmed. */
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
  const entries = repo === undefined ? [] : [...readLedger(deps.paths.ledger, repo).values()];
  const at = parseIso(privacy.verifiedAt ?? '');
  return {
    setupRequired: repo === undefined,
    steps: repo === undefined ? [...SETUP_STEPS] : [],
    repo: repo ?? null,
    enabled: config.enabled,
    privacy: {
      state: privacyState(config, deps.clock.now()),
      visibility: privacy.visibility ?? null,
      verifiedAt: privacy.verifiedAt ?? null,
      nextVerification: at === undefined ? null : toIso(at + (privacy.ttlHours / 2) * 3_600_000),
    },
    ...staleness(deps, config),
    issues: { open, closed: issues.length - open },
    malformed,
    unfinished: entries.filter(({ number }) => number === null).length,
    waiting: waitingCaptures(deps.area),
    pollIntervalSeconds: deps.config.POLL_INTERVAL_SECONDS,
    captureNative: deps.config.CAPTURE_NATIVE,
    captureSweep: deps.config.CAPTURE_SWEEP,
    capturePrompt: deps.config.CAPTURE_PROMPT,
  };
}
