import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { addDays, dayOf } from '../../src/lib/platform/time/time';
import type { UnionRecord } from '../../src/lib/time/machines/model';
import { testMachine, type TestMachine } from '../helpers/area-machines';
import { emptyHome } from '../helpers/cli';
import { campaign } from '../helpers/random';

const A = 'aaaaaaaaaaaa';
const B = 'bbbbbbbbbbbb';
const APPS = ['Code', 'Firefox', 'Slack'] as const;
const TODAY = dayOf(Date.now(), 'UTC');
const [yesterday, quiet, onlyOld, both, oldest] = [1, 2, 3, 4, 5].map((days) => addDays(TODAY, -days)) as [
  string,
  string,
  string,
  string,
  string,
];

describe('adopting a machine (built)', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => {
    home = emptyHome();
    mkdirSync(area('sense'), { recursive: true, mode: 0o700 });
    const config = { version: 1, enabled: true, sources: { appFocus: false }, repos: ['~/code', '~/alpha'] };
    writeFileSync(area('sense/config.json'), JSON.stringify(config));
  });
  afterEach(() => home.remove());

  const area = (...names: string[]): string => join(home.path, 'area', ...names);
  const machine = (id: string): TestMachine =>
    testMachine({ id, home: join(home.path, id), area: area(), env: { TZ: 'UTC' } });
  const random = campaign('adopted overlaps');

  /** A day's log: minutes in front of applications, some of which another machine records too. */
  function putLog(folder: string, day: string): void {
    const events = Array.from({ length: 40 }, (_, minute) => minute)
      .filter(() => random.below(4) > 0)
      .map((minute) => ({
        ts: new Date(Date.parse(`${day}T00:10:00Z`) + minute * 60_000).toISOString(),
        ...{ type: 'app-focus', source: 'appFocus', app: random.pick(APPS) },
        detail: { intervalSec: 60, via: 'x11', idleSec: random.below(50) },
      }));
    mkdirSync(join(folder, 'sense/events'), { recursive: true, mode: 0o700 });
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    writeFileSync(join(folder, 'sense/events', `${day}.jsonl`), text);
  }

  function putUsage(folder: string, day: string, session: string): void {
    const amounts = { input: 10 + random.below(90), output: 5, cacheRead: 0, cacheWrite: 0 };
    const row = { assistant: 'claude-code', session, repo: null, model: 'm', ...amounts };
    const text = JSON.stringify({ version: 1, date: day, rows: [{ ...row, cacheWrite1h: 0, cost: 0 }] });
    mkdirSync(join(folder, 'usage'), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'usage', `${day}.json`), text);
  }

  interface Totals {
    days: object[];
    time: object[];
    usage: object;
  }

  /** What the reports of a machine show, without what names a machine. */
  async function totals(of: TestMachine): Promise<Totals> {
    const recent = await of.json<UnionRecord[]>('sense', 'recent', '--days', '5');
    const days = [await of.json<UnionRecord>('sense', 'today'), ...recent];
    const time = [];
    for (const { date } of days)
      time.push(
        await of.json<{ totalMinutes: number | null; rows: object[] }>('time', '--of', date, '--by', 'app'),
      );
    const { total } = await of.json<{ total: object }>('usage', '--of', 'last 7 days');
    return {
      days: days.map(({ date, totalMinutes, overlapMinutes = 0, apps, commits, hours, sessions }) => ({
        ...{ date, totalMinutes, overlapMinutes, apps, commits, hours, sessions: sessions.count },
      })),
      // A day on which the old machine saw nothing has no record afterwards.
      time: time.map(({ totalMinutes, rows }) => ({ totalMinutes: totalMinutes ?? 0, rows })),
      usage: total,
    };
  }

  it('keeps the totals of days that both machines recorded', async () => {
    const [old, own] = [machine(A), machine(B)];
    await old.json('sense', 'capture');
    await own.json('sense', 'capture');
    const guest = area('machines', B);
    for (const day of [oldest, both, onlyOld, yesterday, TODAY]) putLog(area(), day);
    for (const day of [oldest, both, quiet, yesterday, TODAY]) putLog(guest, day);
    for (const day of [both, onlyOld, TODAY]) putUsage(area(), day, 'old');
    for (const day of [both, quiet, TODAY]) putUsage(guest, day, 'own');
    old.commit('code', 'old');
    old.commit('alpha', 'only there');
    own.commit('code', 'new');
    for (const at of [old, own]) {
      await at.hook('session-start', `session-${at.id}`);
      await at.json('sense', 'capture');
    }
    // Only the published files still have the times of these days.
    for (const folder of [area(), guest])
      for (const day of [oldest, onlyOld])
        rmSync(join(folder, 'sense/events', `${day}.jsonl`), { force: true });
    for (const at of [old, own]) await at.json('sense', 'capture');
    const before = await totals(own);
    rmSync(old.home, { recursive: true });
    await own.json('sync', 'adopt', A);
    expect(await totals(own)).to.deep.equal(before);
    await own.json('sense', 'capture');
    expect(await totals(own)).to.deep.equal(before);
    const published = (id: string): string[] => readdirSync(area('exchange/machines', id, 'daily')).sort();
    const names = (...days: string[]): string[] => days.map((day) => `${day}.json`);
    expect(published(A)).to.deep.equal(names(oldest, both, yesterday, TODAY));
    expect(published(B)).to.deep.equal(names(oldest, both, onlyOld, quiet, yesterday, TODAY));
    const stored = JSON.parse(
      readFileSync(area('exchange/machines', B, 'daily', `${onlyOld}.json`), 'utf8'),
    ) as { spans: unknown[] };
    expect(stored.spans).not.to.deep.equal([]);
  });

  it("withdraws the old machine's data later if the exchange folder is missing, and reports it", async () => {
    const [old, own] = [machine(A), machine(B)];
    const [folder, away] = [join(home.path, 'exchange'), join(home.path, 'away')];
    await old.json('sense', 'capture');
    putLog(area(), yesterday);
    await old.json('sync', 'setup', folder);
    await own.json('sense', 'capture');
    expect(readdirSync(join(folder, 'machines'))).to.deep.equal([A, B]);
    const before = await totals(own);
    renameSync(folder, away);
    const { stdout } = await own.run(['sync', 'adopt', A]);
    expect(stdout).to.include(`Data published by ${A} has not been withdrawn yet: Exchange folder not found`);
    renameSync(away, folder);
    for (const command of [['status'], ['sync', 'status']]) {
      const shown = (await own.run(command)).stdout.replace(/\s+/g, ' ');
      expect(shown.toLowerCase(), command.join(' ')).to.include(`data of the adopted machine ${A} is still`);
    }
    await own.json('sense', 'capture');
    expect(readdirSync(join(folder, 'machines'))).to.deep.equal([B]);
    expect(await totals(own)).to.deep.equal(before);
    expect((await own.run(['status'])).stdout).not.to.include('still published');
  });

  it('publishes the days that both recorded for the old machine, until it is forgotten', async () => {
    const [old, own] = [machine(A), machine(B)];
    const folder = join(home.path, 'exchange');
    await old.json('sense', 'capture');
    await old.json('sync', 'setup', folder);
    await own.json('sense', 'capture');
    for (const at of [area(), area('machines', B)]) putLog(at, both);
    await own.json('sync', 'adopt', A);
    const published = (): string[] => readdirSync(join(folder, 'machines', A, 'daily'));
    expect(published()).to.deep.equal([`${both}.json`]);
    const expired = addDays(TODAY, -400);
    putLog(area('machines', A), expired);
    await own.json('sync', 'setup', folder);
    expect(published()).to.deep.equal([`${expired}.json`, `${both}.json`]);
    expect(readdirSync(area('machines', A, 'sense/events'))).to.deep.equal([`${both}.jsonl`]);
    const purge = await own.run(['sense', 'purge', '--all', '--records']);
    expect(purge.stderr).to.contain(`steward sync forget ${A} --yes`).and.to.contain(area('machines', A));
    await own.json('sync', 'forget', A, '--yes');
    await own.json('sync', 'setup', folder);
    expect(readdirSync(join(folder, 'machines'))).to.deep.equal([B]);
    expect(readdirSync(area('machines', A, 'sense/events'))).to.deep.equal([`${both}.jsonl`]);
  });

  it('withdraws an adopted machine from every exchange folder', async () => {
    const [old, own] = [machine(A), machine(B)];
    const [one, two] = [join(home.path, 'one'), join(home.path, 'two')];
    await old.json('sense', 'capture');
    putLog(area(), yesterday);
    await old.json('sync', 'setup', one);
    await own.json('sense', 'capture');
    renameSync(one, `${one}-away`);
    await own.json('sync', 'adopt', A);
    await own.json('sync', 'setup', two);
    renameSync(`${one}-away`, one);
    await own.json('sync', 'setup', one);
    expect(readdirSync(join(one, 'machines'))).to.deep.equal([B]);
    putLog(area('machines', A), yesterday);
    await own.json('sync', 'setup', one);
    await own.json('sync', 'leave', '--remove');
    expect(readdirSync(one)).to.deep.equal([]);
  });

  it('keeps the times of days without a log in another exchange folder', async () => {
    const own = machine(A);
    await own.json('sense', 'capture');
    for (const day of [both, quiet]) putLog(area(), day);
    await own.json('sense', 'capture');
    const folders = [join(home.path, 'exchange'), join(home.path, 'other')] as const;
    await own.json('sync', 'setup', folders[0]);
    rmSync(area('sense/events', `${both}.jsonl`));
    await own.json('sync', 'setup', folders[1]);
    for (const day of [both, quiet]) {
      const [first, second] = folders.map((folder) =>
        readFileSync(join(folder, 'machines', A, 'daily', `${day}.json`), 'utf8'),
      );
      expect(second, day).to.equal(first).and.to.include('"kind"');
    }
  });
});
