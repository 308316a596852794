import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { userArea } from '../../../src/lib/config/user-area';
import { withLock } from '../../../src/lib/platform/files/lock';
import { run } from '../../../src/lib/platform/process/process';
import { withTempFolder } from '../../../src/lib/platform/files/system-files';
import { buildInsight } from '../../../src/lib/sense/insight';
import { insightStore } from '../../../src/lib/sense/insight-reads';
import { senseStore } from '../../../src/lib/sense/store';

/** Reads the same day again and again, every other time with a failure; says each one that it came through. */
async function main(home: string): Promise<void> {
  const env = { STEWARD_HOME: join(home, 'area'), XDG_STATE_HOME: join(home, 'state') };
  const area = userArea({ platform: process.platform, env, home });
  const commands = JSON.parse(readFileSync(join(home, 'commands.json'), 'utf8')) as string[][];
  const clock = { now: () => Date.parse('2026-11-20T12:00:00Z'), monotonic: () => performance.now() };
  const lock = <T>(name: string, work: () => T | Promise<T>): Promise<T> =>
    withLock(join(area.machine, name), { clock, machineId: '0123456789ab', waitMs: 20_000 }, async () =>
      work(),
    );
  for (let n = 0; ; n += 1) {
    const command = commands[n % commands.length] ?? [];
    await buildInsight(
      {
        clock,
        store: senseStore(area),
        insights: insightStore(area.sense.insights),
        config: { enabled: true, exclude: [], insight: { command } },
        timezone: 'UTC',
        sessions: () => new Map(),
        run,
        env: process.env,
        inEmptyFolder: withTempFolder,
        alone: (work) => lock('insight.lock', work),
        locked: (work) => lock('sense.lock', work),
      },
      { force: true },
    );
    writeSync(1, `${n}\n`);
  }
}

void main(process.argv[2] ?? '');
