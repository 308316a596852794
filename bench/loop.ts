/**
 * Measures how long the first `/api/day` of three machines with 2,000 intervals each holds the daemon's loop, in CPU time
 * between two turns, so that other work on this computer doesn't count. Run after a build: npx tsx bench/loop.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createContext } from '../src/lib/app/context';
import { openMachines } from '../src/lib/app/machines';
import { openSense } from '../src/lib/app/sense';
import { fileMemory } from '../src/lib/platform/files/file-cache';
import { dayDetail, prepareDay } from '../src/lib/sense/read';
import { filesOf } from '../src/lib/sync/publish';
import { BIN, cleanEnv, emptyHome } from '../test/helpers/cli';
import { machineDay } from '../test/helpers/machines';
import { focus } from '../test/helpers/sense';

const LIMIT_MS = 100;
const INTERVALS = 2000;
const DAY = '2026-11-25';
const DAYS = ['2026-11-24', DAY, '2026-11-26'];
const APPS = ['Code', 'Firefox', 'Slack', 'kitty', 'Zed'];
const OTHERS = ['bbbbbbbbbbbb', 'cccccccccccc'];

function intervals(date: string, index: number) {
  const startMs = Date.parse(`${date}T00:00:00Z`);
  return Array.from({ length: INTERVALS }, (_, i) => {
    const fromMs = startMs + (40 * i + 7 * index) * 1000;
    const at = (ms: number): string => new Date(ms).toISOString();
    return [at(fromMs), at(fromMs + 31_000), APPS[(i + index) % APPS.length] ?? '', `repo${i % 3}`] as const;
  });
}

function fill(home: string): void {
  const events = join(home, '.steward', 'sense', 'events');
  const exchange = join(home, 'exchange');
  for (const path of [events, exchange]) mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const date of DAYS) {
    const lines = intervals(date, 0).map(([, to, app, repo]) =>
      JSON.stringify({ ...focus(to, app, 31), repo }),
    );
    writeFileSync(join(events, `${date}.jsonl`), `${lines.join('\n')}\n`);
  }
  for (const args of [
    ['config', 'set', 'timezone', 'UTC'],
    ['sense', 'capture'],
    ['sync', 'setup', exchange],
  ])
    spawnSync(process.execPath, [BIN, ...args], { env: cleanEnv(home) });
  for (const [index, id] of OTHERS.entries()) {
    const own = join(exchange, 'machines', id);
    mkdirSync(join(own, 'daily'), { recursive: true });
    const info = { format: 1, id, name: id.slice(0, 3), timezone: 'UTC', version: '1', lastInput: null };
    writeFileSync(
      join(own, 'machine.json'),
      JSON.stringify({ ...info, publishedAt: `${DAYS[2] ?? ''}T09:42Z` }),
    );
    for (const date of DAYS) {
      const { record, spans } = machineDay(id, intervals(date, index + 1), { date });
      const day = { format: 1, record, spans: [...spans], commits: [] };
      for (const { path, text } of filesOf(own, date, { day, sessions: [], usage: [] }))
        writeFileSync(join(own, path), text);
    }
  }
}

/** Returns the CPU time of each turn of the loop during the work, in ms. */
async function turnsOf(work: () => Promise<unknown>): Promise<number[]> {
  const turns: number[] = [];
  let [before, isEnding] = [process.cpuUsage(), false];
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    turns.push((user + system) / 1000);
    if (!isEnding) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isEnding = true;
  await new Promise((resolve) => setImmediate(resolve));
  return turns;
}

async function main(): Promise<void> {
  const home = emptyHome();
  try {
    fill(home.path);
    Object.assign(process.env, cleanEnv(home.path));
    const context = createContext(join(__dirname, '..'));
    const { deps: alone } = await openSense(context);
    const memory = { days: fileMemory(context.clock, 12), merged: fileMemory(context.clock, 400) };
    const deps = await openMachines(context, alone, undefined, undefined, memory);
    for (const which of ['first', 'second']) {
      const turns = await turnsOf(async () => {
        await prepareDay(deps, DAY);
        JSON.stringify(dayDetail(deps, DAY));
      });
      const most = Math.max(...turns);
      if (most > LIMIT_MS) process.exitCode = 1;
      const sum = turns.reduce((all, ms) => all + ms, 0);
      console.log(
        `${which} day: ${most.toFixed(0)} ms at a time, limit ${LIMIT_MS} ms; ${sum.toFixed(0)} ms in all`,
      );
    }
  } finally {
    home.remove();
  }
}

void main();
