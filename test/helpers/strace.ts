import { spawnSync } from 'node:child_process';

import { BIN, cleanEnv } from './cli';
import type { Random } from './random';

/** The system calls after which a killed command leaves different files. */
export const WRITING_CALLS = [
  'rename,renameat,renameat2',
  'fsync',
  'write,pwrite64',
  'unlink,unlinkat',
] as const;

/**
 * Runs a command that is killed at its n-th system call of some kinds. Returns whether it was killed, and not over
 * before.
 */
export function killedAt(
  { n, calls, home }: { n: number; calls: string; home: string },
  args: readonly string[],
  env: Record<string, string> = {},
): boolean {
  const inject = `inject=${calls}:signal=KILL:when=${n}`;
  const trace = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', inject];
  const done = spawnSync('strace', [...trace, process.execPath, BIN, ...args], {
    env: cleanEnv(home, { STEWARD_NO_CODE_CACHE: '1', ...env }),
    cwd: home,
    timeout: 60_000,
  });
  return done.signal === 'SIGKILL' || (done.status ?? 0) > 128;
}

/**
 * Returns a function that runs a command killed at a random writing call, among as many as such commands were seen to
 * make. It returns where, and whether the command was killed.
 */
export function randomKills(
  random: Random,
): (home: string, args: readonly string[], env: Record<string, string>) => { at: string; isKilled: boolean } {
  const most = new Map<string, number>();
  return (home, args, env) => {
    const calls = random.pick(WRITING_CALLS);
    const bound = most.get(calls) ?? 60;
    const n = 1 + random.below(bound);
    const isKilled = killedAt({ n, calls, home }, args, env);
    // A command that makes more calls than the ones before raises the bound again.
    most.set(calls, isKilled ? Math.max(bound, n + 2) : Math.max(4, n));
    return { at: `${calls} ${n}`, isKilled };
  };
}
