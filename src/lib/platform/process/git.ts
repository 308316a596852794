import { devNull } from 'node:os';
import { dirname, parse } from 'node:path';

import { StewardError } from '../../errors';
import { clean } from '../terminal/terminal';
import type { Run } from './process';

export interface GitOptions {
  input?: string;
  /** Exit codes that are no failure. */
  accept?: number[];
  /** A failure, or more output than is read, is an empty answer; only a timeout throws. */
  orEmpty?: boolean;
}

/** Runs git in one repository and gives its standard output. */
export type Git = (args: readonly string[], options?: GitOptions) => Promise<string>;

export interface GitDeps {
  run: Run;
  /** Each process is killed after this many milliseconds. */
  timeoutMs: () => number;
  /** Called when a process took longer than that. */
  onTimeout?: () => void;
  /** The environment to start from; this process's own by default. */
  env?: NodeJS.ProcessEnv;
}

/** More than any answer that is asked for. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/**
 * Git for a repository that is not trusted: whatever its configuration names to be executed
 * is overridden, nothing is fetched, asked or locked, no inherited variable points it elsewhere, and only the
 * repository at `root` itself answers, never one around it. Only for commands that read.
 * Throws `not_found` (no git on this machine) or `unavailable`, with the repository's trouble in plain words.
 */
export function gitIn(deps: GitDeps, root: string): Git {
  const env = gitEnvironment(root, deps.env ?? process.env);
  return async (args, options = {}) => {
    const timeoutMs = deps.timeoutMs();
    const running = deps.run('git', ['-C', root, ...HARMLESS, ...args], {
      // The current folder may be gone, and git would fail there before it reads -C.
      cwd: parse(root).root,
      env,
      timeoutMs,
      maxBytes: MAX_OUTPUT_BYTES,
      ...(options.input === undefined ? {} : { input: options.input }),
    });
    const result = await (options.orEmpty === true ? running.catch(ifUnavailable) : running);
    if (result === undefined) return '';
    if (result.timedOut || result.truncated) {
      deps.onTimeout?.();
      throw new StewardError('unavailable', `git took longer than ${Math.round(timeoutMs / 100) / 10} s`, {
        hint: 'Check its disk, or run "git gc" in it.',
      });
    }
    if (options.orEmpty === true && result.code !== 0) return '';
    if (result.code !== 0 && !(result.code !== null && options.accept?.includes(result.code) === true)) {
      throw troubleOf(result.stderr, root);
    }
    return result.stdout;
  };
}

function ifUnavailable(error: unknown): undefined {
  if (!(error instanceof StewardError) || error.kind !== 'unavailable') throw error;
}

/** Variables of the user's own that say where git's configuration lies; a repository cannot set them. */
const KEPT = new Set(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']);

/** The environment of a git that asks, fetches and executes nothing, and answers for `root` only. */
export function gitEnvironment(root: string, from: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(from)) {
    const upper = name.toUpperCase();
    if (!upper.startsWith('GIT_') || KEPT.has(upper)) env[name] = value;
  }
  return {
    ...env,
    LC_ALL: 'C',
    LANGUAGE: 'C',
    GIT_CEILING_DIRECTORIES: dirname(root),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: devNull,
    SSH_ASKPASS: devNull,
    // A promisor remote: new git does not fetch; old git tries, and no transport is allowed. The variable
    // wins over a `protocol.NAME.allow` of the repository, which the setting below would not.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_PAGER: 'cat',
    GIT_EDITOR: devNull,
    GIT_SSH_COMMAND: devNull,
  };
}

/** Settings over whatever a repository's own configuration would have executed. */
export const HARMLESS: readonly string[] = [
  '--no-pager',
  '--no-optional-locks',
  '--literal-pathspecs',
  ...[
    'core.fsmonitor=false',
    `core.hooksPath=${devNull}`,
    'core.pager=cat',
    'pager.log=false',
    'pager.config=false',
    'core.alternateRefsCommand=',
    `core.sshCommand=${devNull}`,
    `core.gitProxy=${devNull}`,
    'core.askPass=',
    `core.editor=${devNull}`,
    `core.attributesFile=${devNull}`,
    `core.excludesFile=${devNull}`,
    'credential.helper=',
    'diff.external=',
    'protocol.allow=never',
    'log.showSignature=false',
    'log.mailmap=false',
    'log.follow=false',
    `gpg.program=${devNull}`,
    `gpg.openpgp.program=${devNull}`,
    `gpg.x509.program=${devNull}`,
    `gpg.ssh.program=${devNull}`,
    'gpg.ssh.defaultKeyCommand=',
    'gc.auto=0',
    'maintenance.auto=false',
    'advice.graftFileDeprecated=false',
    // The user chose this repository by its path; a bare one is what was asked for.
    'safe.bareRepository=all',
    'i18n.logOutputEncoding=UTF-8',
  ].flatMap((setting) => ['-c', setting]),
];

function troubleOf(stderr: string, root: string): StewardError {
  const said = clean(
    stderr.split('\n').find((line) => /^(?:fatal|error):/.test(line)) ?? stderr.slice(0, 400),
  ).slice(0, 200);
  if (/dubious ownership|unsafe repository/.test(stderr)) {
    return new StewardError('unavailable', 'it belongs to another user, so git refuses to read it', {
      hint: `If you trust it: git config --global --add safe.directory "${root}"`,
    });
  }
  if (/not a git repository/i.test(stderr)) {
    return new StewardError('unavailable', 'it is not a git repository', {
      hint: 'Correct sense.repos, or restore the repository.',
    });
  }
  if (/bad config|bad (?:numeric|boolean) config|config file|unknown repository extension/i.test(stderr)) {
    return new StewardError('unavailable', `git rejects its configuration (${said})`, {
      hint: 'Correct the file that git names.',
    });
  }
  return new StewardError('unavailable', `it looks damaged (${said === '' ? 'git failed' : said})`, {
    hint: 'Run "git fsck" in it.',
  });
}

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
        hint: 'Check the network and the disk, then run the command again.',
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
  if (REFUSED.test(stderr)) return 'the server rejected the credential';
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
