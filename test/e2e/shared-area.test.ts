import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { dayOf, systemZone } from '../../src/lib/platform/time/time';
import { emptyHome, jsonOf, steward } from '../helpers/cli';

describe('a user area that two machines write to (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());

  /** Another machine is another machine-local state. */
  const on = async (machine: string, ...args: string[]): Promise<unknown> => {
    const env = { XDG_STATE_HOME: join(home.path, machine) };
    const done = await steward([...args, '--json'], { home: home.path, env });
    expect(done.stdout, done.stderr).to.match(/^[[{]/);
    return jsonOf(done);
  };
  const summaryOf = async (machine: string): Promise<string | undefined> => {
    const { parts } = (await on(machine, 'status')) as { parts: { id: string; found: string }[] };
    return parts.find(({ id }) => id === 'area')?.found;
  };
  const foundOf = async (machine: string): Promise<string> =>
    JSON.stringify(await on(machine, 'doctor', 'area'));

  const areaPath = (...names: string[]): string => join(home.path, '.steward', ...names);
  /** A machine with an id, since a fresh state on the same system would be the owner's wiped state. */
  const setId = (machine: string, id: string): void => {
    mkdirSync(join(home.path, machine, 'steward'), { recursive: true });
    writeFileSync(join(home.path, machine, 'steward', 'machine-id'), `${id}\n`);
  };
  const B = 'bbbbbbbbbbbb';

  it('has an owner; the other machine writes below machines, and both report it', async () => {
    await on('a', 'sense', 'capture');
    expect(await summaryOf('a')).to.equal(undefined);
    expect(await foundOf('a')).to.include('is private');
    const text = readFileSync(areaPath('state/owner.json'), 'utf8');
    const first = (JSON.parse(text) as { owner: string }).owner;

    setId('b', B);
    await on('b', 'sense', 'capture');
    expect(readFileSync(areaPath('state/owner.json'), 'utf8')).to.equal(text);
    expect(existsSync(areaPath('machines', B, 'sense/state.json'))).to.equal(true);
    expect(await summaryOf('b')).to.include(
      `belongs to the machine ${first}; this machine writes to ${areaPath('machines', B)}`,
    );
    expect(await foundOf('b'))
      .to.include('steward sync setup FOLDER')
      .and.not.to.include('is private');
    expect(await summaryOf('a')).to.include(`1 other machine wrote to this folder in the last 7 days (${B})`);
    expect(await foundOf('a'))
      .to.include('is shared')
      .and.not.to.include('is private');
  });

  it('tells about another owner once', async () => {
    await on('a', 'sense', 'capture');
    setId('b', B);
    const env = { XDG_STATE_HOME: join(home.path, 'b') };
    const run = async (): Promise<string> =>
      (await steward(['sense', 'today'], { home: home.path, env })).stderr;
    expect(await run())
      .to.include(`this machine, ${B}, writes to`)
      .and.to.include('steward sync setup FOLDER');
    expect(await run()).to.equal('');
  });

  it('reports conflict copies of files, with the command that removes each', async () => {
    await on('a', 'sense', 'capture');
    const copy = areaPath('sense/state.sync-conflict-20261120-101112-ABCDEFG.json');
    copyFileSync(areaPath('sense/state.json'), copy);
    const edited = areaPath("config (Ann's conflicted copy 2026-11-22).yaml");
    writeFileSync(edited, '');
    const summary = await summaryOf('a');
    expect(summary).to.include(`conflict copy of sense/state.json: ${copy}`);
    expect(summary).to.include(`conflict copy of config.yaml: ${edited}`);
    expect(await foundOf('a'))
      .to.include(`rm ${copy}`)
      .and.not.to.include('is private');
  });

  it('reports an owner.json that is a folder or a link in one line, and still captures', async () => {
    await on('a', 'sense', 'capture');
    const owner = join(home.path, '.steward/state/owner.json');
    for (const make of [() => mkdirSync(owner), () => symlinkSync('/nowhere', owner)]) {
      rmSync(owner, { recursive: true });
      make();
      const captured = (await on('a', 'sense', 'capture')) as { problems: string[] };
      expect(captured.problems.join()).to.include(
        `cannot determine which machines write to this area: ${owner}`,
      );
      const { checks } = (await on('a', 'doctor', 'area')) as { checks: { id: string; state: string }[] };
      expect(checks.filter(({ id }) => id === 'area.folder').map(({ state }) => state)).to.deep.equal([
        'warning',
      ]);
      expect(checks.map(({ id }) => id)).to.include('area.logs');
    }
  });

  it('status counts unreadable spool entries at once, and doctor shows where they are', async () => {
    const spool = join(home.path, '.steward/state/spool');
    mkdirSync(spool, { recursive: true });
    writeFileSync(join(spool, '20261122T115500000Z-aaaaaaaaaaaa.prompt-matched.json'), '');
    const { parts } = (await on('a', 'status')) as { parts: { id: string }[] };
    expect(parts.find(({ id }) => id === 'queue')).to.deep.equal({
      id: 'queue',
      state: 'warning',
      found: '1 unreadable',
      fix: 'steward doctor hooks',
    });
    const found = JSON.stringify(await on('a', 'doctor', 'hooks'));
    expect(found).to.include(`1 entry in ${spool} cannot be read`);
  });

  for (const [what, put] of [
    ['a folder', (path: string): unknown => mkdirSync(path)],
    ['a dangling link', (path: string): void => symlinkSync('nowhere', path)],
  ] as const) {
    it(`status shows every other part if ${what} replaces a file`, async () => {
      await on('a', 'sense', 'capture');
      const area = join(home.path, '.steward');
      const events = join(area, 'sense/events');
      const log = join(events, `${dayOf(Date.now(), systemZone())}.jsonl`);
      mkdirSync(events, { recursive: true });
      for (const [path, inError] of [
        [join(area, 'state/owner.json'), ['area']],
        [log, ['sense']],
      ] as const) {
        rmSync(path, { force: true });
        put(path);
        const env = { XDG_STATE_HOME: join(home.path, 'a') };
        const done = await steward(['status', '--json'], { home: home.path, env });
        expect(done.code, done.stderr).to.equal(0);
        const { parts } = jsonOf(done) as { parts: { id: string; state: string; found: string }[] };
        const bad = parts.filter(({ state }) => state === 'failed');
        expect(bad.map(({ id }) => id)).to.deep.equal(inError);
        for (const { found } of bad) expect(found).to.include(path);
        expect(parts.map(({ id }) => id)).to.include.members(['sense', 'work', 'queue', 'daemon', 'jobs']);
        rmSync(path, { recursive: true });
      }
    });
  }
});
