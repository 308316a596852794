/**
 * Measures the CPU time of reading a year of one machine and of three, with 40 spans, 8 commits and 4 sessions a day on each.
 * Run: npx tsx bench/machines.ts
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { knownMachines } from '../src/lib/app/machine-days';
import { userArea } from '../src/lib/config/user-area';
import { addDays } from '../src/lib/platform/time/time';
import { makeClassifier } from '../src/lib/sense/classify';
import { chooseMachines } from '../src/lib/sense/machines/read';
import type { MachineDay } from '../src/lib/sense/machines/model';
import { recent, type ReadDeps } from '../src/lib/sense/read';
import { recordMarkdown } from '../src/lib/sense/view-markdown';
import { senseStore } from '../src/lib/sense/store';
import { MACHINES, machineDay } from '../test/helpers/machines';
import { median } from './measure';

const DAYS = 365;
const ROUNDS = 7;
const BUDGET_MS = 300;
const TODAY = '2026-11-21';
const APPS = ['Code', 'Firefox', 'Slack', 'kitty', 'Zed'];

const home = mkdtempSync(join(tmpdir(), 'steward-bench-'));

function main(): void {
  const env = { STEWARD_HOME: join(home, 'area'), XDG_STATE_HOME: join(home, 'state') };
  const area = userArea({ platform: process.platform, env, home });
  const folder = join(home, 'exchange');
  const store = senseStore(area);
  store.prepare();
  for (const [i, { id, name }] of MACHINES.entries()) {
    const path = join(folder, 'machines', id);
    mkdirSync(join(path, 'daily'), { recursive: true });
    const info = { format: 1, id, name, timezone: 'UTC', version: '1', lastInput: null };
    writeFileSync(join(path, 'machine.json'), JSON.stringify({ ...info, publishedAt: '2026-11-21T08:00Z' }));
    for (let back = 1; back <= DAYS; back += 1) {
      const day = dayOfMachine(id, i, addDays(TODAY, -back));
      const { record, spans, commits } = day;
      writeFileSync(
        join(path, 'daily', `${record.date}.json`),
        JSON.stringify({ format: 1, record, spans, commits }),
      );
      if (i === 0) store.writeRecord(record, recordMarkdown(record));
    }
  }
  const deps: ReadDeps = {
    clock: { now: () => Date.parse(`${TODAY}T12:00:00Z`), monotonic: () => performance.now() },
    ...{ store, timezone: 'UTC', classify: makeClassifier('templates'), sources: [] },
    config: {
      ...{ enabled: true, pollIntervalSec: 120, retentionDays: 30, repos: [] },
      sources: { appFocus: true, git: true, agentSession: true },
    },
    afterRecords: () => undefined,
  };
  const machines = () =>
    chooseMachines(knownMachines({ area, machineId: MACHINES[0].id } as never, deps, folder));
  const one = timed(() => recent(deps, DAYS).length);
  const three = timed(() => recent({ ...deps, machines }, DAYS).length);
  const more = three.warm - one.warm;
  console.log(`a year of one machine: cold ${one.cold.toFixed(0)} ms, median ${one.warm.toFixed(0)} ms`);
  console.log(`of three machines: cold ${three.cold.toFixed(0)} ms, median ${three.warm.toFixed(0)} ms`);
  console.log(
    `budget: ${BUDGET_MS} ms more, ${more.toFixed(0)} ms: ${more <= BUDGET_MS ? 'met' : 'EXCEEDED'}`,
  );
  if (more > BUDGET_MS) process.exitCode = 1;
}

/** Spreads 40 spans over eight hours. Half of each machine's overlap with the next one's. */
function dayOfMachine(machine: string, index: number, date: string): MachineDay {
  const at = (minute: number): string =>
    `${date}T${String(6 + Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00Z`;
  return machineDay(
    machine,
    Array.from({ length: 40 }, (_, i) => {
      const from = 12 * i + 243 * index;
      return [at(from), at(from + 9), APPS[i % APPS.length] ?? 'Code', `repo${i % 3}`] as const;
    }),
    {
      date,
      commits: Array.from(
        { length: 8 },
        (_, i) => [`${date.replaceAll('-', '')}${index}0000${i}00`.slice(0, 16), 'shop'] as const,
      ),
      sessions: Array.from({ length: 4 }, (_, i) => [`${machine}${i}`, 30 + i] as const),
    },
  );
}

function timed(run: () => number): { cold: number; warm: number } {
  const times = Array.from({ length: ROUNDS }, () => {
    // CPU time, because other programs don't change it as much.
    const start = process.cpuUsage();
    if (run() !== DAYS) throw new Error('days are missing');
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return { cold: times[0] ?? Number.NaN, warm: median(times.slice(1)) };
}

try {
  main();
} finally {
  rmSync(home, { recursive: true, force: true });
}
