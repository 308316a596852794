import type { WorkRepoConfig } from '../config/schema';
import { StewardError, toStewardError } from '../errors';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import type { Attestation, OpenRepo, WorkDeps } from './deps';
import type { Repository } from './host/github-read';
import type { HostFailure } from './host/failure';
import type { HostIssue } from './issue';

/**
 * Whether work may be sent to the repository:
 *
 * - setup: no repository is configured
 * - off: work tracking is switched off (`enabled: false`)
 * - public: the repository was not private when last verified, so work tracking stops
 * - unverified: never verified, or a different repository was verified
 * - fresh: verified within half the time to live
 * - due: verified, but due for another verification
 * - expired: verified too long ago, or at a time in the future
 */
export type PrivacyState = 'setup' | 'off' | 'public' | 'unverified' | 'fresh' | 'due' | 'expired';

/** A verification is repeated after this time, and is void after twice as much. */
export const VERIFY_AFTER_MS = 12 * 3_600_000;
/** Allowed clock difference between machines that share a user area. */
const CLOCK_SKEW_MS = 5 * 60_000;

export function privacyState(config: WorkRepoConfig, nowMs: number): PrivacyState {
  if (config.repo === undefined) return 'setup';
  if (!config.enabled) return 'off';
  const { verifiedPrivate, visibility, verifiedAt, repo } = config.privacy;
  if (repo !== undefined && !sameRepo(repo, config.repo)) return 'unverified';
  if (!verifiedPrivate) return visibility === undefined || visibility === 'private' ? 'unverified' : 'public';
  const at = parseIso(verifiedAt ?? '');
  if (at === undefined) return 'unverified';
  const age = nowMs - at;
  if (age < -CLOCK_SKEW_MS || age >= 2 * VERIFY_AFTER_MS) return 'expired';
  return age < VERIFY_AFTER_MS ? 'fresh' : 'due';
}

export function currentPrivacy({ workRepo, clock }: Pick<WorkDeps, 'workRepo' | 'clock'>): PrivacyState {
  return privacyState(workRepo(), clock.now());
}

export function sameRepo(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Returns the configured repository. Throws `config` before setup, or if work tracking is off. */
export function repoOf(config: WorkRepoConfig): string {
  if (config.repo === undefined) throw notSetUp();
  if (config.enabled) return config.repo;
  throw new StewardError('config', 'Work tracking is off (WORK.enabled is false).', {
    hint: 'Run `steward config set WORK.enabled true`.',
  });
}

export function conflict(message: string, hint: string): StewardError {
  return new StewardError('conflict', message, { hint });
}

export function refuseClosed({ number, state }: Pick<HostIssue, 'number' | 'state'>, hint: string): void {
  if (state === 'closed') throw conflict(`#${number} is closed.`, hint);
}

export function notSetUp(): StewardError {
  return new StewardError('config', 'Work tracking is not set up.', {
    hint: 'Run `steward work setup OWNER/REPO`. Add --create to create the repository.',
  });
}

type PrivacyDeps = Pick<WorkDeps, 'clock' | 'workRepo' | 'host' | 'attest'>;

/**
 * Verifies that the repository is private and has not been replaced, and stores the result. If verification
 * fails, throws `conflict` and stops work tracking.
 * @param known The service's response, if the caller already has it.
 */
export async function verify(deps: PrivacyDeps, known?: Repository): Promise<Repository> {
  const config = deps.workRepo();
  const repo = repoOf(config);
  const found = known ?? (await (await deps.host()).repository(repo));
  const { repoId, repo: attested } = config.privacy;
  if (repoId !== undefined && attested !== undefined && sameRepo(attested, repo) && repoId !== found.id) {
    await deps.attest({ ...attestation(deps.clock, found, repo), verifiedPrivate: false, repoId });
    const hint = `To use the new repository, run \`steward work setup ${repo}\`.`;
    throw conflict(`${repo} now refers to a different repository.`, hint);
  }
  await deps.attest(attestation(deps.clock, found, repo));
  refusePublic(found);
  return found;
}

export function refusePublic(found: Repository): void {
  if (found.visibility === 'private') return;
  throw conflict(
    `${found.repo} is ${found.visibility}; work tracking needs a private repository.`,
    'Make it private, then run `steward work verify`. Nothing is sent until then.',
  );
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
 * Opens the repository for writing. Verifies that it is private, has not been replaced and accepts issues.
 */
export async function openForWriting(deps: WorkDeps): Promise<OpenRepo> {
  const repo = repoOf(deps.workRepo());
  const state = currentPrivacy(deps);
  const host = await deps.host();
  const found = await host.repository(repo);
  const isSame = found.visibility === 'private' && found.id === deps.workRepo().privacy.repoId;
  if (state !== 'fresh' || !isSame) await verify(deps, found);
  refuseReadOnly(found);
  return { deps, host, repo };
}

export function refuseReadOnly({ repo, archived, hasIssues, canWrite }: Repository): void {
  if (archived)
    throw conflict(`${repo} is archived and read-only.`, 'Unarchive it, or set up another repository.');
  if (!hasIssues)
    throw conflict(`Issues are disabled in ${repo}.`, 'Enable issues in the repository settings.');
  if (canWrite === false) {
    throw new StewardError('auth', `The credential has read-only access to ${repo}.`, {
      hint: 'Grant the credential write access to issues.',
      cause: { reason: 'forbidden', status: null, retryAfterSec: null } satisfies HostFailure,
    });
  }
}

/**
 * Decides what to do with a capture. Drops a capture only if work tracking is off or the repository is not
 * private.
 */
export async function captureGate(deps: PrivacyDeps) {
  const before = currentPrivacy(deps);
  if (before === 'setup' || before === 'off' || before === 'public') return { gate: 'drop' };
  if (before === 'unverified') return { gate: 'spool' };
  if (before === 'fresh') return { gate: 'send' };
  try {
    await verify(deps);
    return { gate: 'send' };
  } catch (error) {
    const after = currentPrivacy(deps);
    if (after === 'public') return { gate: 'drop' };
    if (after === 'unverified') return { gate: 'spool' };
    return before === 'due' ? { gate: 'send' } : { gate: 'spool', error: toStewardError(error) };
  }
}
