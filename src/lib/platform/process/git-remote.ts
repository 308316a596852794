import { StewardError } from '../../errors';
import { gitEnvironment, HARMLESS } from './git-process';
import type { Run } from './process';
import { clean } from '../terminal/terminal';

export interface RemoteGitDeps {
  run: Run;
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
}

export interface Remote {
  /** `https://github.com/ann/work.git` */
  url: string;
  /** Value of the Authorization header; it goes to the origin of `url` only. */
  authorization: string;
}

export interface GitAnswer {
  code: number;
  stdout: string;
  /** The first complaint, in git's words; empty where it did well. */
  complaint: string;
  /** The service refuses the credential. */
  isRefused: boolean;
}

/**
 * Runs git in a clone of our own, with one remote that it may talk to. The credential travels in the environment
 * (arguments can be read by other users) and is bound to the origin of the remote; redirects are not followed, and
 * nothing that a repository brings along is executed. Exit codes are answers; a time-out is `unavailable`.
 */
export function remoteGit(
  deps: RemoteGitDeps,
  folder: string,
  remote: Remote,
): (...args: string[]) => Promise<GitAnswer> {
  const { origin, protocol } = new URL(remote.url);
  const settings: [string, string][] = [
    [`http.${origin}/.extraHeader`, `Authorization: ${remote.authorization}`],
  ];
  const env = {
    ...gitEnvironment(folder, deps.env),
    GIT_ALLOW_PROTOCOL: protocol.replace(/:$/, ''),
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
  return async (...args) => {
    const result = await deps.run('git', ['-C', folder, ...HARMLESS, ...OWN, ...args], {
      cwd: folder,
      env,
      timeoutMs: deps.timeoutMs,
    });
    if (result.timedOut) {
      throw new StewardError('unavailable', `git took longer than ${Math.round(deps.timeoutMs / 1000)} s.`, {
        hint: 'Look whether the network and the disk answer, then run it again.',
      });
    }
    return {
      code: result.code ?? 1,
      stdout: result.stdout,
      complaint: complaintOf(result.stderr),
      isRefused: REFUSED.test(result.stderr),
    };
  };
}

/** A service that refuses the credential makes git ask for another one, which nobody here can give. */
const REFUSED =
  /could not read (?:Username|Password)|Authentication failed|cannot (?:exec|run|spawn) '?\S*(?:null|nul)\b/i;

function complaintOf(stderr: string): string {
  if (REFUSED.test(stderr)) return 'the service refuses the credential';
  const said = stderr.split('\n').find((line) => /^(?:fatal|error|remote|!| !)/.test(line));
  return clean(said ?? stderr)
    .slice(0, 200)
    .trim();
}

const OWN = [
  'http.followRedirects=false',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'push.gpgSign=false',
  'init.templateDir=',
  'core.symlinks=false',
  'core.autocrlf=false',
  'user.name=steward',
  'user.email=steward@localhost',
].flatMap((setting) => ['-c', setting]);
