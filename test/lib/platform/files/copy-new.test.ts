import { expect } from 'chai';
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';

import {
  copyFolderNew,
  copyNew,
  holdsAllOf,
  sameBytes,
  sweepFolderCopies,
} from '../../../../src/lib/platform/files/copy-new';
import { scratch } from '../../../helpers/scratch';

describe('platform: copies to where nothing stands', () => {
  const folder = scratch();
  const write = (name: string, text: string): string => {
    writeFileSync(folder.path(name), text);
    return folder.path(name);
  };

  it('copies a file whole, private, with its date; what stands there stays', () => {
    const from = write('from', 'x'.repeat(600_000));
    utimesSync(from, 1_700_000_000, 1_700_000_000);
    expect(copyNew(from, folder.path('to'))).to.equal(true);
    expect(sameBytes(from, folder.path('to'))).to.equal(true);
    const { mode, mtimeMs } = statSync(folder.path('to'));
    expect([mode & 0o777, mtimeMs]).to.deep.equal([0o600, 1_700_000_000_000]);
    write('mine', 'mine');
    expect(copyNew(from, folder.path('mine'))).to.equal(false);
    expect(readFileSync(folder.path('mine'), 'utf8')).to.equal('mine');
    expect(readdirSync(folder.path()).sort()).to.deep.equal(['from', 'mine', 'to']);
  });

  it('refuses a link, and leaves nothing of it', () => {
    symlinkSync(write('from', 'x'), folder.path('link'));
    expect(() => copyNew(folder.path('link'), folder.path('to'))).to.throw(/link/);
    expect(readdirSync(folder.path()).sort()).to.deep.equal(['from', 'link']);
  });

  it('copies a folder at once, without the links in it', () => {
    mkdirSync(folder.path('from', 'deep'), { recursive: true });
    write('from/a', 'a');
    write('from/deep/b', 'b');
    symlinkSync('/etc/passwd', folder.path('from', 'link'));
    expect(copyFolderNew(folder.path('from'), folder.path('to'))).to.equal(true);
    expect(readdirSync(folder.path('to')).sort()).to.deep.equal(['a', 'deep']);
    expect(holdsAllOf(folder.path('to'), folder.path('from'))).to.equal(true);
    expect(copyFolderNew(folder.path('from'), folder.path('to'))).to.equal(false);
    write('from/deep/b', 'c');
    expect(holdsAllOf(folder.path('to'), folder.path('from'))).to.equal(false);
    expect(readdirSync(folder.path()).sort()).to.deep.equal(['from', 'to']);
  });

  it('sweeps what a killed copy has left, and nothing else', () => {
    mkdirSync(folder.path('.slug.0123456789ab.import'));
    mkdirSync(folder.path('.own'));
    sweepFolderCopies(folder.path());
    expect(readdirSync(folder.path())).to.deep.equal(['.own']);
  });

  it('tells files apart whose last byte differs', () => {
    const [a, b] = [write('a', `${'x'.repeat(300_000)}1`), write('b', `${'x'.repeat(300_000)}2`)];
    expect([sameBytes(a, a), sameBytes(a, b)]).to.deep.equal([true, false]);
  });
});
