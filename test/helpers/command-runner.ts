import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const BIN = resolve(__dirname, '..', '..', 'bin', 'run.js');
export const LIMIT_MS = 60_000;
const RUNNER = resolve(__dirname, 'children', 'command-runner.mjs');
/** After this many commands a new process takes over, because modules that were loaded stay in memory. */
const MAX_RUNS = 100;

/** A command line of the built program. */
export interface Call {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  input: string;
}

interface Runner {
  child: ChildProcess;
  runs: number;
}

let idle: Runner | undefined;

/** Runs a command line in a process that may have run others before. Kills it after 60 s. */
export async function runInRunner({ args, env, cwd, input }: Call) {
  const { child, runs } = idle ?? { child: startRunner(), runs: 0 };
  idle = undefined;
  child.removeAllListeners('exit');
  const folder = mkdtempSync(join(tmpdir(), 'steward-run-'));
  const files = { stdin: join(folder, 'in'), stdout: join(folder, 'out'), stderr: join(folder, 'err') };
  for (const path of Object.values(files)) writeFileSync(path, path === files.stdin ? input : '');
  child.ref();
  child.channel?.ref();
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const { code, isClean } = await new Promise<{ code: number; isClean: boolean }>((done, fail) => {
    child.once('message', done as (message: unknown) => void);
    child.once('exit', (exitCode, signal) =>
      fail(new Error(`${args.join(' ')}: ended by ${signal ?? exitCode}`)),
    );
    child.send({ args, env, cwd, files });
  });
  clearTimeout(limit);
  child.removeAllListeners();
  // A process that waits for the next command doesn't keep the tests from ending.
  child.unref();
  child.channel?.unref();
  if (isClean && runs + 1 < MAX_RUNS && idle === undefined) {
    idle = { child, runs: runs + 1 };
    child.once('exit', () => (idle = undefined));
  } else child.kill('SIGKILL');
  const [stdout, stderr] = [files.stdout, files.stderr].map((path) => readFileSync(path, 'utf8'));
  rmSync(folder, { recursive: true });
  return { code, stdout: stdout ?? '', stderr: stderr ?? '' };
}

function startRunner(): ChildProcess {
  return fork(RUNNER, [BIN], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'], cwd: '/' });
}
