/**
 * Measures 20 concurrent hooks against 20 concurrent `node -e 0`: the 99th percentile of the hooks to the median of the
 * baseline. Run after a build: npx tsx bench/hooks-at-once.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { BIN, cleanEnv, emptyHome } from '../test/helpers/cli';
import { hookJson } from '../test/helpers/hooks';
import { median } from './measure';

const AT_ONCE = 20;
const EACH = 15;
const LIMIT = 2.5;

async function main(): Promise<void> {
  const home = emptyHome();
  const env = cleanEnv(home.path);
  delete env['NODE_EXTRA_CA_CERTS'];
  try {
    const hook = (event: 'tool' | 'prompt') => (id: number) =>
      time([BIN, 'hook', event], hookJson(event, { session_id: `bench-${id}`, cwd: home.path }), env);
    const bare = (): Promise<number> => time(['-e', '0'], '', env);
    for (const event of ['tool', 'prompt'] as const) {
      // Fills the code cache and creates the sessions.
      await crowd(hook(event), 1);
      const yardstick = median(await crowd(bare, EACH));
      const times = (await crowd(hook(event), EACH)).sort((a, b) => a - b);
      const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
      const ratio = p99 / yardstick;
      if (!(ratio <= LIMIT)) process.exitCode = 1;
      console.log(
        `steward hook ${event}, ${AT_ONCE} concurrent: p50 ${median(times).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ` +
          `node -e 0 concurrent ${yardstick.toFixed(0)} ms: ${ratio.toFixed(2)}×, limit ${LIMIT}×`,
      );
    }
  } finally {
    home.remove();
  }
}

async function crowd(work: (id: number) => Promise<number>, each: number): Promise<number[]> {
  const one = async (id: number): Promise<number[]> => {
    const times: number[] = [];
    for (let index = 0; index < each; index += 1) times.push(await work(id));
    return times;
  };
  return (await Promise.all(Array.from({ length: AT_ONCE }, (_, id) => one(id)))).flat();
}

async function time(args: readonly string[], input: string, env: NodeJS.ProcessEnv): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input);
  const [code] = (await once(child, 'exit')) as unknown[];
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${String(code)}`);
  return performance.now() - started;
}

void main();
