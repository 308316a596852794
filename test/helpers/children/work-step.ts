// work-step HOME deliver|sweep|claim [NUMBER AGENT]: one step of work tracking, as the commands do it.
import { setTimeout as delay } from 'node:timers/promises';
import { readdirSync } from 'node:fs';

import { loadConfig } from '../../../src/lib/config/load';
import { changeConfig } from '../../../src/lib/config/write';
import { userArea } from '../../../src/lib/config/user-area';
import { StewardError } from '../../../src/lib/errors';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { run } from '../../../src/lib/platform/process/process';
import { cacheReader } from '../../../src/lib/work/cache';
import type { SessionsState } from '../../../src/lib/sessions/session';
import { drainCaptures } from '../../../src/lib/work/capture/deliver';
import { sessionAt } from '../../../src/lib/work/capture/session';
import type { WorkDeps } from '../../../src/lib/work/deps';
import { claimIssue } from '../../../src/lib/work/claim';
import { githubHost } from '../../../src/lib/work/host/github';
import { sweep, type SweepDeps } from '../../../src/lib/work/sweep';

async function main(home: string, call: string, number: number, agent: string): Promise<void> {
  const area = userArea();
  const clock = systemClock();
  const machineId = '0123456789ab';
  let { config } = await loadConfig({ area, home });
  const host = await githubHost({
    clock,
    run,
    env: process.env,
    userAgent: 'steward/test',
    maxWaitMs: 0,
    writesPerMinute: 1_000_000,
    secondMs: 1,
  });
  const work = {
    clock,
    config: config.work,
    daName: 'nova',
    timezone: 'UTC',
    workRepo: () => config.workRepo,
    host: () => Promise.resolve(host),
    attest: async (attestation: object) => {
      await changeConfig({ area, clock, machineId }, [{ key: 'WORK.privacy', to: () => attestation }]);
      ({ config } = await loadConfig({ area, home }));
    },
    area,
    paths: area.work,
    cache: cacheReader(area.work.cache),
    machineId,
    // Less than what a list lags in the test would be wrong; it lags until the next step.
    settleMs: 0,
    sleep: async (ms: number) => {
      await delay(Math.min(ms, 5));
    },
  } as unknown as WorkDeps;
  const state = { sessions: {} } as SessionsState;
  const deps: SweepDeps = {
    work,
    sessions: area.sessions,
    state: () => state,
    sessionsSince: () => readdirSync(area.sessions).flatMap((slug) => sessionAt(area.sessions, slug) ?? []),
    projects: () => Promise.resolve([]),
    goals: () => [],
    regenerate: () => Promise.resolve(null),
    remind: () => Promise.resolve(0),
    captures: () => Promise.resolve([]),
  };
  if (call === 'deliver') {
    await drainCaptures(deps);
  } else if (call === 'sweep') {
    await sweep(deps, { sinceMs: 86_400_000, maxCreate: 50, dryRun: false });
  } else {
    try {
      await claimIssue(work, { number, agent });
    } catch (error) {
      // Taken, not there yet, or a fault: all of that may be.
      if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    }
  }
}

void main(process.argv[2] ?? '', process.argv[3] ?? '', Number(process.argv[4]), process.argv[5] ?? '');
