import { devNull } from 'node:os';
import { dirname, join, parse } from 'node:path';

import DATA from '../../../../templates/data/git-settings.json';
import { StewardError, undefinedIf } from '../../errors';
import { ensureFolder, exists, removeFolder } from '../files/folder';
import { filled } from '../files/template';
import { clean } from '../terminal/terminal';
import type { Run, RunOptions } from './process';

interface GitOptions {
  input?: string;
  /** Exit codes that count as success. */
  accept?: number[];
  /** Whether to return '' if git fails or its output exceeds the limit. A timeout still throws. */
  orEmpty?: boolean;
}

/** Runs git in a repository and returns its stdout. */
export type Git = (args: readonly string[], options?: GitOptions) => Promise<string>;

interface GitDeps {
  run: Run;
  /** Returns the timeout for each git process, in ms. */
  timeoutMs: () => number;
  onTimeout?: () => void;
  /** Environment for git. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
}

/** Output limit in bytes, larger than any expected output. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/**
 * Returns a function that runs git on an untrusted repository. Git executes nothing from the repository's
 * configuration, and never fetches, prompts or locks.
 */
export function gitIn(deps: GitDeps, root: string): Git {
  const env = gitEnvironment(root, deps.env ?? process.env);
  return async (args, options = {}) => {
    const timeoutMs = deps.timeoutMs();
    const running = deps.run('git', ['-C', root, ...HARMLESS, ...NO_CREDENTIALS, ...args], {
      // Even with -C, git fails if its current folder has been deleted.
      cwd: parse(root).root,
      env,
      timeoutMs,
      maxBytes: MAX_OUTPUT_BYTES,
      ...(options.input === undefined ? {} : { input: options.input }),
    });
    const result = await (options.orEmpty === true ? running.catch(undefinedIf('unavailable')) : running);
    if (result === undefined) return '';
    if (result.timedOut || result.truncated) {
      deps.onTimeout?.();
      throw new StewardError('unavailable', `git took longer than ${Math.round(timeoutMs / 100) / 10} s.`, {
        hint: 'Check the disk, or run "git gc" in the repository.',
      });
    }
    if (options.orEmpty === true && result.code !== 0) return '';
    if (result.code !== 0 && !(result.code !== null && options.accept?.includes(result.code) === true)) {
      throw troubleOf(result.stderr, root);
    }
    return result.stdout;
  };
}

/** Environment variables that git may inherit, because a repository can't set them. */
const PASSED_VARIABLES = new Set(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']);

/**
 * Returns an environment in which git never prompts, fetches or executes anything, and uses only the repository at
 * `root`.
 */
function gitEnvironment(root: string, from: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(from)) {
    const upper = name.toUpperCase();
    if (!upper.startsWith('GIT_') || PASSED_VARIABLES.has(upper)) env[name] = value;
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
    // Two variables prevent fetches from a promisor remote, because old versions of git ignore
    // GIT_NO_LAZY_FETCH.
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

function settings(list: readonly string[]): string[] {
  return list.flatMap((setting) => ['-c', filled(setting, { NULL: devNull })]);
}

/** Keeps git from using the person's credentials. */
const NO_CREDENTIALS = settings(DATA.noCredentials);

/**
 * Options that override every other setting through which a repository could run a program. Bare repositories are
 * safe here, because the user chose the repository.
 */
const HARMLESS: readonly string[] = [
  '--no-pager',
  '--no-optional-locks',
  '--literal-pathspecs',
  ...settings(DATA.harmless),
];

function troubleOf(stderr: string, root: string): StewardError {
  const reason = clean(
    stderr.split('\n').find((line) => /^(?:fatal|error):/.test(line)) ?? stderr.slice(0, 400),
  ).slice(0, 200);
  if (/dubious ownership|unsafe repository/.test(stderr)) {
    return new StewardError(
      'unavailable',
      'the repository belongs to another user, so git refuses to read it.',
      {
        hint: `If you trust the repository, run: git config --global --add safe.directory "${root}"`,
      },
    );
  }
  if (/not a git repository/i.test(stderr)) {
    return new StewardError('unavailable', 'the folder is not a git repository.', {
      hint: 'Correct sense.repos, or restore the repository.',
    });
  }
  if (/bad config|bad (?:numeric|boolean) config|config file|unknown repository extension/i.test(stderr)) {
    return new StewardError('unavailable', `git rejects the repository's configuration (${reason}).`, {
      hint: 'Fix the configuration file named in the error.',
    });
  }
  return new StewardError(
    'unavailable',
    `the repository looks damaged (${reason === '' ? 'git failed' : reason}).`,
    {
      hint: 'Run "git fsck" in the repository.',
    },
  );
}

export interface RemoteGitDeps {
  run: Run;
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
}

export interface Remote {
  /** Address of the remote, such as `https://github.com/ann/work.git`. */
  url: string;
  protocol: string;
  /** `own` uses the person's ssh keys and credential helpers, `none` reads what everybody can read. */
  credential: 'own' | 'none' | Authorization;
}

interface Authorization {
  /** Value of the Authorization header; sent only to the origin of the address. */
  authorization: string;
}

export interface GitAnswer {
  code: number;
  stdout: string;
  /** The first line of git's error output that says why; empty on success. */
  complaint: string;
  /** Whether the server rejected the credential. */
  isRefused: boolean;
}

/**
 * Returns a function that runs git on steward's own clone. Passes the credential in the environment, because
 * other users can see arguments. Git sends the credential only to the remote's origin.
 */
export function remoteGit(
  deps: RemoteGitDeps,
  folder: string,
  remote: Remote,
  io: Pick<RunOptions, 'input' | 'maxBytes' | 'encoding'> = {},
): (...args: string[]) => Promise<GitAnswer> {
  const { url, protocol, credential } = remote;
  const isOwn = credential === 'own';
  const env: NodeJS.ProcessEnv = {
    ...gitEnvironment(folder, deps.env),
    GIT_ALLOW_PROTOCOL: protocol,
  };
  // The person's ssh command may be in the environment or in their configuration.
  if (isOwn) env['GIT_SSH_COMMAND'] = deps.env['GIT_SSH_COMMAND'];
  if (typeof credential === 'object') {
    env['GIT_CONFIG_COUNT'] = '1';
    env['GIT_CONFIG_KEY_0'] = `http.${new URL(url).origin}/.extraHeader`;
    env['GIT_CONFIG_VALUE_0'] = `Authorization: ${credential.authorization}`;
  }
  const options = [...HARMLESS, ...(isOwn ? [] : NO_CREDENTIALS), ...OWN];
  return async (...args) => {
    const result = await deps.run('git', ['-C', folder, ...options, ...args], {
      cwd: folder,
      env,
      timeoutMs: deps.timeoutMs,
      ...io,
    });
    if (result.timedOut) {
      throw new StewardError('unavailable', `git took longer than ${Math.round(deps.timeoutMs / 1000)} s.`, {
        hint: 'Check the network and the disk, then rerun the command.',
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

/**
 * Returns git for steward's own clone in a folder, which is created if it is missing or damaged.
 * @param succeeded throws if git failed
 */
export async function openClone(
  { git: deps, folder, remote }: { git: RemoteGitDeps; folder: string; remote: Remote },
  succeeded: (answer: Promise<GitAnswer>) => Promise<GitAnswer>,
): Promise<RemoteGit> {
  ensureFolder(folder);
  const git = remoteGit(deps, folder, remote);
  const path = join(folder, '.git');
  if (exists(path) && (await git('rev-parse', '--git-dir')).code === 0) return git;
  removeFolder(path);
  await succeeded(git('init', '--quiet'));
  return git;
}

export type RemoteGit = ReturnType<typeof remoteGit>;

/**
 * Matches git's error output after a rejected credential, including the error when git then fails to prompt
 * for a new one.
 */
const REFUSED =
  /could not read (?:Username|Password)|Authentication failed|Permission denied \(|cannot (?:exec|run|spawn) '?\S*(?:null|nul)\b/i;

function complaintOf(stderr: string): string {
  if (REFUSED.test(stderr)) return 'the server rejected the credential';
  const line = stderr.split('\n').find((text) => /^(?:ssh: |Host key |fatal|error|remote|!| !)/.test(text));
  return clean(line ?? stderr)
    .slice(0, 200)
    .trim();
}

/** The settings of steward's own repositories. A reflog would keep purged data. */
const OWN = settings(DATA.own);
