import { spawnSync, type StdioOptions } from 'node:child_process';

/** A process to time, whole: from its start to its end. */
export interface Program {
  /** Node by default. */
  file?: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** What it reads on stdin; without it stdin is empty. */
  input?: string;
}

/** What is measured of one run: a number. */
export type Measure = (program: Program, base: NodeJS.ProcessEnv) => number;

/** Medians of several programs, run in turns so that a slow moment meets all of them. */
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

/** Runs that fill file and code caches and are not counted. */
const WARM_UP = 3;

/** Milliseconds, whole process. */
export function time(program: Program, base: NodeJS.ProcessEnv): number {
  const start = process.hrtime.bigint();
  run(program, base, []);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** Peak resident memory in MiB, as the system counts it for the process, at its exit. */
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
