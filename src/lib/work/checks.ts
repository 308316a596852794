import type { Config } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import type { CheckedHost } from '../platform/check';
import {
  failed,
  failure,
  NOT_CHECKED,
  off,
  ok,
  orFailure,
  warning,
  worstOf,
  type Check,
  type Finding,
} from '../platform/check';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { localTimes } from '../platform/time/day-words';
import { readCache, readPoll } from './cache';
import type { WorkDeps } from './deps';
import type { Repository } from './host/github-read';
import { apiUrl, findCredential, siteOf } from './host/token';
import { existingLabels, lackingLabels, wantedLabels } from './labels';
import { waitingText } from './capture/waiting';
import { privacyState, type PrivacyState } from './privacy';
import type { WorkStatus } from './status';
import { malformedText } from './view-results';

export interface WorkChecked extends Pick<CheckedHost, 'clock' | 'run' | 'online'> {
  area: Pick<UserArea, 'work'>;
  host: { env: NodeJS.ProcessEnv };
  config: Pick<Config, 'workRepo'>;
  openWork: () => Promise<{ deps: WorkDeps }>;
}

export const WORK_CHECKS: readonly Check<WorkChecked>[] = [
  row('work.privacy', 'work repository privacy', checkPrivacy),
  { ...row('work.token', 'GitHub credential', checkToken), notInDemo: true },
  row('work.repository', 'work repository', checkRepository),
  { ...row('work.labels', 'labels', checkLabels), notInDemo: true },
  row('work.board', 'cached issues', checkBoard),
];

const VERIFY = 'steward work verify';
const REFRESH = 'steward work board --refresh';
const MAKE_PRIVATE = { hint: 'Make the repository private, then run:', fix: VERIFY };

/** Returns a repository check. Before setup or while work tracking is off, the check reports `off`. */
function row(
  id: string,
  title: string,
  check: (at: WorkChecked, repo: string) => Finding[] | Promise<Finding[]>,
): Check<WorkChecked> {
  const run = (at: WorkChecked): Finding[] | Promise<Finding[]> => {
    const { repo, enabled } = at.config.workRepo;
    if (repo !== undefined && enabled) return check(at, repo);
    return [judgePrivacy(repo === undefined ? 'setup' : 'off', { repo: '', verified: '', visibility: '' })];
  };
  return { id, title, needsConfig: true, run };
}

function checkPrivacy({ config, clock }: WorkChecked, repo: string): Finding[] {
  const state = privacyState(config.workRepo, clock.now());
  return [privacyFinding({ ...config.workRepo.privacy, state }, repo, clock)];
}

function privacyFinding({ state, verifiedAt, visibility }: Privacy, repo: string, clock: Clock): Finding {
  const ms = parseIso(verifiedAt ?? '');
  const verified = ms === undefined ? 'never' : localTimes(clock)(toIso(ms));
  return judgePrivacy(state, { repo, verified, visibility: visibility ?? 'not private' });
}

interface Privacy {
  state: PrivacyState;
  verifiedAt?: string | null | undefined;
  visibility?: string | null | undefined;
}

/** Returns whether work tracking works, as far as local files tell. */
export function workFinding(status: WorkStatus, clock: Clock): Finding {
  const { privacy, repo, waiting, stale, staleReason } = status;
  const isPrivate = privacyFinding(privacy, repo ?? '', clock);
  if (isPrivate.state === 'off') return isPrivate;
  const blocked = waiting.flatMap((queue) =>
    queue.fix === null ? [] : [warning(waitingText(queue), { fix: queue.fix })],
  );
  const read = stale ? [warning(staleReason ?? 'stale', { fix: REFRESH })] : [];
  return worstOf([isPrivate, ...blocked, ...read]);
}

export function judgePrivacy(
  state: PrivacyState,
  { repo, verified, visibility }: { repo: string; verified: string; visibility: string },
): Finding {
  const isPrivate = ok(`${repo} is private (verified ${verified})`);
  const findings: Record<PrivacyState, Finding> = {
    setup: off('not set up', { fix: 'steward work setup OWNER/REPO' }),
    off: off('WORK.enabled is false', { fix: 'steward config set WORK.enabled true' }),
    public: failed(
      `${repo} is ${visibility} (verified ${verified}), so nothing is read or sent`,
      MAKE_PRIVATE,
    ),
    unverified: failed(`${repo} has not been verified as private, so nothing is sent`, { fix: VERIFY }),
    expired: warning(
      `the verification of ${repo} has expired (last verified ${verified}); captures stay queued`,
      { fix: VERIFY },
    ),
    due: isPrivate,
    fresh: isPrivate,
  };
  return findings[state];
}

