import { constants } from 'node:os';

import { spawn } from './spawn';

/** Set for the process that a relaunched one is, so that it asks its parent and does not become one itself. */
const MARK = 'STEWARD_RELAUNCHED';
/** Its exit code when it wants to be started again. */
const AGAIN = 86;

/**
 * Starts this program anew, as it is on disk now, in place of this process: the new one is its child, has its
 * terminal, gets its signals, and its exit code becomes ours. Node cannot replace its own process, and whoever
 * started us (a shell, a service manager) waits for this one. However often that happens, there is one parent and
 * one child: a child that is to be replaced ends, and its parent starts the next.
 *
 * @param args the words of the command line, without node and the script
 */
export async function relaunch(args: readonly string[]): Promise<number> {
  if (process.env[MARK] === String(process.ppid)) return AGAIN;
  for (;;) {
    const code = await runChild(args);
    if (code !== AGAIN) return code;
  }
}

function runChild(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const script = process.argv[1] ?? '';
    const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
      stdio: 'inherit',
      env: { ...process.env, [MARK]: String(process.pid) },
    });
    const pass = (signal: NodeJS.Signals): void => {
      child.kill(signal);
    };
    // A terminal sends Ctrl-C to both.
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore);
    for (const signal of PASSED) process.on(signal, pass);
    const done = (): void => {
      process.removeListener('SIGINT', ignore);
      for (const signal of PASSED) process.removeListener(signal, pass);
    };
    child.on('error', (error) => {
      done();
      reject(error);
    });
    child.on('exit', (code, signal) => {
      done();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

const PASSED = ['SIGTERM', 'SIGHUP'] as const;
