import type { WorkRepoConfig } from '../config/schema';
import { StewardError, toStewardError } from '../errors';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Attestation, Open, WorkDeps } from './deps';
import type { Repository } from './host';
import type { HostFailure } from './host/failure';

/**
 * What may be done with the repository.
 *
 * - setup: none is named yet
 * - off: switched off by hand (`enabled: false`)
 * - public: it was seen not to be private; everything is off
 * - unverified: named, but never verified, or another one was
 * - fresh: seen private within half of the time to live
 * - due: seen private, and to be looked at again
 * - expired: too long ago, or at a time that has not come yet
 */
export type PrivacyState = 'setup' | 'off' | 'public' | 'unverified' | 'fresh' | 'due' | 'expired';

const HOUR_MS = 3_600_000;
/** Clocks of machines that share a user area differ by so much. */
const AHEAD_MS = 5 * 60_000;

export function privacyState(config: WorkRepoConfig, nowMs: number): PrivacyState {
  if (config.repo === undefined) return 'setup';
  if (!config.enabled) return 'off';
  const { verifiedPrivate, visibility, verifiedAt, ttlHours, repo } = config.privacy;
  if (repo !== undefined && !sameRepo(repo, config.repo)) return 'unverified';
  if (!verifiedPrivate) return visibility === undefined || visibility === 'private' ? 'unverified' : 'public';
  const at = parseIso(verifiedAt ?? '');
  if (at === undefined) return 'unverified';
  const age = nowMs - at;
  if (age < -AHEAD_MS || age >= ttlHours * HOUR_MS) return 'expired';
  return age < (ttlHours / 2) * HOUR_MS ? 'fresh' : 'due';
}

function stateNow({ workRepo, clock }: Pick<WorkDeps, 'workRepo' | 'clock'>): PrivacyState {
  return privacyState(workRepo(), clock.now());
}

export function sameRepo(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** The repository's name; before setup, and where it is switched off, `config`. */
export function repoOf(config: WorkRepoConfig): string {
  if (config.repo === undefined) throw notSetUp();
  if (config.enabled) return config.repo;
  throw new StewardError('config', 'Work tracking is switched off.', {
    hint: 'Run `steward config set WORK.enabled true`.',
  });
}

export function notSetUp(): StewardError {
  return new StewardError('config', 'Work tracking is not set up yet.', {
    hint: 'Run `steward work setup OWNER/REPO` with a private repository of yours; --create makes it.',
  });
}

type PrivacyDeps = Pick<WorkDeps, 'clock' | 'workRepo' | 'host' | 'attest'>;

/**
 * Asks the service whether the repository is private, and writes down what it says. Anything but exactly
 * private, or another repository in its place, is `conflict`, and from then on everything is off.
 *
 * @param seen what the service said a moment ago, where it was asked already
 */
export async function verify(deps: PrivacyDeps, seen?: Repository): Promise<Repository> {
  const config = deps.workRepo();
  const repo = repoOf(config);
  const found = seen ?? (await (await deps.host()).repository(repo));
  const { repoId, repo: attested } = config.privacy;
  if (repoId !== undefined && attested !== undefined && sameRepo(attested, repo) && repoId !== found.id) {
    await deps.attest({ ...attestation(deps.clock, found, repo), verifiedPrivate: false, repoId });
    throw new StewardError('conflict', `Another repository stands in the place of ${repo} now.`, {
      hint: `Look at it, then run \`steward work setup ${repo}\` if it is the right one.`,
    });
  }
  await deps.attest(attestation(deps.clock, found, repo));
  refusePublic(found);
  return found;
}

export function refusePublic(found: Repository): void {
  if (found.visibility === 'private') return;
  throw new StewardError('conflict', `${found.repo} is ${found.visibility}, and work would be seen there.`, {
    hint: 'Make it private in its settings and run `steward work verify`, or set up another one. Until then nothing is sent.',
  });
}

export function attestation(clock: Clock, { visibility, id }: Repository, repo: string): Attestation {
  return {
    verifiedPrivate: visibility === 'private',
    visibility,
    verifiedAt: toIso(clock.now()),
    repo,
    repoId: id,
  };
}

/**
 * Before a write, or a batch of them: the repository is looked at, and is exactly private, the attested one, and
 * takes issues.
 */
export async function openForWriting(deps: WorkDeps): Promise<Open> {
  const repo = repoOf(deps.workRepo());
  const state = stateNow(deps);
  const host = await deps.host();
  const found = await host.repository(repo);
  const isSame = found.visibility === 'private' && found.id === deps.workRepo().privacy.repoId;
  if (state !== 'fresh' || !isSame) await verify(deps, found);
  refuseUnusable(found);
  return { deps, host, repo };
}

export function refuseUnusable(found: Repository): void {
  if (found.archived) {
    throw new StewardError('conflict', `${found.repo} is archived: nothing can be written there.`, {
      hint: 'Take it out of the archive in its settings, or set up another one.',
    });
  }
  if (!found.hasIssues) {
    throw new StewardError('conflict', `Issues are switched off in ${found.repo}.`, {
      hint: 'Switch them on in its settings.',
    });
  }
  if (found.canWrite === false) {
    throw new StewardError('auth', `This credential may only read ${found.repo}.`, {
      hint: 'Give it the right to write issues there.',
      cause: { reason: 'forbidden', status: null, retryAfterSec: null } satisfies HostFailure,
    });
  }
}

/** What becomes of a capture: sent, kept in the spool, or dropped. `error`: why the privacy could not be verified. */
export interface Gate {
  gate: 'send' | 'spool' | 'drop';
  error?: StewardError;
}

/**
 * Decides what becomes of a capture. It is dropped only where the repository was seen not to be private, or work
 * tracking is off; as long as nobody can say whether it is private, nothing is sent and nothing is lost.
 */
export async function captureGate(deps: PrivacyDeps): Promise<Gate> {
  const before = stateNow(deps);
  if (before === 'setup' || before === 'off' || before === 'public') return { gate: 'drop' };
  if (before === 'unverified') return { gate: 'spool' };
  if (before === 'fresh') return { gate: 'send' };
  try {
    await verify(deps);
    return { gate: 'send' };
  } catch (error) {
    const after = stateNow(deps);
    if (after === 'public') return { gate: 'drop' };
    if (after === 'unverified') return { gate: 'spool' };
    return before === 'due' ? { gate: 'send' } : { gate: 'spool', error: toStewardError(error) };
  }
}
