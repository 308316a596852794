import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { definedOnly } from './cli';
import { until } from './desktop-kit';

export interface Namespace {
  /** The words before a command line that runs in it. */
  within: readonly string[];
  /** Runs a program in it. */
  exec: (
    file: string,
    args: readonly string[],
    env?: Record<string, string | undefined>,
  ) => Promise<{ code: number | null; stdout: string; stderr: string }>;
  stop: () => Promise<void>;
}

/** Hides the desktops of this machine in a namespace. */
export const NO_DESKTOP = 'mkdir -p /tmp/.X11-unix && mount -t tmpfs tmpfs /tmp/.X11-unix';

/** Skips a test where no namespace can be made: without root, or in a container that does not let even root. */
export function requireNamespace(context: Mocha.Context): void {
  const { status } = spawnSync('unshare', ['--mount', '--pid', '--cgroup', '--fork', 'true']);
  if (status === 0) return;
  console.log('      skipped: only root can make a namespace');
  context.skip();
}

/**
 * A namespace of its own with its own /run, /dev/shm, cgroups and crontabs, so that a systemd user manager or a cron runs in it
 * beside whatever this machine runs. Only root can make one. Everything in it ends with it.
 *
 * @param folder an empty folder for what it needs
 * @param setUp shell commands that start what is to run in it; then it waits
 */
export async function startNamespace(
  folder: string,
  setUp: string,
  env: NodeJS.ProcessEnv,
): Promise<Namespace> {
  mkdirSync(folder, { recursive: true });
  const ready = join(folder, 'ready');
  const script = join(folder, 'set-up.sh');
  writeFileSync(
    script,
    `set -e
mount -t tmpfs tmpfs /run
# The tests' own folder may be in the shared memory that is about to be hidden.
mkdir /run/kept
mount --bind ${tmpdir()} /run/kept
mount -t tmpfs tmpfs /dev/shm
mkdir -p ${tmpdir()}
mount --move /run/kept ${tmpdir()}
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
${setUp}
echo $$ >${ready}.new
mv ${ready}.new ${ready}
exec sleep 100000\n`,
  );
  const holder = spawn(
    'unshare',
    ['--mount', '--pid', '--cgroup', '--fork', '--mount-proc', '--kill-child', 'sh', script],
    { env: definedOnly(env), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const said = collect(holder);
  const ended = new Promise<void>((resolve) => holder.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    holder.kill('SIGKILL');
    await ended;
  };
  try {
    await until(
      'the namespace',
      () => {
        if (holder.exitCode !== null) throw new Error(`The namespace ended: ${said()}`);
        return existsSync(ready);
      },
      60_000,
    );
    const pid = firstChild(holder.pid ?? 0);
    const within = ['nsenter', '--mount', '--pid', '--cgroup', '--target', String(pid)];
    return {
      within,
      exec: (file, args, more = {}) => runProgram([...within, file, ...args], { ...env, ...more }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => (text += part));
  return () => text;
}

/** unshare stays outside; what it started is the first process of the namespace. */
function firstChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function runProgram(
  [file = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env: definedOnly({ PATH: process.env['PATH'], ...env }),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
