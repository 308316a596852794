/**
 * Measures the daemon's CPU time for watching the focus: the daemon without the watch, with it, and with 1,500 changes, as
 * many as a busy day has.
 * Needs Xvfb, openbox, xterm and wmctrl. Run: npm run -s build && npx tsx bench/focus.ts [SECONDS]
 * (default: 200 for each of the three parts)
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { steward } from '../test/helpers/cli';
import { machineFolder, startDaemon, type RunningDaemon } from '../test/helpers/daemon';
import { desktopKit, startManager, startXterm, startXvfb, until } from '../test/helpers/desktop-kit';

const CHANGES = 1_500;
const DAY_SEC = 86_400;
const MOST_PERCENT = 0.2;
/** What a start costs is not part of a day. */
const SETTLE_MS = 20_000;

const seconds = Number(process.argv[2] ?? 200);

async function main(): Promise<void> {
  const kit = desktopKit();
  let daemon: RunningDaemon | undefined;
  try {
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    for (const name of ['QAlpha', 'QBeta']) startXterm(kit, name);
    const raise = (name: string): boolean =>
      spawnSync('wmctrl', ['-x', '-a', `${name.toLowerCase()}.${name}`], { env: kit.env }).status === 0;
    for (const name of ['QAlpha', 'QBeta']) await until(`${name} is raised`, () => raise(name));
    const home = join(kit.home, 'home');
    mkdirSync(home);
    const env = { DISPLAY: kit.env['DISPLAY'] };
    await steward(['sense', 'init'], { home, env });
    await steward(['config', 'set', 'sense.sources.appFocus', 'false'], { home, env });
    daemon = await startDaemon({ home, env });
    const { pid } = daemon;
    await pause(SETTLE_MS);
    const aloneMs = await cpuDuring(pid, () => pause(seconds * 1000));
    await steward(['config', 'set', 'sense.sources.appFocus', 'true'], { home, env });
    const lease = join(machineFolder(home), 'focus.lock');
    await until('the daemon watches', () => existsSync(lease), 120_000);
    await pause(SETTLE_MS);
    const quietMs = await cpuDuring(pid, () => pause(seconds * 1000));
    const changingMs = await cpuDuring(pid, async () => {
      const startMs = performance.now();
      for (let i = 0; i < CHANGES; i += 1) {
        raise(i % 2 === 0 ? 'QAlpha' : 'QBeta');
        await pause(startMs + ((i + 1) * seconds * 1000) / CHANGES - performance.now());
      }
    });
    report(aloneMs, quietMs, changingMs);
  } finally {
    await daemon?.stop();
    await kit.stop();
  }
}

function report(aloneMs: number, quietMs: number, changingMs: number): void {
  const percent = (cpuMs: number, overSec: number): number => cpuMs / (overSec * 10);
  const perChangeMs = (changingMs - quietMs) / CHANGES;
  const watch = percent(quietMs - aloneMs, seconds);
  const day = watch + percent(perChangeMs * CHANGES, DAY_SEC);
  const isMet = day <= MOST_PERCENT;
  console.log(`daemon without the watch: ${percent(aloneMs, seconds).toFixed(3)}% CPU`);
  console.log(`watch without changes: ${watch.toFixed(3)}% CPU`);
  console.log(`each change: ${perChangeMs.toFixed(1)} ms CPU`);
  console.log(
    `watch on a day with ${CHANGES} changes: ${day.toFixed(3)}% CPU, limit ${MOST_PERCENT}%, ${isMet ? 'met' : 'EXCEEDED'}`,
  );
  if (!isMet) process.exitCode = 1;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

async function cpuDuring(pid: number, work: () => Promise<void>): Promise<number> {
  const before = cpuMs(pid);
  await work();
  return cpuMs(pid) - before;
}

/** Returns the CPU time of a process and its ended children. The kernel counts in ticks of 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

void main();
