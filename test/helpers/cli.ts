import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN, LIMIT_MS, runInRunner, type Call } from './command-runner';
import { keepCode, lendCode } from './code-cache';
import { removeFolder } from './scratch';

export { BIN };

export interface StewardOptions {
  /** Added to the clean environment; undefined removes a variable. */
  env?: Record<string, string | undefined>;
  /** What the process reads on stdin; without it stdin is empty and closed. */
  input?: string;
  cwd?: string;
  /** Runs as this user (and group): only root can. */
  uid?: number;
  /** Starts a process for it. Without this, a process that was started before runs it, which is quicker. */
  ownProcess?: boolean;
  /** The home folder; a new empty one for the call when left out. Make one with `emptyHome()` to keep state. */
  home?: string;
}

export interface StewardResult {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** An empty home folder, removed by `remove()`. There is nothing in it but compiled code, so that starts are quick. */
export function emptyHome(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'steward-home-'));
  lendCode(path);
  return {
    path,
    remove: () => {
      keepCode(path);
      removeFolder(path);
    },
  };
}

/** Takes the compiled code away: for a test that looks at the cache, or gives the home to another user. */
export function withoutCode(home: string): void {
  rmSync(join(home, '.cache'), { recursive: true, force: true });
}

/** An environment in which nothing of the person who runs the tests is seen: no desktop, no bus, no terminal, no config. */
export function cleanEnv(home: string, extra: StewardOptions['env'] = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: home,
    USERPROFILE: home,
    LOCALAPPDATA: join(home, 'AppData', 'Local'),
    STEWARD_HOME: join(home, '.steward'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    GIT_CONFIG_NOSYSTEM: '1',
    TMPDIR: tmpdir(),
    TMUX_TMPDIR: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    SystemRoot: process.env['SystemRoot'],
  };
  for (const [name, value] of Object.entries({ ...env, ...extra })) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  return env;
}

/** An environment without the variables that are not set. */
export function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Variables that a process reads when it starts. */
const START_VARIABLES = ['NODE_OPTIONS', 'LD_PRELOAD'];

function needsProcess({ env = {}, uid, ownProcess = false }: StewardOptions): boolean {
  return ownProcess || uid !== undefined || START_VARIABLES.some((name) => env[name] !== undefined);
}

/** Runs the built program in an empty home, with its two streams captured. Kills it after 60 s. */
export async function steward(args: readonly string[], options: StewardOptions = {}): Promise<StewardResult> {
  const own = options.home === undefined ? emptyHome() : undefined;
  const home = options.home ?? own?.path ?? '';
  mkdirSync(home, { recursive: true });
  const call = {
    args,
    env: cleanEnv(home, options.env),
    cwd: options.cwd ?? home,
    input: options.input ?? '',
  };
  try {
    return await (needsProcess(options) ? runInProcess(call, options.uid) : runInRunner(call));
  } finally {
    own?.remove();
  }
}

function runInProcess({ args, env, cwd, input }: Call, uid: number | undefined): Promise<StewardResult> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd,
      env,
      stdio: 'pipe',
      ...(uid === undefined ? {} : { uid, gid: uid }),
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    // A command that never reads its stdin may be gone before the input is written.
    child.stdin.on('error', () => child.stdin.destroy());
    child.stdin.end(input);
    child.on('error', fail);
    child.on('close', (code) => done({ code, stdout, stderr }));
  });
}

/** The one JSON document that a `--json` run printed. */
export function jsonOf(result: StewardResult): unknown {
  return JSON.parse(result.stdout);
}
