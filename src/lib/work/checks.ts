import { StewardError } from '../errors';
import { toIso, parseIso } from '../platform/time/clock';
import { lackingLabels, onlyExisting, wantedLabels, type WantedLabelsDeps } from './labels';
import { findCredential, apiUrl, siteOf } from './host/token';
import { readCache, readPoll, type cacheReader } from './cache';
import { privacyState, type PrivacyState } from './privacy';
import type { Host, Repository } from './host';
import { skippedWords } from './view-results';
import { localTimes } from '../platform/time/local-times';
import type { Config } from '../config/schema';
import type { UserArea } from '../config/user-area';
import {
  failed,
  failure,
  NOT_ASKED,
  off,
  ok,
  orFailure,
  warning,
  type Check,
  type Finding,
} from '../platform/check';
import type { Run } from '../platform/process/process';
import type { Clock } from '../platform/time/clock';

/** What the checks of work are given. */
export interface WorkChecked {
  clock: Clock;
  area: Pick<UserArea, 'work'>;
  run: Run;
  host: { env: NodeJS.ProcessEnv };
  config: Pick<Config, 'workRepo'>;
  /** Hosts beyond this machine may be asked. */
  online: boolean;
  openWork: () => Promise<{
    deps: WantedLabelsDeps & { host: () => Promise<Host>; cache: ReturnType<typeof cacheReader> };
  }>;
}

export const WORK_CHECKS: readonly Check<WorkChecked>[] = [
  {
    id: 'work.privacy',
    title: 'that the repository is private',
    needsConfig: true,
    run: checkPrivacy,
  },
  { id: 'work.token', title: 'the credential', needsConfig: true, run: checkToken },
  {
    id: 'work.repository',
    title: 'the repository',
    needsConfig: true,
    limitMs: 40_000,
    run: checkRepository,
  },
  {
    id: 'work.labels',
    title: 'the labels',
    needsConfig: true,
    limitMs: 40_000,
    run: checkLabels,
  },
  { id: 'work.board', title: 'how old the board is', needsConfig: true, run: checkBoard },
];

const NOT_SET_UP = off('no repository is set up', { mend: 'steward work setup OWNER/REPO' });
const VERIFY = 'steward work verify';

/** Why nothing is looked at, if so. */
function whyOff({ config }: WorkChecked): Finding | undefined {
  if (config.workRepo.repo === undefined) return NOT_SET_UP;
  return config.workRepo.enabled
    ? undefined
    : off('WORK.enabled is false', { mend: 'steward config set WORK.enabled true' });
}

function checkPrivacy(at: WorkChecked): Finding[] {
  const { repo = '', privacy } = at.config.workRepo;
  const ms = parseIso(privacy.verifiedAt ?? '');
  const seen = ms === undefined ? 'never' : localTimes(at.clock)(toIso(ms));
  const state = privacyState(at.config.workRepo, at.clock.now());
  return [whyOff(at) ?? judgePrivacy(state, { repo, seen, visibility: privacy.visibility ?? 'not private' })];
}

/** By what was written down of it; nobody is asked. */
export function judgePrivacy(
  state: PrivacyState,
  { repo, seen, visibility }: { repo: string; seen: string; visibility: string },
): Finding {
  switch (state) {
    case 'setup':
      return NOT_SET_UP;
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

async function checkToken(at: WorkChecked): Promise<Finding[]> {
  const none = whyOff(at);
  if (none !== undefined) return [none];
  const { env } = at.host;
  return orFailure(async () => {
    const api = apiUrl(env);
    const { from } = await findCredential({ env, run: at.run }, api);
    return [ok(`for ${new URL(siteOf(api)).hostname}, from ${from}`)];
  }, login(at));
}

async function checkRepository(at: WorkChecked): Promise<Finding[]> {
  const none = whyOff(at);
  if (none !== undefined) return [none];
  if (!at.online) return [off(NOT_ASKED)];
  const repo = at.config.workRepo.repo ?? '';
  return asked(at, async () => {
    const { deps } = await at.openWork();
    return judgeRepository(await (await deps.host()).repository(repo), at.config.workRepo.privacy.repoId);
  });
}

/** @param repoId the number of the repository that was verified */
export function judgeRepository(found: Repository, repoId: number | undefined): Finding[] {
  const { repo } = found;
  const findings: Finding[] = [];
  if (found.visibility !== 'private') {
    findings.push(
      failed(`${repo} is ${found.visibility}, and work would be seen there`, {
        hint: 'Make it private in its settings, then:',
        mend: VERIFY,
      }),
    );
  }
  if (repoId !== undefined && found.id !== repoId) {
    findings.push(
      failed(`another repository stands in the place of ${repo} now`, {
        hint: 'If it is the right one:',
        mend: `steward work setup ${repo}`,
      }),
    );
  }
  if (found.archived)
    findings.push(
      failed(`${repo} is archived: nothing can be written there`, {
        hint: 'Take it out of the archive in its settings.',
      }),
    );
  if (!found.hasIssues)
    findings.push(failed(`issues are switched off in ${repo}`, { hint: 'Switch them on in its settings.' }));
  if (found.canWrite === false) {
    findings.push(
      failed(`the credential may only read ${repo}`, {
        kind: 'auth',
        hint: 'Give it the right to write issues there.',
      }),
    );
  }
  return findings.length > 0 ? findings : [ok(`${repo} is private, and the credential may write its issues`)];
}

/** With `--online` those that it has; else those that the last poll saw. */
async function checkLabels(at: WorkChecked): Promise<Finding[]> {
  const none = whyOff(at);
  if (none !== undefined) return [none];
  const repo = at.config.workRepo.repo ?? '';
  return asked(at, async () => {
    const { deps } = await at.openWork();
    const wanted = await wantedLabels(deps);
    const names = at.online ? await labelsOf(await deps.host(), repo) : deps.cache(repo).labels?.names;
    if (names === undefined) return [off(NOT_ASKED)];
    const lacking = lackingLabels(wanted, names).map(({ name }) => name);
    return [judgeLabels(repo, names, lacking, wanted.length)];
  });
}

async function labelsOf(host: Host, repo: string): Promise<string[]> {
  const found = await host.labels(repo, {});
  return found.unchanged ? [] : found.value.map(({ name }) => name);
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

function checkBoard(at: WorkChecked): Finding[] {
  const none = whyOff(at);
  if (none !== undefined) return [none];
  const { clock, area } = at;
  const { lastFetch, failure: last } = readPoll(area.work.poll, at.config.workRepo.repo ?? '');
  const shown = lastFetch === null ? 'never' : localTimes(clock)(lastFetch);
  if (last !== null) {
    return [
      warning(`read last: ${shown}. ${last.message}`, {
        hint: last.hint,
        mend: 'steward work board --refresh',
      }),
    ];
  }
  if (lastFetch === null)
    return [warning('the issues were never read', { mend: 'steward work board --refresh' })];
  const { malformed } = readCache(area.work.cache, at.config.workRepo.repo ?? '');
  if (malformed === 0) return [ok(`read last: ${shown}`)];
  return [
    warning(`read last: ${shown}; ${skippedWords(malformed)}`, {
      hint: 'The service sent them in a form that cannot be right. The next full read looks again.',
    }),
  ];
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
