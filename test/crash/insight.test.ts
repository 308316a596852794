import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { withLock } from '../../src/lib/platform/files/lock';
import { withTempFolder } from '../../src/lib/platform/files/system-files';
import { run } from '../../src/lib/platform/process/process';
import { buildInsight, type BuildDeps } from '../../src/lib/sense/insight';
import { insightStore, latestInsight } from '../../src/lib/sense/insight-reads';
import { playAssistant } from '../helpers/assistant';
import { bundleChild } from '../helpers/bundle';
import { campaign, killsOr } from '../helpers/random';
import { commit, focus, senseBox } from '../helpers/sense';

const DAY = '2026-11-20';
const KILLS = killsOr(25);

describe('crash: the insight', function () {
  this.timeout(60_000 + KILLS * 5000);

  it(`keeps the last insight when killed ${KILLS} times, and works afterwards`, async () => {
    const box = senseBox(`${DAY}T12:00:00Z`);
    const assistant = playAssistant(join(box.home, 'assistant'));
    const random = campaign('insight');
    const lockOf = (name: string) => {
      const options = { clock: box.deps.clock, machineId: '0123456789ab', waitMs: 20_000 };
      return <T>(work: () => T | Promise<T>) =>
        withLock(join(box.area.machine, name), options, async () => work());
    };
    const insights = insightStore(box.area.sense.insights);
    const deps: BuildDeps = {
      ...box.deps,
      insights,
      config: { enabled: true, exclude: [], insight: { command: assistant.command('reply') } },
      sessions: () => new Map(),
      run,
      env: { PATH: process.env['PATH'], HOME: box.home },
      inEmptyFolder: withTempFolder,
      alone: lockOf('insight.lock'),
      locked: lockOf('sense.lock'),
    };
    const latest = () => latestInsight({ ...box.deps, insights });
    box.store.prepare();
    const events = [focus(`${DAY}T08:02:00Z`, 'Ghostty'), commit(`${DAY}T09:30:00Z`, 'app', 'a1')];
    writeFileSync(box.store.logOf(DAY), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    await buildInsight(deps, { force: false });
    const good = latest();
    const sh = (script: string): string[] => ['/bin/sh', '-c', script];
    const commands = [sh(`cat '${assistant.file('reply')}'`), sh('exit 3')];
    writeFileSync(join(box.home, 'commands.json'), JSON.stringify(commands));
    const bundle = bundleChild('insight-loop', ['picomatch']);
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const child = spawn(process.execPath, [bundle.path, box.home], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = once(child, 'exit');
        child.stdout.resume();
        await once(child.stdout, 'data');
        await new Promise((resolve) => setTimeout(resolve, random.next() * 25));
        child.kill('SIGKILL');
        await ended;
        const stored = JSON.parse(
          readFileSync(join(box.area.sense.insights, `${DAY}.json`), 'utf8'),
        ) as object;
        expect(stored, `kill ${kill}`).to.have.nested.property('read.narrative', good.narrative);
        expect(latest()).to.deep.include({ available: true, contentTypes: good.contentTypes });
      }
      const outcome = await buildInsight(deps, { force: true });
      expect(outcome, 'the lock of the killed one is taken over').to.include({ status: 'built' });
      expect(latest()).to.deep.equal(good);
      insights.prepare(Date.now() + 7_200_000);
      expect(readdirSync(box.area.sense.insights), 'no temp file is left').to.deep.equal([`${DAY}.json`]);
    } finally {
      bundle.remove();
      box.remove();
    }
  });
});
