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

/** What a process answers: the end of the command, or why it could not begin. */
type Answer = { refused: string } | { code: number; isClean: boolean };

/** Runs a command line in a process that may have run others before. Kills it after 60 s. */
export async function runInRunner(call: Call) {
  const folder = mkdtempSync(join(tmpdir(), 'steward-run-'));
  const files = { stdin: join(folder, 'in'), stdout: join(folder, 'out'), stderr: join(folder, 'err') };
  for (const path of Object.values(files)) writeFileSync(path, path === files.stdin ? call.input : '');
  const read = (path: string): string => readFileSync(path, 'utf8');
  try {
    for (;;) {
      const { child, runs } = idle ?? { child: startRunner(), runs: 0 };
      idle = undefined;
      const answer = await answerOf(child, { ...call, files }, () => read(files.stderr));
      if ('refused' in answer) {
        child.kill('SIGKILL');
        if (runs === 0) throw new Error(answer.refused);
        continue;
      }
      if (answer.isClean && runs + 1 < MAX_RUNS && idle === undefined) keep({ child, runs: runs + 1 });
      else child.kill('SIGKILL');
      return { code: answer.code, stdout: read(files.stdout), stderr: read(files.stderr) };
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function answerOf(child: ChildProcess, message: object, why: () => string): Promise<Answer> {
  child.removeAllListeners('exit');
  child.ref();
  child.channel?.ref();
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  try {
    return await new Promise<Answer>((done, fail) => {
      child.once('message', done as (answer: unknown) => void);
      child.once('exit', (code, signal) => fail(new Error(`ended by ${signal ?? code}: ${why()}`)));
      child.send(message);
    });
  } finally {
    clearTimeout(limit);
    child.removeAllListeners();
  }
}

/** Keeps a process for the next command. It doesn't keep the tests from ending. */
function keep(runner: Runner): void {
  idle = runner;
  runner.child.once('exit', () => (idle = undefined));
  runner.child.unref();
  runner.child.channel?.unref();
}

function startRunner(): ChildProcess {
  return fork(RUNNER, [BIN], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'], cwd: '/' });
}
