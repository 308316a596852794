import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { userArea } from '../../src/lib/config/user-area';
import { processHost } from '../../src/lib/platform/files/paths';
import { addDays } from '../../src/lib/platform/time/time';
import type { MachineDay } from '../../src/lib/time/machines/model';
import { senseStore } from '../../src/lib/sense/store';
import { BIN, cleanEnv, definedOnly, emptyHome } from '../../test/helpers/cli';
import { machineDay } from '../../test/helpers/machines';
import type { Figure } from '../figure';

const DAYS = 365;
const APPS = ['Code', 'Firefox', 'Slack', 'kitty', 'Zed'];
const OTHERS = [
  { id: 'bbbbbbbbbbbb', name: 'desktop' },
  { id: 'cccccccccccc', name: 'server' },
];

/** A year of three machines, compared with the same command for one of them. */
export const FIGURES: readonly Figure[] = [
  figure(`sense recent, ${DAYS} days, 3 machines`, ['sense', 'recent', '--days', String(DAYS)]),
  figure('time --of year, 3 machines', ['time', '--of', 'year']),
];

function figure(name: string, args: readonly string[]): Figure {
  return {
    name,
    limit: { moreMs: 300 },
    prepare() {
      const home = emptyHome();
      const env = definedOnly(cleanEnv(home.path));
      fillYear(home.path, env);
      const program = [BIN, ...args];
      return {
        program: { args: program, env },
        yardstick: { args: [...program, '--machine', 'this'], env },
        against: 'this machine',
        remove: home.remove,
      };
    },
  };
}

/** Stores a year of this machine, and publishes it and two others. */
function fillYear(home: string, env: Record<string, string>): void {
  const exchange = join(home, 'exchange');
  mkdirSync(exchange);
  const today = new Date().toISOString().slice(0, 10);
  const days = Array.from({ length: DAYS - 1 }, (_, back) => addDays(today, -back - 1));
  storeOwn(home, days);
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'sync', 'setup', exchange], { env });
  if (status !== 0) throw new Error(`sync set exited with ${String(status)}: ${String(stderr)}`);
  const [own = ''] = readdirSync(join(exchange, 'machines'));
  publish(exchange, own, 0, days);
  for (const [i, { id, name }] of OTHERS.entries()) {
    publish(exchange, id, i + 1, days);
    const info = { format: 1, id, name, timezone: 'UTC', version: '1', lastInput: null };
    const text = JSON.stringify({ ...info, publishedAt: `${today}T00:00Z` });
    writeFileSync(join(exchange, 'machines', id, 'machine.json'), text);
  }
}

function storeOwn(home: string, days: readonly string[]): void {
  const store = senseStore(userArea({ ...processHost(), home, env: {} }));
  store.prepare();
  for (const date of days) store.writeRecord(dayOfMachine('own', 0, date).record, '');
}

function publish(exchange: string, id: string, index: number, days: readonly string[]): void {
  const folder = join(exchange, 'machines', id, 'daily');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const date of days) {
    const { record, spans, commits } = dayOfMachine(id, index, date);
    writeFileSync(join(folder, `${date}.json`), JSON.stringify({ format: 1, record, spans, commits }));
  }
}

/** Returns a day with 40 spans, 8 commits and 4 sessions. Half of the spans overlap with the next machine's. */
function dayOfMachine(machine: string, index: number, date: string): MachineDay {
  const at = (minute: number): string =>
    `${date}T${String(6 + Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00Z`;
  const commitId = (i: number): string => `${date.replaceAll('-', '')}${index}0000${i}00`.slice(0, 16);
  return machineDay(
    machine,
    Array.from({ length: 40 }, (_, i) => {
      const from = 12 * i + 243 * index;
      return [at(from), at(from + 9), APPS[i % APPS.length] ?? 'Code', `repo${i % 3}`] as const;
    }),
    {
      date,
      commits: Array.from({ length: 8 }, (_, i) => [commitId(i), 'shop'] as const),
      sessions: Array.from({ length: 4 }, (_, i) => [`${machine}${i}`, 30 + i] as const),
    },
  );
}
