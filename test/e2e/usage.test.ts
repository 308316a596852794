import { expect } from 'chai';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Inbox } from '../../src/lib/inbox/row';
import type { Report } from '../../src/lib/report/model';
import type { Usage } from '../../src/lib/usage/rollup';
import { emptyHome, jsonOf, steward } from '../helpers/cli';
import { ask, startDaemon, until } from '../helpers/daemon';
import { notifyServer } from '../helpers/notify-server';
import { claudeLine, codexStart, codexTotals, lineOf } from '../helpers/usage';

describe('steward usage (built)', function () {
  this.timeout(60_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());
  const run = (...args: string[]) => steward(args, { home: home.path }); // prettier-ignore

  const log = (path: string, lines: readonly object[]): void => {
    const file = join(home.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.map(lineOf).join(''));
  };

  it('shows a day of two assistants in every view, in the week report, and until it is purged', async () => {
    expect((await run('usage')).stdout).to.include('No assistant logs found in:');
    const at = new Date().toISOString();
    log('.claude/projects/shop/s1.jsonl', [claudeLine({ id: 'm1', at, input: 1_000_000, output: 0 })]);
    log('.codex/sessions/rollout-1.jsonl', [...codexStart('c1', {}, at), codexTotals([500, 0, 50], at)]);
    const usage = jsonOf(await run('usage', '--by', 'assistant', '--json')) as Usage;
    const zero = { cacheRead: 0, cacheWrite: 0 };
    expect(usage).to.deep.equal({
      rows: [
        { key: 'claude-code', input: 1_000_000, output: 0, ...zero, cost: 5 },
        { key: 'codex', input: 500, output: 50, ...zero, cost: null },
      ],
      total: { input: 1_000_500, output: 50, ...zero, cost: 5, unpriced: 550 },
    });
    const shown = await run('usage', '--by', 'model');
    expect(shown.stdout).to.match(/test-model +500 +50 +0 +0 +unknown/);
    expect(shown.stdout).to.include('Unknown price: test-model');
    expect(shown.stderr).to.equal('');
    expect((await run('usage', '--csv')).stdout).to.equal(
      `key,input,output,cacheRead,cacheWrite,cost\r\n${at.slice(0, 10)},1000500,50,0,0,5\r\n`,
    );
    const week = jsonOf(await run('week', '--json')) as Report;
    expect(week.usage?.total.cost).to.equal(5);
    expect((await run('week')).stdout).to.include('- **5.00 USD**, claude-code: 1.00M in, 0 out');

    // Sense was never set up.
    const day = at.slice(0, 10);
    const files = readdirSync(home.path, { recursive: true, encoding: 'utf8' });
    const state = join(home.path, files.find((path) => path.endsWith(join('usage', 'logs.json'))) ?? '');
    writeFileSync(
      state,
      readFileSync(state, 'utf8').replace('"problems":[]', '"problems":["Codex: denied"]'),
    );
    expect((await run('status')).stdout).to.match(/usage +warning +Codex: denied/);
    writeFileSync(join(home.path, '.steward', 'usage', `${day}.json`), '{');
    expect(jsonOf(await run('usage', '--json')))
      .to.have.property('notes')
      .with.length(1);
    expect((await run('usage', '--csv')).stderr).to.match(/ is damaged and was skipped\.\n$/);
    expect((await run('sense', 'purge', '--of', day)).stdout).to.include(`token usage removed: ${day}`);
    expect(await run('sense', 'purge', '--of', `before ${day}`, '--yes')).to.include({ code: 0, stderr: '' });
    expect((await run('sessions', 'forget')).stdout).to.include(join('usage', `${at.slice(0, 10)}.json`));
    expect((await run('sessions', 'forget', '--yes')).code).to.equal(0);
    expect(jsonOf(await run('usage', '--json')))
      .to.have.property('rows')
      .that.deep.equals([]);
  });

  it('is purged by the path of its repository, unless another one has the same name', async () => {
    const [shop = '', other = ''] = ['a', 'b'].map((folder) => join(home.path, folder, 'shop'));
    for (const path of [shop, other].flatMap((repo) => ['HEAD', 'refs/x', 'objects/x'].map((name) => join(repo, '.git', name)))) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, '');
    }
    const at = new Date().toISOString();
    log('.claude/projects/shop/s1.jsonl', [claudeLine({ id: 'm1', at, cwd: shop })]);
    expect((await run('usage', '--by', 'repo')).stdout).to.include('shop');
    const purge = async () =>
      jsonOf(await steward(['sense', 'purge', '--repo', '.', '--yes', '--json'], { home: home.path, cwd: shop })) as { usage: string[]; repo: { unclear: string[] } };
    await run('config', 'set', 'sense.repos', `${shop},${other}`);
    const unclear = await purge();
    expect(unclear.usage).to.deep.equal([]);
    expect(unclear.repo.unclear).to.deep.equal([at.slice(0, 10)]);
    await run('config', 'remove', 'sense.repos', other);
    expect((await purge()).usage).to.deep.equal([at.slice(0, 10)]);
    expect(jsonOf(await run('usage', '--json'))).to.have.property('rows').that.deep.equals([]);
  }); // prettier-ignore

  it('announces a limit once, even if the daemon restarts, and shows it in status (slow)', async () => {
    const resets_at = Math.floor(Date.now() / 1000) + 3600;
    const input = JSON.stringify({ rate_limits: { five_hour: { used_percentage: 85, resets_at } } });
    expect((await steward(['statusline'], { home: home.path, input })).stdout).to.include('5 h 85%');
    expect((await run('status')).stdout).to.match(/usage +ok +Claude Code: 5 h 85% until /);
    const at = new Date().toISOString();
    log('.claude/projects/shop/s1.jsonl', [claudeLine({ id: 'm1', at, input: 1_000_000, output: 0 })]);
    await run('config', 'set', 'usage.budgets', '[{"per": "month", "usd": 4}]');
    for (let start = 0; start < 2; start += 1) {
      const daemon = await startDaemon({ home: home.path });
      try {
        await until('the job ran', async () => {
          const { jobs } = JSON.parse((await ask(`${daemon.url}/api/status`)).text) as {
            jobs: { id: string; lastOk: boolean | null }[];
          };
          return jobs.find(({ id }) => id === 'usage')?.lastOk === true;
        });
      } finally {
        await daemon.stop();
      }
      if (start > 0) break;
      // As if it had been killed before it stored what it sent; then more is spent.
      const announced = readdirSync(home.path, { recursive: true, encoding: 'utf8' });
      const [path = ''] = announced.filter((file) => file.endsWith(join('usage', 'announced.json')));
      rmSync(join(home.path, path));
      const more = claudeLine({ id: 'more', at, input: 100_000, output: 0 });
      appendFileSync(join(home.path, '.claude/projects/shop/s1.jsonl'), lineOf(more));
    }
    const history = jsonOf(await run('notify', 'history', '--json')) as { event: string; text: string }[];
    expect(history.map(({ event }) => event)).to.deep.equal(['limit', 'limit']);
    const texts = history.map(({ text }) => text).sort();
    expect(texts[0]).to.equal(
      '125% of the month budget is used: $5.00 of $4.00, now s1, claude-opus-4-8, $5.00 in 20 min.',
    );
    expect(texts[1]).to.match(/^Claude Code: 80% of the five-hour limit has been used\. It resets at /);
    const { rows } = jsonOf(await run('inbox', '--json')) as Inbox;
    expect(rows.map(({ kind, name, why }) => [kind, name, why])).to.deep.equal([
      ['budget', 'month budget', '137% used'],
    ]);
    expect((await run('statusline')).stdout).to.include('1 waiting');
    expect((await run('home')).stdout).to.include('month budget  137% used');
    expect((await run('inbox', 'done', 'month budget')).code).to.equal(0);
    expect(jsonOf(await run('inbox', '--json'))).to.have.property('count', 0);
  });

  it("doesn't take the limits that a bar shows for those of Claude Code", async () => {
    const at = new Date().toISOString();
    const limits = { primary: { used_percent: 83, window_minutes: 300, resets_in_seconds: 5000 } };
    log('.codex/sessions/rollout-1.jsonl', [...codexStart('c1', {}, at), codexTotals([5, 0, 5], at, limits)]);
    expect((await run('usage')).stdout).to.include('Codex: 5 h 83% until ');
    expect((await run('statusline', '--format', 'plain')).stdout).to.include('5 h 83%');
    expect((await run('usage')).stdout).not.to.include('Claude Code: 5 h');
  });

  it('explains wrong flags (slow)', async () => {
    for (const args of [
      ['--of', '0'],
      ['--by', 'colour'],
      ['--of', 'x'],
      ['--csv', '--json'],
      ['--check', '--by', 'repo'],
      ['--check', '--csv'],
    ]) {
      const { code, stderr } = await run('usage', ...args);
      expect(code, args.join(' ')).to.equal(2);
      expect(stderr).not.to.include(' at ');
    }
    expect((await run('usage', '--hook')).stderr).to.match(/^--hook needs --check\.\n/);
  });

  it('exits with 6 if a budget is used up, and denies a tool for a hook', async () => {
    expect((await run('usage', '--check')).stdout).to.match(/^No budget is set /);
    const budgets = '[{"per": "day", "usd": 4}, {"per": "month", "usd": 100}]';
    expect((await run('config', 'set', 'usage.budgets', budgets)).code).to.equal(0);
    expect((await run('config', 'set', 'usage.budgets', '[{"per": "day", "usd": 0}]')).code).to.equal(2);
    expect((await run('usage', '--check', '--hook')).stdout).to.equal('');
    const at = new Date().toISOString();
    log('.claude/projects/shop/s1.jsonl', [claudeLine({ id: 'm1', at, input: 1_000_000, output: 0 })]);
    const checked = await run('usage', '--check');
    expect(checked.code).to.equal(6);
    expect(checked.stdout).to.include(
      'day budget 125% used: $5.00 of $4.00, now s1, claude-opus-4-8, $5.00 in 20 min\nmonth budget 5% used',
    );
    expect((await run('status')).stdout).to.include('day budget 125%');
    const hook = await run('usage', '--check', '--hook');
    expect(hook.code).to.equal(0);
    expect(jsonOf(hook)).to.have.nested.property('hookSpecificOutput.permissionDecision', 'deny');
    expect(await run('usage', '--check', '--hook', '--json')).to.deep.equal(hook);
  });

  it('shows what a price update changes, uses it only with a yes, and goes back', async () => {
    const server = await notifyServer(() => ({
      status: 200,
      body: { 'test-model': { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 1e-3, output_cost_per_token: 1e-3 } },
    })); // prettier-ignore
    try {
      const at = new Date().toISOString();
      log('.codex/sessions/rollout-1.jsonl', [...codexStart('c1', {}, at), codexTotals([500, 0, 500], at)]);
      const list = async (...args: string[]) =>
        (jsonOf(await run('usage', 'prices', '--json', ...args)) as { rows: { model: string }[] }).rows;
      expect(await list()).to.have.length(20);
      expect((await run('usage', 'prices', 'haiku')).stdout).to.match(
        /^model .*\nclaude-haiku-4-5 +1 +5 .*\n\n/,
      );
      expect(await run('usage', 'prices', 'x-1')).to.include({ code: 5, stdout: '' });
      expect(server.got).to.deep.equal([]);
      await run('config', 'set', 'usage.priceTable', `${server.url}/prices.json?key=secret`);
      const preview = await run('usage', 'prices', 'update');
      expect(preview).to.include({
        code: 0,
        stderr: 'Nothing was changed. Add --yes to use these prices.\n',
      });
      expect(preview.stdout).to.match(
        /^added test-model: 1000 in, 1000 out, cache .*\n1 added, 0 changed, 0 removed/,
      );
      expect((await run('usage', '--by', 'model')).stdout).to.include('Unknown price: test-model');
      expect((await run('usage', 'prices', 'update', '--yes')).code).to.equal(0);
      const shown = await run('usage', '--by', 'model');
      expect(shown.stdout).to.match(/test-model .* \$1\.00\n/);
      expect(shown.stdout).not.to.include('Unknown price');
      const { host } = new URL(server.url);
      expect(await list('test-model')).to.have.nested.property('[0].source', host);
      expect((await list())[0]).to.include({ model: 'test-model', isUsed: true });
      const files = readdirSync(home.path, { recursive: true, encoding: 'utf8' });
      const [path = ''] = files.filter((file) => file.endsWith(join('usage', 'prices.json')));
      writeFileSync(join(home.path, path), '{"asOf"');
      expect((await run('status')).stdout).to.match(/usage +warning +damaged, so prices as of 2026-09-30/);
      expect((await run('usage', '--by', 'model')).stdout).to.include('Unknown price: test-model');
      const back = jsonOf(await run('usage', 'prices', 'update', '--shipped', '--yes', '--json'));
      expect(back).to.deep.equal({ changes: [], used: true });
      expect((await run('status')).stdout).not.to.include('damaged');
      expect(server.got).to.have.length(2);
    } finally {
      await server.close();
    }
  });
});
