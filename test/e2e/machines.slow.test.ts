import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { osId } from '../../src/lib/platform/files/os-id';
import { dayOf } from '../../src/lib/platform/time/time';
import { BIN, cleanEnv, emptyHome } from '../helpers/cli';
import {
  foldersOf,
  storedCommits,
  storedHooks,
  storedNotifications,
  testMachine,
  publishedCommits,
  type TestMachine,
} from '../helpers/area-machines';
import { campaign } from '../helpers/random';

const A = 'aaaaaaaaaaaa';
const B = 'bbbbbbbbbbbb';

interface Today {
  date: string;
  commits: { count: number };
}

/** Runs a command and kills it after some time. */
async function killedRun(args: readonly string[], at: TestMachine, ms: number): Promise<void> {
  const env = cleanEnv(at.home, { STEWARD_HOME: at.area });
  const child = spawn(process.execPath, [BIN, ...args], { env, cwd: at.home, stdio: 'ignore' });
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  await once(child, 'close');
  clearTimeout(timer);
}

describe('an area that is synced whole (built)', function () {
  this.timeout(300_000);
  let home: ReturnType<typeof emptyHome>;
  let [a, b]: TestMachine[] = [];
  const area = (...names: string[]): string => join(home.path, 'area', ...names);
  const machine = (id: string): TestMachine => testMachine({ id, home: join(home.path, id), area: area() });
  const today = (): string => dayOf(Date.now(), 'UTC');

  beforeEach(async () => {
    home = emptyHome();
    mkdirSync(area(), { mode: 0o700 });
    [a, b] = [machine(A), machine(B)];
    mkdirSync(area('sense'), { mode: 0o700 });
    // Each machine has a repository of its own at the same path.
    const config = { version: 1, enabled: true, repos: ['~/code'] };
    writeFileSync(area('sense/config.json'), JSON.stringify(config));
  });
  afterEach(() => home.remove());

  const both = (): [TestMachine, TestMachine] => {
    if (a === undefined || b === undefined) throw new Error('no machines');
    return [a, b];
  };

  it('loses and doubles nothing of what two machines do in any order', async () => {
    const [first, second] = both();
    const random = campaign('two machines, one area');
    const commits: string[] = [];
    const hooks: string[] = [];
    const notes: string[] = [];
    await first.json('sense', 'capture');
    for (let round = 0; round < 8; round += 1) {
      const works = [first, second].map(async (at) => {
        const step = random.pick(['commit', 'hook', 'notify', 'capture'] as const);
        if (step === 'commit') commits.push(at.commit('code', `change ${round}`));
        else if (step === 'hook') {
          const session = `${at.id}-${round}`;
          hooks.push(session);
          await at.hook('session-start', session);
        } else if (step === 'notify') {
          const text = `message ${at.id} ${round}`;
          notes.push(text);
          await at.json('notify', 'send', text);
        } else await at.json('sense', 'capture');
      });
      await Promise.all(works);
    }
    for (const at of [first, second, first]) await at.json('sense', 'capture');
    expect([...new Set(storedCommits(area()))].sort()).to.deep.equal(commits.sort());
    expect(storedCommits(area())).to.have.length(commits.length);
    expect(storedHooks(area()).sort()).to.deep.equal(hooks.sort());
    expect(publishedCommits(area(), today())).to.equal(commits.length);
    for (const at of [first, second])
      expect((await at.json<Today>('sense', 'today')).commits.count).to.equal(commits.length);
    expect(storedNotifications(area()).sort()).to.deep.equal(notes.sort());
    const { checks } = await second.json<{ checks: { id: string; state: string }[] }>('doctor', 'area');
    expect(checks.find(({ id }) => id === 'area.folder')?.state).to.equal('warning');
  });

  it('keeps what a person edits the same for both', async () => {
    const [first, second] = both();
    await first.json('sense', 'capture');
    await second.json('sense', 'capture');
    await second.json('config', 'set', 'da.name', 'Robin');
    expect(existsSync(area('machines', B, 'config.yaml'))).to.equal(false);
    expect(JSON.stringify(await first.json('config', 'show'))).to.include('Robin');
  });

  it("reports Syncthing's conflict copies of logs, and reads the logs alone", async () => {
    const [first] = both();
    first.commit('code', 'one');
    first.commit('code', 'two');
    await first.json('sense', 'capture');
    const log = area('sense/events', `${today()}.jsonl`);
    const copy = log.replace('.jsonl', '.sync-conflict-20261123-101112-ABCDEFG.jsonl');
    copyFileSync(log, copy);
    await first.json('sense', 'capture');
    expect((await first.json<Today>('sense', 'today')).commits.count).to.equal(2);
    expect(JSON.stringify(await first.json('doctor', 'area')))
      .to.include(`conflict copy of sense/events/${today()}.jsonl`)
      .and.to.include(`rm ${copy}`)
      .and.not.to.include('is private');
    await first.json('sense', 'purge', '--all', '--yes');
    expect(existsSync(copy)).to.equal(false);
  });

  it('gives a machine with wiped state its id back', async () => {
    const [first, second] = both();
    await first.json('sense', 'capture');
    await second.json('sense', 'capture');
    rmSync(join(first.home, '.local/state'), { recursive: true });
    const done = await first.run(['sense', 'today']);
    expect(done.stderr).to.include(`keeps its id, ${A}`);
    expect(readFileSync(join(first.home, '.local/state/steward/machine-id'), 'utf8')).to.equal(`${A}\n`);
  });

  it('gives a cloned disk a new id, and loses nothing that its hooks wrote before', async function () {
    // A system without an id of its own can't tell a clone from the original.
    if (osId() === undefined) this.skip();
    const [first] = both();
    await first.json('sense', 'capture');
    await first.hook('session-start', 'before');
    // The same machine-local state on a system whose id has another hash.
    const owner = JSON.parse(readFileSync(area('state/owner.json'), 'utf8')) as object;
    writeFileSync(area('state/owner.json'), `${JSON.stringify({ ...owner, os: 'f'.repeat(32) })}\n`);
    await first.hook('prompt', 'before');
    const done = await first.run(['sense', 'capture']);
    expect(done.stderr)
      .to.include(`The id ${A} belongs to another machine`)
      .and.to.include(`sync adopt ${A}`);
    const id = readFileSync(join(first.home, '.local/state/steward/machine-id'), 'utf8').trim();
    expect(id).not.to.equal(A);
    await first.hook('session-start', 'after');
    expect(readFileSync(area('machines', id, 'state/work-events.jsonl'), 'utf8')).to.include('after');
    expect(storedHooks(area()).sort()).to.deep.equal(['after', 'before', 'before']);
    expect(readFileSync(area('state/owner.json'), 'utf8')).to.include(A);
  });

  it('has one owner after first writes that were killed', async () => {
    const [first, second] = both();
    const random = campaign('killed first writes');
    for (let round = 0; round < 12; round += 1) {
      const at = random.pick([first, second]);
      await killedRun(['sense', 'capture'], at, random.below(400));
    }
    for (const at of [first, second]) await at.json('sense', 'capture');
    const owners = foldersOf(area()).map((folder) => {
      const text = readFileSync(join(folder, 'state/owner.json'), 'utf8');
      return (JSON.parse(text) as { owner: string }).owner;
    });
    expect(owners.sort()).to.deep.equal([A, B]);
    expect(readdirSync(area('machines'))).to.have.length(1);
    for (const at of [first, second])
      expect(readFileSync(join(at.home, '.local/state/steward/machine-id'), 'utf8')).to.equal(`${at.id}\n`);
  });

  it('adopts the owner: its id, queue and history become those of the new machine', async () => {
    const [first, second] = both();
    const old = first.commit('code', 'old');
    await first.json('sense', 'capture');
    mkdirSync(area('state/outbox'), { recursive: true });
    const name = '20261123T101112123Z-0123456789ab.push.json';
    const delivery = {
      ...{ version: 1, id: name.slice(0, 32), channel: 'push', machine: A, at: '2026-11-23T10:11:12.123Z' },
      ...{
        event: 'taskComplete',
        priority: 3,
        message: 'm',
        tags: [],
        silent: false,
        nextAt: '2026-11-23T10:11:12.123Z',
      },
      ...{ attempts: 0, interrupted: 0, sentParts: 0 },
    };
    writeFileSync(area('state/outbox', name), JSON.stringify(delivery));
    rmSync(first.home, { recursive: true });
    const fresh = second.commit('code', 'new');
    await second.hook('session-start', 's2');
    await second.json('sense', 'capture');
    expect(await second.json('sync', 'adopt', A)).to.deep.equal({ adopted: A, folder: area() });
    expect(readFileSync(join(second.home, '.local/state/steward/machine-id'), 'utf8')).to.equal(`${A}\n`);
    expect(JSON.parse(readFileSync(area('state/outbox', name), 'utf8'))).to.have.property('machine', A);
    const owner = JSON.parse(readFileSync(area('state/owner.json'), 'utf8')) as object;
    expect(owner).to.include({ owner: A });
    expect(storedCommits(area()).sort()).to.deep.equal([old, fresh].sort());
    await second.json('sense', 'capture');
    expect((await second.json<Today>('sense', 'today')).commits.count).to.equal(2);
    expect(JSON.stringify(await second.json('sessions'))).to.include('s2');
    expect((await second.run(['sync', 'adopt', A])).code).to.equal(0);
    expect((await second.run(['sync', 'adopt', 'cccccccccccc'])).code).not.to.equal(0);
  });
});
