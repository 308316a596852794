import { spawnSync, type StdioOptions } from 'node:child_process';

/** A process to measure from start to end. */
export interface Program {
  /** Node by default. */
  file?: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Its stdin; empty by default. */
  input?: string;
}

/** Measures one run. */
export type Measure = (program: Program, base: NodeJS.ProcessEnv) => number;

/** Returns the median of each program. The programs take turns, so that a slow moment affects all of them. */
export function medians(
  programs: readonly Program[],
  rounds: number,
  base: NodeJS.ProcessEnv,
  measure: Measure = time,
): number[] {
  const times = programs.map((): number[] => []);
  for (let round = -WARM_UP; round < rounds; round += 1) {
    programs.forEach((program, index) => {
      const took = measure(program, base);
      if (round >= 0) times[index]?.push(took);
    });
  }
  return times.map(median);
}

/** Uncounted runs that fill file and code caches. */
const WARM_UP = 3;

/** Returns the milliseconds of the whole process. */
export function time(program: Program, base: NodeJS.ProcessEnv): number {
  const start = process.hrtime.bigint();
  run(program, base, []);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** Returns the peak resident memory in MiB, as reported by the system at exit. */
export function peakMemory(program: Program, base: NodeJS.ProcessEnv): number {
  const told = run(program, base, ['--import', TELL_MEMORY], 'ignore');
  return Number(/peak (\d+) KiB/.exec(told)?.[1]) / 1024;
}

const TELL_MEMORY = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => process.stderr.write(`peak ${process.resourceUsage().maxRSS} KiB\\n`));",
)}`;

function run(
  program: Program,
  base: NodeJS.ProcessEnv,
  nodeArgs: readonly string[],
  stdout: 'pipe' | 'ignore' = 'pipe',
): string {
  const env = { ...base, ...program.env };
  const stdio: StdioOptions = [program.input === undefined ? 'ignore' : 'pipe', stdout, 'pipe'];
  const result = spawnSync(program.file ?? process.execPath, [...nodeArgs, ...program.args], {
    env,
    stdio,
    ...(program.input === undefined ? {} : { input: program.input }),
  });
  if (result.status !== 0) {
    throw new Error(
      `${program.args.join(' ')} exited with ${String(result.status)}: ${String(result.stderr)}`,
    );
  }
  return String(result.stderr);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
