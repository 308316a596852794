import { basename } from 'node:path';

import { factsOf, pathOf, variableOf } from './own-terminal';
import type { Run } from './process';

/** What `steward go` needs to know of the processes of this machine. */
export interface ProcessView {
  /** Returns a process's terminal device and start time, or undefined if the process is gone. */
  of: (pid: number) => { tty: string | undefined; started: string } | undefined;
  /** Returns a variable from a process's initial environment. Always undefined outside of Linux. */
  variable: (pid: number, name: string) => string | undefined;
  /** Returns whether a program is running. Always false outside of macOS. */
  runs: (program: string) => boolean;
}

const PS = ['-axww', '-o', 'pid=', '-o', 'tty=', '-o', 'lstart=', '-o', 'comm='];
const PS_TIMEOUT_MS = 3000;

export async function processView(
  platform: NodeJS.Platform,
  run: Run,
  env: NodeJS.ProcessEnv,
): Promise<ProcessView> {
  if (platform !== 'darwin') return { of: ofLinux, variable: variableOf, runs: () => false };
  const { stdout } = await run('ps', PS, { env: { ...env, LC_ALL: 'C' }, timeoutMs: PS_TIMEOUT_MS });
  const rows = stdout.split('\n').map((line) => line.trim().split(/ +/));
  const programs = new Set(rows.map((words) => basename(words.slice(7).join(' '))));
  return {
    of: (pid) => {
      const [, tty = '', ...words] = rows.find(([first]) => first === String(pid)) ?? [];
      if (words.length < 6) return undefined;
      return { tty: tty.startsWith('tty') ? `/dev/${tty}` : undefined, started: words.slice(0, 5).join(' ') };
    },
    variable: () => undefined,
    runs: (program) => programs.has(program),
  };
}

function ofLinux(pid: number): ReturnType<ProcessView['of']> {
  const facts = factsOf(pid);
  if (facts === undefined || facts.isDead) return undefined;
  return { tty: pathOf(facts.device), started: facts.started };
}
