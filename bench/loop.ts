/**
 * Measures how long the first `/api/day` of three machines with 2,000 intervals each holds the daemon's loop, in CPU time
 * between two turns, so that other work on this computer doesn't count. Run after a build: npx tsx bench/loop.ts
 */
import { join } from 'node:path';

import { createContext } from '../src/lib/app/context';
import { openMachines } from '../src/lib/app/machines';
import { openSense } from '../src/lib/app/sense';
import { dayDetail, prepareDay } from '../src/lib/sense/read';
import { cleanEnv, emptyHome } from '../test/helpers/cli';
import { fillMachines } from './machines';

const LIMIT_MS = 100;
const DAY = '2026-11-25';
const DAYS = ['2026-11-24', DAY, '2026-11-26'];

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
    fillMachines(home.path, DAYS, 2000);
    Object.assign(process.env, cleanEnv(home.path));
    const context = createContext(join(__dirname, '..'));
    const { deps: alone } = await openSense(context);
    const deps = await openMachines(context, alone);
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
