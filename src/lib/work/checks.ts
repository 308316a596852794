import type { Config } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import {
  failed,
  failure,
  NOT_CHECKED,
  off,
  ok,
  orFailure,
  warning,
  type Check,
  type Finding,
} from '../platform/check';
import type { Run } from '../platform/process/process';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { localTimes } from '../platform/time/day-words';
import { readCache, readPoll } from './cache';
import type { WorkDeps } from './deps';
import type { Repository } from './host';
import { apiUrl, findCredential, siteOf } from './host/token';
import { lackingLabels, onlyExisting, wantedLabels } from './labels';
import { privacyState, type PrivacyState } from './privacy';
import { skippedWords } from './view-results';

/** What the checks of work are given. */
export interface WorkChecked {
  clock: Clock;
  area: Pick<UserArea, 'work'>;
  run: Run;
  host: { env: NodeJS.ProcessEnv };
  config: Pick<Config, 'workRepo'>;
  /** Hosts beyond this machine may be asked. */
  online: boolean;
  openWork: () => Promise<{ deps: WorkDeps }>;
}

export const WORK_CHECKS: readonly Check<WorkChecked>[] = [
  {
    id: 'work.privacy',
    title: 'that the repository is private',
    needsConfig: true,
    run: whereSetUp(checkPrivacy),
  },
  { id: 'work.token', title: 'the credential', needsConfig: true, run: whereSetUp(checkToken) },
  {
    id: 'work.repository',
    title: 'the repository',
    needsConfig: true,
    limitMs: 40_000,
    run: whereSetUp(checkRepository),
  },
  {
    id: 'work.labels',
    title: 'the labels',
    needsConfig: true,
    limitMs: 40_000,
    run: whereSetUp(checkLabels),
  },
  { id: 'work.board', title: 'how old the board is', needsConfig: true, run: whereSetUp(checkBoard) },
];

const VERIFY = 'steward work verify';
const REFRESH = 'steward work board --refresh';

/** A check of a repository; off where none is set up, or work tracking is off. */
function whereSetUp(check: (at: WorkChecked, repo: string) => Finding[] | Promise<Finding[]>) {
  return (at: WorkChecked): Finding[] | Promise<Finding[]> => {
    const { repo, enabled } = at.config.workRepo;
    if (repo !== undefined && enabled) return check(at, repo);
    return [judgePrivacy(repo === undefined ? 'setup' : 'off', { repo: '', seen: '', visibility: '' })];
  };
}

function checkPrivacy({ config, clock }: WorkChecked, repo: string): Finding[] {
  const { verifiedAt = '', visibility = 'not private' } = config.workRepo.privacy;
  const ms = parseIso(verifiedAt);
  const seen = ms === undefined ? 'never' : localTimes(clock)(toIso(ms));
  return [judgePrivacy(privacyState(config.workRepo, clock.now()), { repo, seen, visibility })];
}

/** By what was written down of it; nobody is asked. */
export function judgePrivacy(
  state: PrivacyState,
  { repo, seen, visibility }: { repo: string; seen: string; visibility: string },
): Finding {
  switch (state) {
    case 'setup':
      return off('no repository is set up', { mend: 'steward work setup OWNER/REPO' });
    case 'off':
      return off('WORK.enabled is false', { mend: 'steward config set WORK.enabled true' });
    case 'public':
      return failed(`${repo} was ${visibility} at ${seen}: nothing is read or sent`, {
        hint: 'Make it private in its settings, then:',
        mend: VERIFY,
      });
    case 'unverified':
      return failed(`nobody has verified that ${repo} is private: nothing is sent`, { mend: VERIFY });
    case 'expired':
      return warning(`${repo} was last seen private at ${seen}; what is captured waits`, { mend: VERIFY });
    case 'due':
    case 'fresh':
      return ok(`${repo} was seen private at ${seen}`);
  }
}

function checkToken(at: WorkChecked): Promise<Finding[]> {
  const { env } = at.host;
  return orFailure(async () => {
    const api = apiUrl(env);
    const { from } = await findCredential({ env, run: at.run }, api);
    return [ok(`for ${new URL(siteOf(api)).hostname}, from ${from}`)];
  }, login(at));
}

