import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { emptyHome, jsonOf, steward } from '../helpers/cli';

describe('an area that two machines write (built)', function () {
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
    const { parts } = (await on(machine, 'status')) as { parts: { id: string; summary: string }[] };
    return parts.find(({ id }) => id === 'area')?.summary;
  };
  const foundOf = async (machine: string): Promise<string> =>
    JSON.stringify(await on(machine, 'doctor', 'area'));

  it('says so in doctor and status, on both, and counts the copies', async () => {
    await on('a', 'sense', 'capture');
    expect(await summaryOf('a')).to.equal(undefined);
    expect(await foundOf('a')).to.include('yours alone');
    const owner = join(home.path, '.steward/state/owner.json');
    const first = (JSON.parse(readFileSync(owner, 'utf8')) as { owner: string }).owner;

    await on('b', 'sense', 'capture');
    expect(JSON.parse(readFileSync(owner, 'utf8'))).to.have.property('owner', first);
    expect(await summaryOf('b')).to.include(`1 other machine wrote it in the last 7 days (${first})`);
    expect(await summaryOf('a')).to.include('1 other machine wrote it');
    expect(await foundOf('a'))
      .to.include('is shared')
      .and.not.to.include('yours alone');

    rmSync(owner);
    await on('a', 'sense', 'capture');
    expect(await summaryOf('a')).to.equal(undefined);
    const state = join(home.path, '.steward/sense/state');
    copyFileSync(`${state}.json`, `${state}.sync-conflict-20261120-101112-ABCDEFG.json`);
    const copy = 'sense/state.sync-conflict-20261120-101112-ABCDEFG.json';
    expect(await summaryOf('a')).to.include(`1 conflict copy, such as ${copy}`);
    expect(await foundOf('a')).to.include(copy);
  });
});
