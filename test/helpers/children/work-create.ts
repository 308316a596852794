// work-create HOME FROM TO: makes the issues of the identities from FROM on, at least to TO, by threes, and says each.
import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { loadConfig } from '../../../src/lib/config/load';
import { userArea } from '../../../src/lib/config/user-area';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { run } from '../../../src/lib/platform/process/process';
import { cacheReader } from '../../../src/lib/work/cache';
import type { WorkDeps } from '../../../src/lib/work/deps';
import { ensureIssues } from '../../../src/lib/work/ensure';
import { githubHost } from '../../../src/lib/work/host/github';

async function main(home: string, from: number, to: number): Promise<void> {
  const area = userArea();
  const clock = systemClock();
  const { config } = await loadConfig({ area, home });
  const host = await githubHost({
    clock,
    run,
    env: process.env,
    userAgent: 'steward/test',
    maxWaitMs: 0,
    writesPerMinute: 1_000_000,
    secondMs: 1,
  });
  const deps = {
    clock,
    config: config.work,
    workRepo: () => config.workRepo,
    host: () => Promise.resolve(host),
    attest: () => Promise.resolve(),
    area,
    paths: area.work,
    cache: cacheReader(area.work.cache),
    machineId: '0123456789ab',
    settleMs: 0,
    sleep: async (ms: number) => {
      await delay(ms);
    },
  } as unknown as WorkDeps;
  for (let first = from; first < to; first += BATCH) {
    const numbers = Array.from({ length: BATCH }, (_, index) => first + index);
    writeSync(1, numbers.map((n) => `begin ${n}\n`).join(''));
    const wanted = numbers.map((n) => ({
      identity: { kind: 'slug' as const, value: `s${n}` },
      kind: 'core' as const,
      text: `Task ${n}`,
      body: 'b',
      labels: ['core-sync', 'Type:feature'],
    }));
    let done = first;
    await ensureIssues({ deps, host, repo: 'ann/work' }, wanted, () => writeSync(1, `done ${done++}\n`));
  }
}

/** Enough for a kill in the midst of what one lock, one list and one write of the cache stand for. */
const BATCH = 3;

void main(process.argv[2] ?? '', Number(process.argv[3]), Number(process.argv[4]));
