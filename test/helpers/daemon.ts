import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';

import { machineStateOf } from '../../src/lib/platform/files/paths';
import { BIN, cleanEnv, definedOnly } from './cli';

export interface RunningDaemon {
  url: string;
  port: number;
  pid: number;
  child: ChildProcess;
  /** What it printed when it listened. */
  document: unknown;
  /** Everything it wrote so far. */
  output: () => string;
  /** Resolves with its exit code, or the name of the signal that ended it. */
  ended: Promise<number | string>;
  /** Ends it with a signal and waits; SIGTERM unless told. */
  stop: (signal?: NodeJS.Signals) => Promise<number | string>;
}

export interface DaemonStart {
  home: string;
  /** The words of the command line; `daemon serve --port 0 --json` unless told. */
  args?: readonly string[];
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Another script than the built binary, and what node is given before it. */
  script?: string;
  nodeArgs?: readonly string[];
}

/** Starts a daemon and waits for the JSON document that says that it listens. */
export async function startDaemon(options: DaemonStart): Promise<RunningDaemon> {
  mkdirSync(options.home, { recursive: true });
  const args = options.args ?? ['daemon', 'serve', '--port', '0', '--json'];
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), options.script ?? BIN, ...args], {
    cwd: options.cwd ?? options.home,
    env: cleanEnv(options.home, options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const ended = new Promise<number | string>((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const listening = new Promise<Said>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const said = parsed(stdout);
      if (said !== undefined) resolve(said);
    });
    void ended.then((how) => reject(new Error(`the daemon ended with ${how}: ${stdout}${stderr}`)));
  });
  const said = await listening;
  const url = said.url ?? said.daemon ?? '';
  return {
    url,
    port: Number(new URL(url).port),
    pid: said.pid ?? child.pid ?? 0,
    child,
    document: said,
    output: () => stdout + stderr,
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** `daemon serve` says the first two, `up` the last. */
interface Said {
  url?: string;
  pid?: number;
  daemon?: string;
}

function parsed(text: string): Said | undefined {
  try {
    return JSON.parse(text) as Said;
  } catch {
    return undefined;
  }
}

/** The machine-local folder of the user area in a home of `cleanEnv`. */
export function machineFolder(home: string): string {
  const host = { platform: process.platform, env: definedOnly(cleanEnv(home)), home };
  return machineStateOf(join(home, '.steward'), host);
}

/** What the daemon has logged, line by line. */
export function daemonLogOf(home: string): Record<string, unknown>[] {
  const path = join(home, '.steward', 'daemon', 'daemon.log');
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** One request with exactly these headers, on a connection of its own. */
export function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; socket?: string } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: options.method ?? 'GET',
        headers: options.headers ?? {},
        agent: false,
        ...(options.socket === undefined ? {} : { socketPath: options.socket }),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(options.body);
  });
}

/** Signs a page in, as `steward open` does, and returns the header with its secret. */
export async function signIn(home: string, url: string): Promise<{ authorization: string }> {
  const { socket } = JSON.parse(readFileSync(join(machineFolder(home), 'daemon.json'), 'utf8')) as {
    socket: string;
  };
  const opened = await ask(`${url}/api/open`, { method: 'POST', socket });
  const code = new URL((JSON.parse(opened.text) as { url: string }).url).hash.slice('#code='.length);
  const { text } = await ask(`${url}/api/sign-in`, { method: 'POST', body: JSON.stringify({ code }) });
  return { authorization: `Bearer ${(JSON.parse(text) as { secret: string }).secret}` };
}

/** Waits until something holds, looking again and again, for a minute at most. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  ms = 60_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
