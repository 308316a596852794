import { expect } from 'chai';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Report } from '../../src/lib/report/model';
import { addDays } from '../../src/lib/platform/time/time';
import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { startGitHub } from '../helpers/github';

describe('standup and week (built)', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => {
    home = emptyHome();
  });
  afterEach(() => home.remove());

  const run = (args: string[], env: Record<string, string> = {}): Promise<StewardResult> =>
    steward(args, { home: home.path, env });
  const today = (): string => new Date().toISOString().slice(0, 10);

  function log(day: string, events: readonly object[]): void {
    const folder = join(home.path, '.steward', 'sense', 'events');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, `${day}.jsonl`), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  function eventsOf(day: string): object[] {
    const at = (time: string): string => `${day}T${time}:00.000Z`;
    return [
      { ts: at('09:00'), type: 'app-focus', source: 'appFocus', app: 'Code', detail: { intervalSec: 120 } },
      {
        ...{ ts: at('09:01'), type: 'git-commit', source: 'git', repo: 'site' },
        detail: { sha: `a${day}`, subject: `Fix #1 on ${day}`, authoredAt: at('09:01'), path: '/src/site' },
      },
    ];
  }

  it('reports stored data, the same bytes each time, and writes nothing', async () => {
    const [from, to] = [addDays(today(), -3), addDays(today(), -1)];
    log(from, eventsOf(from));
    log(to, eventsOf(to));
    const args = ['standup', '--of', `${from}..${to}`];
    const first = await run(args);
    expect([first.code, first.stderr]).to.deep.equal([0, '']);
    expect(first.stdout).to.match(/^# Standup · /);
    expect(first.stdout).to.include('2 commits, 0 sessions. **4 m tracked**: 4 m creation, 0 m consumption.');
    expect(first.stdout).to.include(`## Commits in site\n\n- Fix \`#1\` on ${from}\n- Fix \`#1\` on ${to}\n`);
    expect(first.stdout).to.match(/## Missing data\n\n- No data for /);
    expect((await run(args)).stdout).to.equal(first.stdout);
    const report = jsonOf(await run([...args, '--json'])) as Report;
    expect(report).to.deep.include({ from, to, totalMinutes: 4, issues: null });
    expect(report.commits.items.map(({ sha }) => sha)).to.deep.equal([`a${from}`, `a${to}`]);
    expect(readdirSync(join(home.path, '.steward'))).to.deep.equal(['sense']);
    const week = await run(['week', '--of', from]);
    expect(week.stdout).to.match(/^# Week · Mon /);
    const refused = await run(['standup', '--of', 'never', '--json']);
    expect([refused.code, refused.stdout]).to.deep.equal([2, '']);
    expect(refused.stderr).to.include('Invalid day');
  });

  it('lists the issues of the period, and fetches evidence only on request', async () => {
    const github = await startGitHub({ labels: true });
    try {
      const env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
      for (const args of [
        ['setup', 'ann/work'],
        ['add', 'Fix the login'],
        ['add', 'Make search fast', '--priority', 'P1'],
        ['close', '1', '--evidence', 'All tests pass'],
      ]) {
        const done = await run(['work', ...args], env);
        expect(done.code, done.stderr).to.equal(0);
      }
      log(today(), eventsOf(today()));
      const asked = github.seen.length;
      const plain = await run(['standup', '--of', 'today'], env);
      expect(plain.stdout).to.match(
        /## Done\n\n- \[#1\]\(\S+\) Fix the login \(a20\d\d-\d\)\n\n## New\n\n- \[#2\]\(\S+\) Make search fast \(P1\)\n/,
      );
      expect(github.seen.length, 'no request').to.equal(asked);
      const full = await run(['standup', '--of', 'today', '--evidence'], env);
      expect(full.stdout).to.match(/Fix the login \(\S+\) — All tests pass\n/);
      const day = addDays(today(), 2);
      await run(['work', 'remind', 'buy milk', '--at', `${day} 09:00`], env);
      for (const report of ['standup', 'week']) {
        expect((await run([report], env)).stdout, report)
          .to.include('Make search fast')
          .and.not.include('milk');
        expect((await run([report, '--reminders'], env)).stdout, report).to.include('buy milk');
      }
      expect(jsonOf(await run(['work', 'ready', '--json'], env))).to.have.length(1);
      const { items } = jsonOf(await run(['work', 'list', '--type', 'reminder', '--json'], env)) as { items: { due: string }[] }; // prettier-ignore
      expect(items.map(({ due }) => due.slice(0, 10))).to.deep.equal([day]);
      for (const view of ['list', 'board'])
        expect((await run(['work', view], env)).stdout, view).to.match(/buy milk +due \w{3} \d+ \w{3} 09:00/);
      github.fault = () => ({ status: 500 });
      const away = await run(['standup', '--of', 'today', '--evidence'], env);
      expect(away.code, away.stderr).to.equal(0);
      expect(away.stdout).to.include('- Closing comments: ');
    } finally {
      await github.close();
    }
  });
});