function checkToken(at: WorkChecked): Promise<Finding[]> {
  const { env } = at.host;
  return orFailure(async () => {
    const api = apiUrl(env);
    const { from } = await findCredential({ env, run: at.run }, api);
    return [ok(`${new URL(siteOf(api)).hostname} token from ${from}`)];
  }, login(at));
}

async function checkRepository(at: WorkChecked, repo: string): Promise<Finding[]> {
  if (!at.online) return [off(NOT_CHECKED)];
  return asked(at, async () => {
    const host = await (await at.openWork()).deps.host();
    return judgeRepository(await host.repository(repo), at.config.workRepo.privacy.repoId);
  });
}

/** @param repoId The id of the verified repository. */
export function judgeRepository(found: Repository, repoId: number | undefined): Finding[] {
  const { repo, visibility, archived, hasIssues, canWrite } = found;
  const findings: Finding[] = [];
  if (visibility !== 'private')
    findings.push(failed(`${repo} is ${visibility}; work tracking needs a private repository`, MAKE_PRIVATE));
  if (repoId !== undefined && found.id !== repoId) {
    const more = { hint: 'To use the new repository, run:', fix: `steward work setup ${repo}` };
    findings.push(failed(`${repo} now refers to a different repository`, more));
  }
  if (archived)
    findings.push(failed(`${repo} is archived and read-only`, { hint: 'Unarchive the repository.' }));
  if (!hasIssues)
    findings.push(
      failed(`issues are disabled in ${repo}`, { hint: 'Enable issues in the repository settings.' }),
    );
  if (canWrite === false) {
    const hint = 'Grant the credential write access to issues.';
    findings.push(failed(`the credential has read-only access to ${repo}`, { kind: 'auth', hint }));
  }
  return findings.length > 0
    ? findings
    : [ok(`${repo} is private, and the credential has write access to its issues`)];
}

/** Checks which labels the repository lacks. Offline, uses the labels in the cache. */
function checkLabels(at: WorkChecked, repo: string): Promise<Finding[]> {
  return asked(at, async () => {
    const { deps } = await at.openWork();
    const wanted = await wantedLabels(deps);
    const found = at.online ? await (await deps.host()).labels(repo, {}) : undefined;
    const names =
      found?.unchanged === false ? found.value.map(({ name }) => name) : deps.cache(repo).labels?.names;
    if (names === undefined) return [off(NOT_CHECKED)];
    const lacking = lackingLabels(wanted, names).map(({ name }) => name);
    return [judgeLabels(repo, names, lacking, wanted.length)];
  });
}

export function judgeLabels(repo: string, names: readonly string[], missing: readonly string[], of: number) {
  const fix = 'steward work labels seed';
  try {
    existingLabels([], names, repo);
  } catch (error) {
    return failure(error, { kind: 'unavailable', fix });
  }
  if (missing.length === 0) return ok(`all ${of} labels exist`);
  const few = missing.slice(0, 5).join(', ');
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : '';
  return warning(`labels missing in ${repo}: ${few}${more}; issues are created without them`, { fix });
}

function checkBoard({ clock, area }: WorkChecked, repo: string): Finding[] {
  const { lastFetch, failure: last } = readPoll(area.work.poll, repo);
  const fetched = `last fetched: ${lastFetch === null ? 'never' : localTimes(clock)(lastFetch)}`;
  if (last !== null) return [warning(`${fetched}. ${last.message}`, { hint: last.hint, fix: REFRESH })];
  if (lastFetch === null) return [warning('the issues have never been fetched', { fix: REFRESH })];
  const { malformed } = readCache(area.work.cache, repo);
  if (malformed === 0) return [ok(fetched)];
  const hint = 'GitHub sent invalid data for these issues. The next full fetch requests them again.';
  return [warning(`${fetched}; ${malformedText(malformed)}`, { hint })];
}

/** Suggests a login only if the environment has no token, because a token takes precedence over `gh`. */
function login({ host }: Pick<WorkChecked, 'host'>): { fix?: string } {
  const isSet = ['GH_TOKEN', 'GITHUB_TOKEN'].some((name) => (host.env[name] ?? '') !== '');
  return isSet ? {} : { fix: 'gh auth login' };
}

/** Runs a check that contacts GitHub. Converts errors to findings. */
async function asked(at: WorkChecked, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    return [failure(error, error.kind === 'auth' ? login(at) : { kind: 'unavailable' })];
  }
}
