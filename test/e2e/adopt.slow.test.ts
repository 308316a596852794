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
  function putLog(folder: string, id: string, day: string): void {
    const events = Array.from({ length: 40 }, (_, minute) => minute)
      .filter(() => random.below(4) > 0)
      .map((minute) => ({
        ts: new Date(Date.parse(`${day}T00:10:00Z`) + minute * 60_000).toISOString(),
        ...{ type: 'app-focus', source: 'appFocus', app: random.pick(APPS) },
        detail: { intervalSec: 60, via: 'x11', idleSec: random.below(50), machine: id },
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

  /**
   * What the reports of a machine show, without what names a machine. For time at two machines at once, the later input
   * decides which application counts: before an adoption span by span, afterwards event by event.
   */
  async function totals(of: TestMachine, shared: readonly string[]): Promise<Totals> {
    const recent = await of.json<UnionRecord[]>('sense', 'recent', '--days', '5');
    const days = [await of.json<UnionRecord>('sense', 'today'), ...recent];
    const time = [];
    for (const { date } of days) {
      const { totalMinutes, rows } = await of.json<{ totalMinutes: number | null; rows: object[] }>(
        ...['time', '--of', date, '--by', 'app'],
      );
      // A day on which the old machine saw nothing has no record afterwards.
      time.push({ totalMinutes: totalMinutes ?? 0, rows: shared.includes(date) ? undefined : rows });
    }
    const { total } = await of.json<{ total: object }>('usage', '--of', 'last 7 days');
    return {
      days: days.map(({ date, totalMinutes, apps, commits, hours, sessions }) => ({
        ...{ date, totalMinutes, commits, sessions: sessions.count },
        ...(shared.includes(date) ? {} : { apps, hours }),
      })),
      time,
      usage: total,
    };
  }

  it('keeps the totals of days that both machines recorded', async () => {
    const [old, own] = [machine(A), machine(B)];
    await old.json('sense', 'capture');
    await own.json('sense', 'capture');
    const guest = area('machines', B);
    const shared = [oldest, both, yesterday, TODAY];
    for (const day of [oldest, both, onlyOld, yesterday, TODAY]) putLog(area(), A, day);
    for (const day of [oldest, both, quiet, yesterday, TODAY]) putLog(guest, B, day);
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
    const before = await totals(own, shared);
    rmSync(old.home, { recursive: true });
    await own.json('sync', 'adopt', A);
    expect(await totals(own, shared)).to.deep.equal(before);
    await own.json('sense', 'capture');
    expect(await totals(own, shared)).to.deep.equal(before);
    expect(readdirSync(area('exchange/machines'))).to.deep.equal([A]);
    const days = [oldest, both, onlyOld, quiet, yesterday, TODAY].map((day) => `${day}.json`);
    expect(readdirSync(area('exchange/machines', A, 'daily')).sort()).to.deep.equal(days);
    const stored = JSON.parse(
      readFileSync(area('exchange/machines', A, 'daily', `${onlyOld}.json`), 'utf8'),
    ) as { spans: unknown[] };
    expect(stored.spans).not.to.deep.equal([]);
  });

  it('changes nothing while the exchange folder is missing, and says so', async () => {
    const [old, own] = [machine(A), machine(B)];
    const [folder, away] = [join(home.path, 'exchange'), join(home.path, 'away')];
    await old.json('sense', 'capture');
    putLog(area(), A, yesterday);
    await old.json('sync', 'setup', '--create', folder);
    await own.json('sense', 'capture');
    putLog(area('machines', B), B, yesterday);
    await own.json('sense', 'capture');
    expect(readdirSync(join(folder, 'machines'))).to.deep.equal([A, B]);
    const before = await totals(own, [yesterday]);
    renameSync(folder, away);
    const { code, stderr } = await own.run(['sync', 'adopt', A]);
    expect(code).to.equal(8);
    expect(stderr).to.include('Exchange folder not found').and.to.include('Connect the drive');
    renameSync(away, folder);
    expect(await totals(own, [yesterday])).to.deep.equal(before);
    await own.json('sync', 'adopt', A);
    expect(readdirSync(join(folder, 'machines'))).to.deep.equal([A]);
    expect(await totals(own, [yesterday])).to.deep.equal(before);
  });

  it('purges the days of both machines from the exchange folder', async () => {
    const [old, own] = [machine(A), machine(B)];
    const folder = join(home.path, 'exchange');
    await old.json('sense', 'capture');
    await old.json('sync', 'setup', '--create', folder);
    await own.json('sense', 'capture');
    putLog(area(), A, both);
    putLog(area('machines', B), B, both);
    putLog(area('machines', B), B, quiet);
    await own.json('sync', 'adopt', A);
    const published = (): string[] => readdirSync(join(folder, 'machines', A, 'daily'));
    expect(published()).to.include.members([`${both}.json`, `${quiet}.json`]);
    await own.run(['sense', 'purge', '--all', '--records', '--yes']);
    expect(published().filter((name) => name < TODAY)).to.deep.equal([]);
    expect(
      readdirSync(area('sense/events')).concat(readdirSync(area('machines', B, 'sense/events'))),
    ).to.deep.equal([]);
  });

  it('removes its former files from every exchange folder', async () => {
    const [old, own] = [machine(A), machine(B)];
    const [one, two] = [join(home.path, 'one'), join(home.path, 'two')];
    await old.json('sense', 'capture');
    putLog(area(), A, yesterday);
    for (const folder of [one, two]) {
      await old.json('sync', 'setup', '--create', folder);
      await own.json('sense', 'capture');
      expect(readdirSync(join(folder, 'machines'))).to.deep.equal([A, B]);
    }
    await own.json('sync', 'adopt', A);
    expect(readdirSync(join(two, 'machines'))).to.deep.equal([A]);
    await own.json('sync', 'setup', '--create', one);
    expect(readdirSync(join(one, 'machines'))).to.deep.equal([A]);
    await own.json('sync', 'leave', '--remove');
    expect(readdirSync(one)).to.deep.equal([]);
  });

  it('keeps the times of days without a log in another exchange folder', async () => {
    const own = machine(A);
    await own.json('sense', 'capture');
    for (const day of [both, quiet]) putLog(area(), A, day);
    await own.json('sense', 'capture');
    const folders = [join(home.path, 'exchange'), join(home.path, 'other')] as const;
    await own.json('sync', 'setup', '--create', folders[0]);
    rmSync(area('sense/events', `${both}.jsonl`));
    await own.json('sync', 'setup', '--create', folders[1]);
    for (const day of [both, quiet]) {
      const [first, second] = folders.map((folder) =>
        readFileSync(join(folder, 'machines', A, 'daily', `${day}.json`), 'utf8'),
      );
      expect(second, day).to.equal(first).and.to.include('"kind"');
    }
  });
});