async function checkRepository(at: WorkChecked, repo: string): Promise<Finding[]> {
  if (!at.online) return [off(NOT_CHECKED)];
  return asked(at, async () => {
    const host = await (await at.openWork()).deps.host();
    return judgeRepository(await host.repository(repo), at.config.workRepo.privacy.repoId);
  });
}

/** @param repoId the number of the repository that was verified */
export function judgeRepository(found: Repository, repoId: number | undefined): Finding[] {
  const { repo, visibility } = found;
  const checks: [isWrong: boolean, words: string, more: Parameters<typeof failed>[1]][] = [
    [
      visibility !== 'private',
      `${repo} is ${visibility}, and work would be seen there`,
      { hint: 'Make it private in its settings, then:', mend: VERIFY },
    ],
    [
      repoId !== undefined && found.id !== repoId,
      `another repository stands in the place of ${repo} now`,
      { hint: 'If it is the right one:', mend: `steward work setup ${repo}` },
    ],
    [
      found.archived,
      `${repo} is archived: nothing can be written there`,
      { hint: 'Take it out of the archive in its settings.' },
    ],
    [!found.hasIssues, `issues are switched off in ${repo}`, { hint: 'Switch them on in its settings.' }],
    [
      found.canWrite === false,
      `the credential may only read ${repo}`,
      { kind: 'auth', hint: 'Give it the right to write issues there.' },
    ],
  ];
  const findings = checks.flatMap(([isWrong, words, more]) => (isWrong ? [failed(words, more)] : []));
  return findings.length > 0 ? findings : [ok(`${repo} is private, and the credential may write its issues`)];
}

/** With `--online` those that it has; else those that the last poll saw. */
function checkLabels(at: WorkChecked, repo: string): Promise<Finding[]> {
  return asked(at, async () => {
    const { deps } = await at.openWork();
    const wanted = await wantedLabels(deps);
    const found = at.online ? await (await deps.host()).labels(repo, {}) : undefined;
    const kept = found === undefined ? deps.cache(repo).labels?.names : [];
    const names = found?.unchanged === false ? found.value.map(({ name }) => name) : kept;
    if (names === undefined) return [off(NOT_CHECKED)];
    const lacking = lackingLabels(wanted, names).map(({ name }) => name);
    return [judgeLabels(repo, names, lacking, wanted.length)];
  });
}

export function judgeLabels(
  repo: string,
  names: readonly string[],
  missing: readonly string[],
  of: number,
): Finding {
  const mend = 'steward work labels seed';
  try {
    onlyExisting([], names, repo);
  } catch (error) {
    return failure(error, { kind: 'unavailable', mend });
  }
  if (missing.length === 0) return ok(`all ${of} are there`);
  const few = missing.slice(0, 5).join(', ');
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : '';
  return warning(`${repo} lacks ${few}${more}: issues go there without them`, { mend });
}

function checkBoard({ clock, area }: WorkChecked, repo: string): Finding[] {
  const { lastFetch, failure: last } = readPoll(area.work.poll, repo);
  const shown = `read last: ${lastFetch === null ? 'never' : localTimes(clock)(lastFetch)}`;
  if (last !== null) return [warning(`${shown}. ${last.message}`, { hint: last.hint, mend: REFRESH })];
  if (lastFetch === null) return [warning('the issues were never read', { mend: REFRESH })];
  const { malformed } = readCache(area.work.cache, repo);
  if (malformed === 0) return [ok(shown)];
  const hint = 'The service sent them in a form that cannot be right. The next full read looks again.';
  return [warning(`${shown}; ${skippedWords(malformed)}`, { hint })];
}

/** A token of the environment stands over what `gh` keeps: then a login does not help. */
function login({ host }: Pick<WorkChecked, 'host'>): { mend?: string } {
  const isSet = ['GH_TOKEN', 'GITHUB_TOKEN'].some((name) => (host.env[name] ?? '') !== '');
  return isSet ? {} : { mend: 'gh auth login' };
}

/** A finding where nobody answers, or the credential is refused. */
function asked(at: WorkChecked, work: () => Promise<Finding[]>): Promise<Finding[]> {
  return work().catch((error: unknown) => {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    // A repository's own trouble is none of the configuration's.
    return [failure(error, error.kind === 'auth' ? login(at) : { kind: 'unavailable' })];
  });
}
