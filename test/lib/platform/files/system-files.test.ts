import { expect } from 'chai';
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { withTempFile, withTempFolder } from '../../../../src/lib/platform/files/system-files';
import { scratch } from '../../../helpers/scratch';

describe('platform/system-files: temporary folders', () => {
  const box = scratch();
  const { TMPDIR, TEMP } = process.env;
  beforeEach(() => {
    process.env['TMPDIR'] = process.env['TEMP'] = box.path();
  });
  afterEach(() => {
    for (const [name, value] of Object.entries({ TMPDIR, TEMP })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  /** As a process leaves one that is killed. */
  const abandoned = (): Promise<string> =>
    new Promise((resolve) => {
      void withTempFile('script.js', 'x', (path) => {
        resolve(dirname(path));
        return new Promise(() => undefined);
      });
    });
  const age = (path: string, minutes: number): void => {
    const at = Date.now() / 1000 - minutes * 60;
    utimesSync(path, at, at);
  };

  it('are removed after use, also after a failure', async () => {
    await withTempFile('a', 'text', () => Promise.resolve());
    await withTempFolder(() => Promise.reject(new Error('x'))).catch(() => undefined);
    expect(readdirSync(box.path())).to.deep.equal([]);
  });

  it('that a killed process left are removed by the next use, once they are old', async () => {
    const [old, young] = [await abandoned(), await abandoned()];
    age(old, 20);
    age(young, 5);
    const [file, folder, link] = ['steward-tmp-fileAA', 'steward-tmp-of-a-person', 'steward-tmp-linkAA'];
    mkdirSync(box.path('target'));
    writeFileSync(box.path('target', 'kept'), '');
    writeFileSync(box.path(file), '');
    mkdirSync(box.path(folder));
    symlinkSync(box.path('target'), box.path(link));
    for (const name of [file, folder, 'target']) age(box.path(name), 60);
    await withTempFolder(() => Promise.resolve());
    expect(readdirSync(box.path()).sort()).to.deep.equal(
      [basename(young), file, folder, link, 'target'].sort(),
    );
    expect(readdirSync(join(box.path('target')))).to.deep.equal(['kept']);
  });
});
