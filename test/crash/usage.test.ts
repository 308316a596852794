import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

import { collectUsage } from '../../src/lib/usage/collect';
import { bundleChild, type Bundle } from '../helpers/bundle';
import { scratch } from '../helpers/scratch';
import { claudeLine, codexStart, codexTotals, usageBox } from '../helpers/usage';

describe('crash: reading usage', function () {
  this.timeout(120_000);
  const box = scratch();
  let child: Bundle;
  let fault: Bundle;
  before(() => {
    child = bundleChild('usage-once');
    fault = bundleChild('fault');
  });
  after(() => {
    child.remove();
    fault.remove();
  });

  const CLAUDE = '.claude/projects/-shop/s1.jsonl';
  const CODEX = '.codex/sessions/rollout-1.jsonl';
  const write = ({ log }: ReturnType<typeof usageBox>, part: 1 | 2): void => {
    const answers = [claudeLine({ id: 'm1' }), claudeLine({ id: 'm2', at: '2026-11-19T10:00:00.000Z' })];
    const more = [claudeLine({ id: 'm3' }), claudeLine({ id: 'm4', at: '2026-11-19T11:00:00.000Z' })];
    log(CLAUDE, part === 1 ? answers : [...answers, ...more]);
    const totals = [codexTotals([10, 0, 5]), codexTotals([20, 0, 9])];
    log(CODEX, [...codexStart('c1'), ...totals.slice(0, part)]);
  };

  for (const mode of ['kill', 'half']) {
    it(`neither loses nor doubles usage, whichever file change is the last (${mode})`, async () => {
      const whole = usageBox(box.path('whole'));
      write(whole, 2);
      await collectUsage(whole.deps);
      let at = 0;
      for (let isDone = false; !isDone;) {
        at += 1;
        const folder = box.path(`at-${at}`);
        mkdirSync(folder);
        const usage = usageBox(folder);
        write(usage, 1);
        await collectUsage(usage.deps);
        write(usage, 2);
        const { stdout, signal } = spawnSync(
          process.execPath,
          ['--require', fault.path, child.path, folder],
          {
            env: { ...process.env, TZ: 'UTC', FAULT_AT: String(at), FAULT_MODE: mode },
            encoding: 'utf8',
          },
        );
        isDone = stdout.includes('done');
        if (!isDone) expect(signal, 'killed').to.equal('SIGKILL');
        await collectUsage(usage.deps);
        expect(usage.rows(), `killed at change ${at}`).to.deep.equal(whole.rows());
      }
      expect(at).to.be.greaterThan(10);
    });
  }
});
