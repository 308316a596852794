import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';

import { toStewardError, type StewardError } from '../../../../src/lib/errors';
import {
  createFile,
  readBytes,
  readText,
  replaceFile,
  sweepTemps,
} from '../../../../src/lib/platform/files/atomic-file';
import { bundleChild } from '../../../helpers/bundle';
import { scratch } from '../../../helpers/scratch';
import { long } from '../../../helpers/long';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('platform/atomic-file', () => {
  const box = scratch();
  const file = (): string => box.path('file');

  function failure(work: () => unknown): StewardError {
    try {
      work();
    } catch (error) {
      return toStewardError(error);
    }
    return expect.fail('it did not fail');
  }

  it('writes and replaces, private, and leaves nothing beside it', () => {
    replaceFile(file(), 'one');
    replaceFile(file(), 'größer 🦉');
    expect(readText(file())).to.equal('größer 🦉');
    if (process.platform !== 'win32') expect(modeOf(file())).to.equal(0o600);
    expect(readdirSync(box.path())).to.deep.equal(['file']);
  });

  it('writes bytes as they are, with the mode that is asked for', () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    replaceFile(file(), bytes, { mode: 0o640 });
    expect(readBytes(file())?.equals(bytes)).to.equal(true);
    if (process.platform !== 'win32') expect(modeOf(file())).to.equal(0o640);
  });

  it('gives a reader that has the old file open the old file to its end', () => {
    replaceFile(file(), 'old');
    const before = statSync(file()).ino;
    replaceFile(file(), 'new');
    expect(statSync(file()).ino).not.to.equal(before);
  });

  it('has nothing to read where there is no file', () => {
    expect(readText(file())).to.equal(undefined);
    expect(readText(box.path('no', 'folder', 'file'))).to.equal(undefined);
  });

  it('names the file, not its temp file, when the folder is missing', () => {
    const error = failure(() => replaceFile(box.path('no', 'file'), ''));
    expect(error.kind).to.equal('not_found');
    expect(error.message).to.equal(`No such file or folder: ${box.path('no', 'file')}`);
  });

  it('refuses a file over the bound', () => {
    writeFileSync(file(), '12345');
    expect(readText(file(), { maxBytes: 5 })).to.equal('12345');
    expect(failure(() => readText(file(), { maxBytes: 4 }))).to.include({ kind: 'config' });
  });

  it('creates a file once', () => {
    expect(createFile(file(), 'one')).to.equal(true);
    expect(createFile(file(), 'two')).to.equal(false);
    expect(readText(file())).to.equal('one');
    expect(readdirSync(box.path())).to.deep.equal(['file']);
  });

  it('sweeps temp files of long ago or of the future, and nothing else', () => {
    const now = Date.now();
    const temps = { old: '.a.0123456789ab.tmp', future: '.b.0123456789ab.tmp', young: '.c.0123456789ab.tmp' };
    const others = ['.a.tmp', 'a.0123456789ab.tmp', '.a.0123456789AB.tmp'];
    for (const name of [...Object.values(temps), ...others]) writeFileSync(box.path(name), '');
    for (const name of [temps.old, ...others]) utimesSync(box.path(name), now / 1000 - 100, now / 1000 - 100);
    utimesSync(box.path(temps.future), now / 1000 + 100, now / 1000 + 100);
    sweepTemps(box.path(), 60_000, now);
    expect(readdirSync(box.path()).sort()).to.deep.equal([...others, temps.young].sort());
  });

  describe('on a system with links, pipes and users', () => {
    before(function () {
      if (process.platform === 'win32') this.skip();
    });

    it('refuses a link, to read and to write, and touches nothing', () => {
      writeFileSync(box.path('target'), 'kept');
      symlinkSync(box.path('target'), file());
      for (const work of [() => replaceFile(file(), 'new'), () => readText(file())]) {
        const error = failure(work);
        expect(error.kind).to.equal('config');
        expect(error.message).to.equal(`${file()} is a symbolic link.`);
        expect(error.hint).to.be.a('string');
      }
      expect(readFileSync(box.path('target'), 'utf8')).to.equal('kept');
      expect(lstatSync(file()).isSymbolicLink()).to.equal(true);
    });

    it('writes through an own link when asked to, and keeps the link', () => {
      mkdirSync(box.path('dotfiles'));
      writeFileSync(box.path('dotfiles', 'config'), 'old');
      symlinkSync('dotfiles/config', file());
      replaceFile(file(), 'new', { followLink: true });
      expect(readlinkSync(file())).to.equal('dotfiles/config');
      expect(readText(file(), { followLink: true })).to.equal('new');
      expect(readdirSync(box.path('dotfiles'))).to.deep.equal(['config']);
    });

    it('says so when a link leads nowhere or in a circle', () => {
      symlinkSync('nowhere', file());
      symlinkSync('circle', box.path('circle'));
      for (const path of [file(), box.path('circle')]) {
        const error = failure(() => replaceFile(path, '', { followLink: true }));
        expect(error.kind).to.equal('config');
        expect(error.message).to.include('broken symbolic link');
      }
      expect(readText(file(), { followLink: true })).to.equal(undefined);
      expect(failure(() => readText(box.path('circle'), { followLink: true })).kind).to.equal('config');
    });

    it("follows no other user's link", function () {
      if (process.getuid?.() !== 0) this.skip();
      writeFileSync(box.path('target'), 'kept');
      symlinkSync(box.path('target'), file());
      execFileSync('chown', ['-h', '65534', file()]);
      expect(failure(() => replaceFile(file(), 'new', { followLink: true })).kind).to.equal('config');
      expect(failure(() => readText(file(), { followLink: true })).kind).to.equal('config');
      expect(readFileSync(box.path('target'), 'utf8')).to.equal('kept');
    });

    it('neither waits at a pipe nor replaces it', () => {
      execFileSync('mkfifo', [file()]);
      expect(failure(() => readText(file()))).to.include({
        kind: 'config',
        message: `${file()} is not a regular file.`,
      });
      expect(failure(() => replaceFile(file(), 'new')).kind).to.equal('config');
      expect(lstatSync(file()).isFIFO()).to.equal(true);
    });

    it('refuses a folder in its place', () => {
      mkdirSync(file());
      expect(failure(() => readText(file())).kind).to.equal('config');
      expect(failure(() => replaceFile(file(), 'new')).kind).to.equal('config');
      expect(readdirSync(box.path())).to.deep.equal(['file']);
    });

    long('says that a folder is read-only, and leaves the old content', () => {
      const bundle = bundleChild('write-once');
      try {
        writeFileSync(file(), 'old');
        chmodSync(file(), 0o644);
        chmodSync(box.path(), 0o555);
        const root = process.getuid?.() === 0;
        if (root) {
          chownSync(box.path(), 65534, 65534);
          chmodSync(bundle.path, 0o644);
          chmodSync(bundle.folder, 0o755);
        }
        const child = spawnSync(process.execPath, [bundle.path, 'replace', file()], {
          encoding: 'utf8',
          ...(root ? { uid: 65534, gid: 65534 } : {}),
        });
        expect(JSON.parse(child.stdout)).to.deep.equal({
          error: {
            kind: 'unavailable',
            message: `Permission denied: ${file()}`,
            hint: 'Change the permissions, or set STEWARD_HOME (on Linux also XDG_STATE_HOME) to a folder you own.',
          },
        });
        expect(readFileSync(file(), 'utf8')).to.equal('old');
        expect(readdirSync(box.path())).to.deep.equal(['file']);
      } finally {
        chmodSync(box.path(), 0o755);
        bundle.remove();
      }
      expect(existsSync(bundle.path)).to.equal(false);
    });
  });
});
