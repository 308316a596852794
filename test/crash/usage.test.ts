import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { collectUsage } from '../../src/lib/usage/collect';
import { announceOnce } from '../helpers/budgets';
import { bundleChild, type Bundle } from '../helpers/bundle';
import { READABLE, spender } from '../helpers/mixed-usage';
import { campaign, killsOr } from '../helpers/random';
import { scratch } from '../helpers/scratch';
import { claudeLine, codexStart, codexTotals, NOW, usageBox } from '../helpers/usage';

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

  it('announces each crossing of a budget at its log line, and once, whichever run was killed', async function () {
    this.timeout(killsOr(12) * 10_000);
    const budgetsOnce = bundleChild('budgets-once');
    const random = campaign('budgets');
    for (let kills = killsOr(12), round = 0; kills > 0; round += 1) {
      const folder = box.path(`round-${round}`);
      mkdirSync(folder);
      const usage = usageBox(folder);
      const spend = spender(usage, join(folder, 'home'), new Date(NOW - 60_000).toISOString());
      const steps = Array.from({ length: 12 }, () => 4000 * (1 + random.below(90)));
      const sums = steps.map((_, at) => steps.slice(0, at + 1).reduce((sum, tokens) => sum + tokens, 0));
      // 80% of the budget are used by a line exactly.
      const tokens = ((sums[random.below(9)] ?? 0) / 4) * 5;
      const budgets = [
        { per: 'day' as const, usd: (tokens * 10) / 1e6 },
        { per: 'week' as const, tokens: tokens + random.pick([-1, 0, 1]) },
      ];
      for (const [at, step] of steps.entries()) {
        spend(random.pick(READABLE), step);
        for (let tries = random.below(3); tries > 0; tries -= 1) {
          const env = {
            ...process.env,
            TZ: 'UTC',
            FAULT_MODE: 'kill',
            FAULT_AT: String(1 + random.below(16)),
          };
          const args = ['--require', fault.path, budgetsOnce.path, folder, JSON.stringify(budgets)];
          const { stdout, signal, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
          expect([stdout.includes('done'), signal === 'SIGKILL'], stderr).to.include(true);
          if (signal === 'SIGKILL') kills -= 1;
        }
        await announceOnce(folder, budgets);
        const sum = sums[at] ?? 0;
        const due = [tokens, budgets[1]?.tokens ?? 0].flatMap((most) =>
          [80, 100].map((percent) => sum * 100 >= most * percent),
        );
        const sent = new Set(sentIn(folder));
        const keys = ['day', 'week'].flatMap((per) =>
          ['80', '100'].map((percent) =>
            [...sent].some((key) => key.includes(per) && key.endsWith(`:${percent}`)),
          ),
        );
        // A line that crosses both announces the higher one.
        const isCrossed = due.map((is, place) => is && !(place % 2 === 0 && due[place + 1] === true));
        isCrossed.forEach((is, place) =>
          expect(!is || keys[place], `line ${at} of ${sums.join()}`).to.equal(true),
        );
        due.forEach((is, place) => expect(is || !keys[place], `line ${at} of ${sums.join()}`).to.equal(true));
        expect(sent.size).to.equal(keys.filter(Boolean).length);
      }
      const before = sentIn(folder).length;
      await announceOnce(folder, budgets);
      expect(sentIn(folder)).to.have.length(before);
    }
    budgetsOnce.remove();
  });

  const sentIn = (folder: string): string[] => {
    try {
      return readFileSync(join(folder, 'sent'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
});
