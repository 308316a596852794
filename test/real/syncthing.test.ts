import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { connectSyncthing, findSyncthing, syncthingStatus } from '../../src/lib/sync/syncthing';
import { until } from '../helpers/daemon';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';
import { startSyncthing, type RealSyncthing } from '../helpers/syncthing';

describe('sync: real Syncthing', function () {
  this.timeout(180_000);
  before(function () {
    requirePrograms(this as Mocha.Context, { syncthing: 'syncthing' });
  });
  const { path } = scratch();
  let machines: RealSyncthing[] = [];
  afterEach(async () => {
    await Promise.all(machines.map((machine) => machine.stop()));
    machines = [];
  });

  it('finds the address and the key in its configuration', async () => {
    machines = await startSyncthing([path('home', '.config', 'syncthing')]);
    const access = findSyncthing({ platform: 'linux', env: {}, home: path('home') });
    const text = readFileSync(path('home', '.config', 'syncthing', 'config.xml'), 'utf8');
    expect(text).to.include(`<apikey>${access?.apiKey}</apikey>`);
    expect(text).to.include(access?.url.slice('http://'.length));
    expect(findSyncthing({ platform: 'linux', env: {}, home: path('none') })).to.equal(undefined);
  });

  it('carries the exchange folder to another machine, and only what steward writes there', async () => {
    machines = await startSyncthing([path('a'), path('b')]);
    const [a, b] = machines as [RealSyncthing, RealSyncthing];
    const folders = [path('folder-a'), path('folder-b')] as const;
    for (const folder of folders) mkdirSync(join(folder, 'machines'), { recursive: true });
    const connected = await connectSyncthing(a.api, folders[0]);
    expect(connected).to.deep.equal({ folder: 'steward-exchange', devices: [b.id.slice(0, 7)], added: true });
    await connectSyncthing(b.api, folders[1]);
    expect(await connectSyncthing(b.api, folders[1])).to.deep.include({ added: false });
    const own = join(folders[0], 'machines', 'aaaaaaaaaaaa');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'machine.json'), 'hello');
    writeFileSync(join(own, '.machine.json.0123456789ab.tmp'), 'temp');
    writeFileSync(join(folders[0], 'notes.txt'), 'private');
    const there = join(folders[1], 'machines', 'aaaaaaaaaaaa', 'machine.json');
    await until('the file arrives', () => existsSync(there), 120_000);
    expect(readFileSync(there, 'utf8')).to.equal('hello');
    await until('both are up to date', async () => {
      const status = await syncthingStatus(b.api, folders[1]);
      return status.state === 'idle' && status.needBytes === 0 && status.connected === 1;
    });
    expect(readdirSync(folders[1]).filter((name) => !name.startsWith('.st'))).to.deep.equal(['machines']);
    expect(readdirSync(join(there, '..'))).to.deep.equal(['machine.json']);
  });

  it('refuses to replace another folder of the same id, and reports a folder that it does not carry', async () => {
    machines = await startSyncthing([path('a')]);
    const [a] = machines as [RealSyncthing];
    mkdirSync(path('one'));
    mkdirSync(path('two'));
    await connectSyncthing(a.api, path('one'));
    let message = '';
    await connectSyncthing(a.api, path('two')).catch((error: unknown) => (message = String(error)));
    expect(message).to.include(`steward-exchange for ${path('one')}`);
    expect(await syncthingStatus(a.api, path('two'))).to.deep.include({ state: null });
  });
});
