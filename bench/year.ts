/**
 * Measures the CPU time of `steward time` for a year: of three machines before and after the daemon has merged their
 * days, and of one machine. Run after a build: npx tsx bench/year.ts
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

import { createContext } from '../src/lib/app/context';
import { openMachines } from '../src/lib/app/machines';
import { openSense } from '../src/lib/app/sense';
import { addDays, type Day } from '../src/lib/platform/time/time';
import { prepareDays } from '../src/lib/sense/read';
import { BIN, cleanEnv, emptyHome } from '../test/helpers/cli';
import { fillMachines } from './machines';
import { median } from './measure';

const LIMIT_MS = 150;
const ROUNDS = 7;
const INTERVALS = 300;
const LAST: Day = '2026-11-26';
const DAYS = Array.from({ length: 365 }, (_, i) => addDays(LAST, i - 364));
const LONG_AGO = new Date('2026-11-27');

/** Returns the user and system time of a command, in ms. */
function cpuOf(home: string, ...args: string[]): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null';
  const { stderr } = spawnSync('bash', ['-c', script, '-', process.execPath, BIN, ...args], {
    env: cleanEnv(home),
    encoding: 'utf8',
  });
  const [user = NaN, system = NaN] = stderr.trim().split(' ').map(Number);
  if (Number.isNaN(user + system)) throw new Error(stderr.slice(0, 1000));
  return (user + system) * 1000;
}

async function main(): Promise<void> {
  const home = emptyHome();
  try {
    fillMachines(home.path, DAYS, INTERVALS);
    for (const name of readdirSync(home.path, { recursive: true }) as string[])
      utimesSync(join(home.path, name), LONG_AGO, LONG_AGO);
    const year = (): number =>
      median(Array.from({ length: ROUNDS }, () => cpuOf(home.path, 'time', '--of', `${DAYS[0]!}..${LAST}`)));
    const first = cpuOf(home.path, 'time', '--of', `${DAYS[0]!}..${LAST}`);
    Object.assign(process.env, cleanEnv(home.path));
    const context = createContext(join(__dirname, '..'));
    const { deps } = await openSense(context);
    const kept = await openMachines(context, deps, undefined, undefined, true);
    await prepareDays(kept, kept.machines?.()?.days() ?? []);
    const three = year();
    spawnSync(process.execPath, [BIN, 'config', 'unset', 'sync.folder'], { env: cleanEnv(home.path) });
    const one = year();
    const more = three - one;
    if (!(more <= LIMIT_MS)) process.exitCode = 1;
    console.log(
      `three machines: ${three.toFixed(0)} ms (${first.toFixed(0)} ms before they were merged); one: ${one.toFixed(0)} ms; ${more.toFixed(0)} ms more, limit ${LIMIT_MS} ms`,
    );
  } finally {
    home.remove();
  }
}

void main();
