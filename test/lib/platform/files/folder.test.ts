import { expect } from 'chai';
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';

import { toStewardError, type StewardError } from '../../../../src/lib/errors';
import {
  ensureFolder,
  exists,
  isOpenToOthers,
  listFolder,
  lstatOf,
  makePrivate,
  removeFile,
} from '../../../../src/lib/platform/files/folder';
import { scratch } from '../../../helpers/scratch';

describe('platform/folder', () => {
  const box = scratch();
  function failure(work: () => unknown): StewardError {
    try {
      work();
    } catch (error) {
      return toStewardError(error);
    }
    return expect.fail('it did not fail');
  }

  it('makes a private folder with its parents, and lets one that is there be', () => {
    ensureFolder(box.path('a', 'b'));
    writeFileSync(box.path('a', 'b', 'file'), '');
    ensureFolder(box.path('a', 'b'));
    expect(readdirSync(box.path('a', 'b'))).to.deep.equal(['file']);
    if (process.platform === 'win32') return;
    for (const path of [box.path('a'), box.path('a', 'b')])
      expect(statSync(path).mode & 0o777).to.equal(0o700);
  });

  it('refuses a file in its place, or above it', () => {
    writeFileSync(box.path('file'), '');
    const inPlace = failure(() => ensureFolder(box.path('file')));
    expect(inPlace).to.include({ kind: 'config', message: `${box.path('file')} is not a folder.` });
    expect(failure(() => ensureFolder(box.path('file', 'below'))).kind).to.equal('config');
  });

  it('comes to an end where the system makes no folders', function () {
    if (process.platform !== 'linux') this.skip();
    for (const path of ['/proc/zz', '/proc/1/zz/steward', '/proc/self/zz/a/b'])
      expect(failure(() => ensureFolder(path))).to.include({ kind: 'unavailable' });
  });

  it('makes folders below a link that leads to one', function () {
    if (process.platform === 'win32') this.skip();
    mkdirSync(box.path('real'));
    symlinkSync('real', box.path('link'));
    ensureFolder(box.path('link', 'a', 'b'));
    expect(readdirSync(box.path('real', 'a'))).to.deep.equal(['b']);
  });

  it('refuses a link, unless it may be one and leads to a folder', function () {
    if (process.platform === 'win32') this.skip();
    mkdirSync(box.path('real'));
    symlinkSync('real', box.path('link'));
    symlinkSync('nowhere', box.path('dangling'));
    expect(failure(() => ensureFolder(box.path('link')))).to.include({ kind: 'config' });
    ensureFolder(box.path('link'), { allowLink: true });
    for (const allowLink of [false, true]) {
      expect(failure(() => ensureFolder(box.path('dangling'), { allowLink })).kind).to.equal('config');
    }
    expect(exists(box.path('nowhere'))).to.equal(false);
  });

  it('takes access from others once', function () {
    if (process.platform === 'win32') this.skip();
    mkdirSync(box.path('open'));
    chmodSync(box.path('open'), 0o755);
    expect(isOpenToOthers(box.path('open'))).to.equal(true);
    expect(makePrivate(box.path('open'))).to.equal(true);
    expect(makePrivate(box.path('open'))).to.equal(false);
    expect(isOpenToOthers(box.path('open'))).to.equal(false);
    expect(isOpenToOthers(box.path('none'))).to.equal(false);
  });

  it('tells what stands at a path, a broken link too', function () {
    if (process.platform === 'win32') this.skip();
    writeFileSync(box.path('file'), '123');
    symlinkSync('nowhere', box.path('link'));
    expect(lstatOf(box.path('file'))).to.include({ size: 3, isFile: true, isFolder: false, isLink: false });
    expect(lstatOf(box.path())).to.include({ isFile: false, isFolder: true });
    expect(lstatOf(box.path('link'))).to.include({ isLink: true });
    expect(exists(box.path('link'))).to.equal(true);
    for (const none of [box.path('none'), box.path('file', 'below')]) {
      expect(lstatOf(none)).to.equal(undefined);
      expect(exists(none)).to.equal(false);
    }
  });

  it('lists what is there, and removes what may be gone', () => {
    expect(listFolder(box.path('none'))).to.deep.equal([]);
    writeFileSync(box.path('file'), '');
    expect(listFolder(box.path())).to.deep.equal(['file']);
    removeFile(box.path('file'));
    removeFile(box.path('file'));
    expect(listFolder(box.path())).to.deep.equal([]);
  });
});
