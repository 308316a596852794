import { expect } from 'chai';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { addDays } from '../../src/lib/platform/time/time';
import type { DayDocument } from '../../src/lib/daemon/day-route';
import type { Report } from '../../src/lib/report/model';
import type { TimeReport } from '../../src/lib/time/ledger/rows';
import type { UnionRecord } from '../../src/lib/time/machines/model';
import type { Usage } from '../../src/lib/usage/rollup';
import { bareEnvironment } from '../helpers/git';
import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { signIn, startDaemon } from '../helpers/daemon';
import { MACHINES } from '../helpers/machines';

/** Three machines with one exchange folder, which every command reads without a sync tool in between. */
describe('several machines (built)', function () {
  this.timeout(180_000);
  const day = addDays(new Date().toISOString().slice(0, 10), -3);
  const quietDay = addDays(day, 2);
  const homes = MACHINES.map(() => emptyHome());
  const folder = mkdtempSync(join(tmpdir(), 'steward-exchange-'));
  after(() => {
    for (const home of homes) home.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (machine: number, ...args: string[]): Promise<StewardResult> =>
    steward(args, { home: homes[machine]?.path ?? '', env: { TZ: 'UTC' } });
  const record = async (machine: number, ...args: string[]): Promise<UnionRecord> =>
    jsonOf(await run(machine, 'sense', 'today', '--of', day, '--json', ...args)) as UnionRecord;

  function samples(from: string, minutes: number, app: string, repo?: string, date = day): object[] {
    return Array.from({ length: minutes }, (_, i) => ({
      ts: new Date(Date.parse(`${date}T${from}:00Z`) + (i + 1) * 60_000).toISOString(),
      ...{ type: 'app-focus', source: 'appFocus', app, ...(repo === undefined ? {} : { repo }) },
      detail: { intervalSec: 60, via: 'x11' },
    }));
  }
  const commit = (path: string, sha: string, subject: string): object => ({
    ...{ ts: `${day}T10:00:00.000Z`, type: 'git-commit', source: 'git', repo: 'shop' },
    detail: { sha, subject, identity: sha, path },
  });
  const repository = (home: string, name: string): string => {
    const path = join(home, name);
    expect(spawnSync('git', ['init', '-q', path], { env: bareEnvironment(home) }).status).to.equal(0);
    return path;
  };
  const session = (id: string): object => ({
    ...{ ts: `${day}T11:00:00.000Z`, type: 'agent-session', source: 'agentSession', repo: 'shop' },
    detail: { session: id, events: 3 },
  });

  before(async () => {
    const shops = homes.map(({ path }) => repository(path, 'shop'));
    const [first = '', second = ''] = shops;
    const logs = [
      [...samples('09:00', 60, 'Code', 'shop'), commit(first, 'c1', 'Add a cart'), commit(first, 'c2', 'Add a till'), session('s1')],
      [...samples('09:50', 40, 'Firefox'), commit(second, 'c2', 'Add a till'), commit(second, 'c3', 'Add a door'), session('s2')],
    ]; // prettier-ignore
    const times = ['08:00', '08:30', '08:45'].map((from) => samples(from, 40, 'Code', 'shop', quietDay));
    for (const [i, { id, name }] of MACHINES.entries()) {
      const home = homes[i]?.path ?? '';
      const state = join(home, '.local', 'state', 'steward');
      const events = join(home, '.steward', 'sense', 'events');
      for (const path of [state, events]) mkdirSync(path, { recursive: true, mode: 0o700 });
      writeFileSync(join(state, 'machine-id'), `${id}\n`);
      const put = (date: string, log: object[] = []): void =>
        writeFileSync(join(events, `${date}.jsonl`), log.map((event) => `${JSON.stringify(event)}\n`).join(''));
      if (logs[i] !== undefined) put(day, logs[i]);
      put(quietDay, times[i]);
      const repos = ['config', 'set', 'sense.repos', shops[i] ?? ''];
      for (const args of [repos, ['sense', 'capture'], ['sync', 'rename', name], ['sync', 'setup', '--create', folder]]) {
        const { code, stderr } = await run(i, ...args);
        expect(code, stderr).to.equal(0);
      }
    }
  }); // prettier-ignore

  it('shows the merged day on each machine', async () => {
    for (const machine of [0, 1, 2]) {
      const merged = await record(machine);
      expect(merged.commits, MACHINES[machine]?.name).to.deep.equal({
        count: 3,
        repos: [{ repo: 'shop', commits: 3 }],
      });
      expect(merged).to.include({ totalMinutes: 90, overlapMinutes: 10 });
      expect(merged.machines.slice(0, 2).map(({ name, minutes }) => [name, minutes])).to.deep.equal([
        ['laptop', 60],
        ['desktop', 30],
      ]);
    }
  });

  it('prints the same bytes on each machine', async () => {
    const outputs = await Promise.all(
      [0, 1, 2].map((machine) => run(machine, 'sense', 'today', '--of', quietDay, '--json')),
    );
    expect(new Set(outputs.map(({ stdout }) => stdout))).to.have.length(1);
    expect(JSON.parse(outputs[0]?.stdout ?? '')).to.include({ totalMinutes: 85, overlapMinutes: 35 });
  });

  it('shows which machines are merged, and which day of which is not recorded', async () => {
    const { stdout } = await run(0, 'sense', 'today', '--of', day);
    expect(stdout.replace(/\s+/g, ' ')).to.include(
      'machines: laptop 1 h 00 m · desktop 30 m · server not recorded · 10 m of overlap counted once',
    );
    expect((await record(0)).machines[2]).to.deep.equal({
      ...{ id: MACHINES[2].id, name: 'server', state: 'not-recorded', minutes: null },
    });
  });

  it('shows one machine with --machine, by name, id or "this"', async () => {
    const desktop = await record(0, '--machine', 'desktop');
    expect(desktop).to.include({ totalMinutes: 40 });
    expect(desktop.machines.map(({ name }) => name)).to.deep.equal(['desktop']);
    expect(await record(0, '--machine', 'bbb')).to.deep.equal(desktop);
    for (const name of ['this', 'laptop', 'aaaaaaaaaaaa']) {
      const own = await record(0, '--machine', name);
      expect(own).to.include({ totalMinutes: 60 }).and.not.to.have.property('machines');
      expect(own.sessions.items).to.deep.equal([{ session: 's1', events: 3 }]);
    }
  });

  it('names the known machines if a name is unknown', async () => {
    for (const command of [['sense', 'today'], ['sense', 'recent'], ['week'], ['standup'], ['time'], ['usage']]) {
      const { code, stderr } = await run(0, ...command, '--machine', 'phone');
      expect(code, command.join(' ')).to.equal(2);
      expect(stderr).to.include('Unknown machine: "phone"').and.to.include('desktop (bbbbbbbbbbbb)');
    }
  }); // prettier-ignore

  it('merges the other reports', async () => {
    const recent = jsonOf(await run(2, 'sense', 'recent', '--days', '3', '--json')) as UnionRecord[];
    expect(recent.map(({ date, totalMinutes }) => [date, totalMinutes])).to.deep.equal([
      [quietDay, 85],
      // No machine recorded this day.
      [addDays(day, 1), null],
      [day, 90],
    ]);
    expect(recent[2]?.ledger?.attention.map(({ app, minutes }) => [app, minutes])).to.deep.equal([
      ['Code', 60],
      ['Firefox', 30],
    ]);
    const time = jsonOf(await run(0, 'time', '--of', day, '--by', 'machine', '--json')) as TimeReport;
    expect(time).to.include({ totalMinutes: 90 });
    expect(time.rows.map(({ key, minutes }) => [key, minutes])).to.deep.equal([
      ['laptop', 60],
      ['desktop', 30],
    ]);
    const report = jsonOf(await run(0, 'standup', '--of', day, '--json')) as Report;
    expect(report).to.include({ totalMinutes: 90 });
    expect(report.commits.count).to.equal(3);
    expect(report.commits.items).to.have.length(2);
    expect(report.notKnown).to.include('No subjects for 1 commit: they are stored only on other machines.');
  }); // prettier-ignore

  it('merges in the HTTP API, with a timeline of each machine', async () => {
    const daemon = await startDaemon({ home: homes[0]?.path ?? '', env: { TZ: 'UTC' } });
    try {
      const headers = await signIn(homes[0]?.path ?? '', daemon.url);
      const get = async (path: string): Promise<unknown> =>
        (await fetch(`${daemon.url}${path}`, { headers })).json();
      const all = (await get(`/api/day?day=${day}`)) as DayDocument;
      expect(all.record).to.include({ totalMinutes: 90, overlapMinutes: 10 });
      expect(all.machines?.map(({ name, state }) => [name, state])).to.deep.equal([
        ['laptop', 'recorded'],
        ['desktop', 'recorded'],
        ['server', 'not-recorded'],
      ]);
      expect(all.commits.map(({ subject }) => subject)).to.deep.equal(['Add a cart', 'Add a till']);
      const [desktop] = all.others ?? [];
      expect(desktop).to.deep.include({ name: 'desktop', apps: [['Firefox', 'consumption']] });
      expect(desktop?.spans).to.deep.equal([[9 * 3600 + 50 * 60, 40 * 60, 0]]);
      const one = (await get(`/api/day?day=${day}&machine=desktop`)) as DayDocument;
      expect(one).to.deep.include({ raw: false, spans: [] });
      expect(one.record).to.include({ totalMinutes: 40 });
      const own = (await get(`/api/day?day=${day}&machine=this`)) as DayDocument;
      expect(own).to.not.have.any.keys('machines', 'others');
      const recent = (await get('/api/sense/recent?days=3')) as UnionRecord[];
      expect(recent.map(({ totalMinutes }) => totalMinutes)).to.deep.equal([85, null, 90]);
    } finally {
      await daemon.stop();
    }
  });

  it('reads the days of the others without a local day', async () => {
    const { code, stderr } = await run(2, 'sense', 'today', '--of', day, '--machine', 'this');
    expect(code).to.not.equal(0);
    expect(stderr).to.include('Nothing is stored');
    expect((await record(2)).machines[2]).to.include({ state: 'not-recorded' });
  });

  it('exports the intervals of all machines, or of the chosen one, and no second twice', async () => {
    const parsed = async (machine: number, ...args: string[]) => {
      const { stdout } = await run(machine, 'time', '--of', day, '--timewarrior', ...args);
      const msOf = (text: string): number =>
        Date.parse(text.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
      const rows = [...stdout.matchAll(/^inc (\S+) - (\S+) # "(.*)"$/gm)];
      return rows.map(([, from = '', to = '', key]) => ({ from: msOf(from), to: msOf(to), key }));
    };
    const minutesOf = (rows: { from: number; to: number }[]): number =>
      rows.reduce((sum, { from, to }) => sum + to - from, 0) / 60_000;
    const all = await parsed(0);
    for (const [index, { from }] of all.entries()) expect(from).to.be.at.least(all[index - 1]?.to ?? 0);
    expect(await parsed(1)).to.deep.equal(all);
    expect(await parsed(2)).to.deep.equal(all);
    const { totalMinutes } = (await record(0)) as { totalMinutes: number };
    expect(minutesOf(all)).to.be.closeTo(totalMinutes, 0.2);
    expect((await parsed(0, '--machine', 'desktop')).length).to.be.greaterThan(0);
    expect(await parsed(0, '--machine', 'desktop')).to.deep.equal(await parsed(1, '--machine', 'this'));
    const named = await parsed(2, '--by', 'machine');
    expect(new Set(named.map(({ key }) => key))).to.deep.equal(new Set(['laptop', 'desktop']));
    const ics = (await run(2, 'time', '--of', day, '--ics')).stdout;
    expect(ics.match(/BEGIN:VEVENT/g)).to.have.length(all.length);
  });

  it('names each unreadable file of another machine once', async () => {
    const own = join(folder, 'machines', MACHINES[1].id);
    const path = join(own, 'daily', `${day}.json`);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.slice(0, 100));
    mkdirSync(join(own, 'usage'), { recursive: true });
    const usage = join(own, 'usage', `${day}.json`);
    writeFileSync(usage, '{');
    const line = `Ignored unreadable file ${path}: damaged`;
    try {
      for (const args of [
        ['sense', 'today', '--of', day],
        ['sense', 'recent'],
        ['time', '--of', day],
      ]) {
        const { code, stderr } = await run(0, ...args);
        expect([code, stderr], args.join(' ')).to.deep.equal([0, `${line}\n`]);
      }
      const { notKnown } = jsonOf(await run(0, 'standup', '--of', day, '--json')) as Report;
      expect(notKnown.filter((note) => note.includes('unreadable'))).to.deep.equal([line]);
      const { notes } = jsonOf(await run(0, 'usage', '--json')) as Usage;
      expect(notes).to.deep.equal([`Ignored unreadable file ${usage}: damaged`]);
      const alone = await run(0, 'sense', 'today', '--of', day, '--machine', 'desktop');
      expect(alone.stderr).to.match(new RegExp(`^${line}\nNothing is stored for`));
    } finally {
      writeFileSync(path, text);
      rmSync(usage);
    }
  });

  it('shows a day whole on each machine after an older backup was restored on one', async () => {
    const shown = async (machine: number): Promise<UnionRecord> => {
      const { totalMinutes, machines, apps } = jsonOf(
        await run(machine, 'sense', 'today', '--of', quietDay, '--json'),
      ) as UnionRecord;
      return { totalMinutes, machines, apps } as UnionRecord;
    };
    const whole = await shown(1);
    const sense = join(homes[0]?.path ?? '', '.steward', 'sense');
    const log = join(sense, 'events', `${quietDay}.jsonl`);
    writeFileSync(log, readFileSync(log, 'utf8').split('\n').slice(0, 8).join('\n') + '\n');
    rmSync(join(sense, 'daily', `${quietDay}.json`));
    const first = await run(0, 'sense', 'capture');
    expect(first.stdout + first.stderr).to.contain(`Part of ${quietDay} is missing on this machine`);
    const second = await run(0, 'sense', 'capture');
    expect(second.stdout + second.stderr).to.not.contain('is missing on this machine');
    for (const machine of [0, 1]) expect(await shown(machine)).to.deep.equal(whole);
  });

  it('shows the last read of the others while the exchange folder is away, and says so', async () => {
    await run(0, 'sense', 'capture');
    const before = await record(0);
    const away = `${folder}-away`;
    renameSync(folder, away);
    try {
      const { stdout, stderr } = await run(0, 'sense', 'today', '--of', day, '--json');
      const shown = JSON.parse(stdout) as UnionRecord;
      expect(stderr).to.match(/^desktop: as of .*\d\d:\d\d, .* not reachable$/m);
      const withoutTimes = shown.machines.map(({ asOf, ...machine }) => {
        expect(typeof asOf, machine.name).to.equal(machine.name === 'laptop' ? 'undefined' : 'string');
        return machine;
      });
      expect({ ...shown, machines: withoutTimes }).to.deep.equal(before);
      expect((await run(0, 'sense', 'today', '--of', day, '--machine', 'desktop')).code).to.equal(0);
      expect((await run(0, 'time', '--of', day)).stderr).to.contain('not reachable');
      const { notes } = jsonOf(await run(0, 'usage', '--json')) as Usage;
      expect(notes?.filter((note) => note.includes('not reachable'))).to.have.length(2);
      const { notKnown } = jsonOf(await run(0, 'standup', '--of', day, '--json')) as Report;
      expect(notKnown.filter((note) => note.includes('not reachable'))).to.have.length(2);
      const state = join(homes[0]?.path ?? '', '.local', 'state', 'steward');
      const copy = readdirSync(state, { recursive: true, encoding: 'utf8' }).find((name) =>
        name.endsWith('received'),
      );
      rmSync(join(state, copy ?? 'no copy'), { recursive: true });
      const bare = await run(0, 'sense', 'today', '--of', day);
      expect(bare.stderr).to.contain(`Exchange folder not reachable: ${folder}. Other machines are missing.`);
    } finally {
      renameSync(away, folder);
    }
  });
});
