import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';

import { StewardError } from '../../../../src/lib/errors';
import { systemClock } from '../../../../src/lib/platform/time/clock';
import {
  readInstallManifest,
  withInstallManifest,
  type InstallEntry,
} from '../../../../src/lib/platform/files/install-manifest';
import { scratch } from '../../../helpers/scratch';

const MACHINE = '0123456789ab';

function entry(id: string, over: Partial<InstallEntry> = {}): InstallEntry {
  return {
    id,
    kind: 'file',
    path: `/etc/${id}`,
    added: { lines: [1] },
    before: null,
    after: null,
    backups: [],
    at: '2026-11-20T08:14:00.000Z',
    machine: MACHINE,
    ...over,
  };
}

describe('platform: the install manifest', () => {
  const box = scratch();
  const path = (): string => box.path('state', 'install-manifest.json');
  const deps = (machineId = MACHINE) => ({
    area: { installManifest: path(), machine: box.path('machine') },
    clock: systemClock(),
    machineId,
  });
  const put = (text: string): void => {
    mkdirSync(box.path('state'), { recursive: true });
    writeFileSync(path(), text);
  };

  it('keeps one entry for each id and path, in order, and the file only while there are some', async () => {
    await withInstallManifest(deps(), (manifest) => {
      manifest.record(entry('a'));
      manifest.record(entry('b'));
      manifest.record(entry('a', { path: '/other' }));
      manifest.record(entry('a', { after: 'f00' }));
      expect(manifest.entries()).to.deep.equal([
        entry('b'),
        entry('a', { path: '/other' }),
        entry('a', { after: 'f00' }),
      ]);
      expect(manifest.find('a', '/etc/a')?.after).to.equal('f00');
    });
    expect(readInstallManifest(path(), MACHINE)).to.have.length(3);
    await withInstallManifest(deps(), (manifest) => {
      for (const { id, path: at } of manifest.entries()) manifest.forget(id, at);
      manifest.forget('a', 'again');
    });
    expect(existsSync(path())).to.equal(false);
    expect(readInstallManifest(path(), MACHINE)).to.deep.equal([]);
  });

  it('is on the disk as soon as an entry is recorded, whatever happens then', async () => {
    const failed = withInstallManifest(deps(), (manifest) => {
      manifest.record(entry('a'));
      expect(readInstallManifest(path(), MACHINE)).to.deep.equal([entry('a')]);
      throw new Error('power failure');
    });
    await failed.catch((error: Error) => expect(error.message).to.equal('power failure'));
    expect(readInstallManifest(path(), MACHINE)).to.deep.equal([entry('a')]);
    expect(readdirSync(box.path('machine'))).to.deep.equal([]);
  });

  it('shows a machine only what was installed on it, and keeps the rest, unknown fields too', async () => {
    await withInstallManifest(deps(), (manifest) => manifest.record(entry('a')));
    const stored = JSON.parse(readFileSync(path(), 'utf8')) as { entries: object[] };
    put(JSON.stringify({ ...stored, entries: stored.entries.map((one) => ({ ...one, later: 1 })) }));
    await withInstallManifest(deps('ba9876543210'), (manifest) => {
      expect(manifest.entries()).to.deep.equal([]);
      manifest.record(entry('a', { machine: 'ba9876543210' }));
      manifest.forget('a', '/etc/a');
    });
    expect(readInstallManifest(path(), MACHINE)).to.deep.equal([{ ...entry('a'), later: 1 }]);
  });

  it('lets one installer work at a time', async () => {
    const seen: string[] = [];
    const work = (name: string) =>
      withInstallManifest(deps(), async (manifest) => {
        seen.push(`${name} in`);
        await new Promise(setImmediate);
        manifest.record(entry(name));
        seen.push(`${name} out`);
      });
    await Promise.all(['a', 'b', 'c'].map(work));
    expect(seen.map((line) => line.slice(2))).to.deep.equal(['in', 'out', 'in', 'out', 'in', 'out']);
    expect(readInstallManifest(path(), MACHINE)).to.have.length(3);
  });

  it('refuses one that is damaged or of a newer version, and leaves it', async () => {
    const texts: [string, RegExp][] = [
      ['', /is damaged/],
      ['[]', /is damaged/],
      ['{"version": 1, "entries": [{"id": "a"}]}', /is damaged/],
      [JSON.stringify({ version: 1, entries: [{ ...entry('a'), backups: [{ path: 1 }] }] }), /is damaged/],
      ['{"version": 2, "entries": []}', /newer steward/],
    ];
    for (const [text, message] of texts) {
      put(text);
      let error: unknown;
      await withInstallManifest(deps(), (manifest) => manifest.record(entry('a'))).catch(
        (thrown: unknown) => (error = thrown),
      );
      expect(error, text).to.be.instanceOf(StewardError).with.property('kind', 'config');
      expect((error as StewardError).message).to.match(message);
      expect(readFileSync(path(), 'utf8')).to.equal(text);
    }
  });
});
