import { spawnSync } from 'node:child_process';

/** A process to time, whole: from its start to its end. */
export interface Program {
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** What it reads on stdin; without it stdin is empty. */
  input?: string;
}

/** Medians in milliseconds of several programs, run in turns so that a slow moment meets all of them. */
export function medians(programs: readonly Program[], rounds: number, base: NodeJS.ProcessEnv): number[] {
  const times = programs.map((): number[] => []);
  for (let round = -WARM_UP; round < rounds; round += 1) {
    programs.forEach((program, index) => {
      const took = time(program, base);
      if (round >= 0) times[index]?.push(took);
    });
  }
  return times.map(median);
}

/** Runs that fill file and code caches and are not counted. */
const WARM_UP = 3;

function time(program: Program, base: NodeJS.ProcessEnv): number {
  const env = { ...base, ...program.env };
  const start = process.hrtime.bigint();
  const stdin = program.input === undefined ? 'ignore' : 'pipe';
  const result = spawnSync(process.execPath, program.args, {
    env,
    stdio: [stdin, 'pipe', 'pipe'],
    ...(program.input === undefined ? {} : { input: program.input }),
  });
  const took = Number(process.hrtime.bigint() - start) / 1e6;
  if (result.status !== 0) {
    throw new Error(
      `${program.args.join(' ')} exited with ${String(result.status)}: ${String(result.stderr)}`,
    );
  }
  return took;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
