/**
 * Measures the git source with 200 unchanged repositories. The baseline is one `git rev-parse HEAD` per repository.
 * Run: npx tsx bench/git.ts
 */
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { gitBox } from '../test/helpers/git';
import { median } from './measure';
import { DAY, NOON, watchGit } from '../test/helpers/git-watch';

const REPOSITORIES = 200;
const ROUNDS = 30;
const BUDGET_MS = 25;

async function main(): Promise<void> {
  const box = gitBox();
  try {
    const first = box.init('first');
    box.commit(first, { at: NOON });
    const paths = Array.from({ length: REPOSITORIES }, (_, i) => join(box.folder, `r${i}`));
    for (const path of paths) cpSync(first, path, { recursive: true });
    const clock = { now: () => Date.now() + 60_000, monotonic: () => performance.now() };
    const watched = watchGit(paths, { env: box.env, clock, deadlineMs: 120_000 });
    const time = { nowMs: (NOON + 60) * 1000, dayStartMs: DAY };
    await watched.capture(time);
    watched.runs.length = 0;
    const unchanged = await medianOf(ROUNDS, () => watched.capture(time));
    const yardstick = await medianOf(3, () => {
      for (const path of paths) execFileSync('git', ['-C', path, 'rev-parse', 'HEAD'], { stdio: 'ignore' });
    });
    console.log(
      `${REPOSITORIES} unchanged repositories: ${unchanged.toFixed(1)} ms, ${watched.runs.length} processes`,
    );
    console.log(`baseline, one git process each: ${yardstick.toFixed(0)} ms`);
    console.log(`budget: ${BUDGET_MS} ms, ${unchanged <= BUDGET_MS ? 'met' : 'EXCEEDED'}`);
    if (unchanged > BUDGET_MS || watched.runs.length > 0) process.exitCode = 1;
  } finally {
    box.remove();
  }
}

async function medianOf(rounds: number, work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return median(times);
}

void main();
