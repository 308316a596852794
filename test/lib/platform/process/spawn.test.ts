import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, delimiter, relative } from 'node:path';

import { findProgram } from '../../../../src/lib/platform/process/spawn';
import { scratch } from '../../../helpers/scratch';
import { script } from '../../../helpers/speech';

describe('platform/program', () => {
  const box = scratch();

  before(function () {
    if (process.platform === 'win32') this.skip();
  });

  it('finds a program in the first folder that has it', () => {
    for (const name of ['a', 'b']) mkdirSync(box.path(name));
    const second = script(box.path('b', 'tool'), '');
    const env = { PATH: [box.path('none'), box.path('a'), box.path('b')].join(delimiter) };
    expect(findProgram('tool', env)).to.equal(second);
    const first = script(box.path('a', 'tool'), '');
    expect(findProgram('tool', env)).to.equal(first);
    expect(findProgram('other', env)).to.equal(undefined);
  });

  it('takes no folder, no file that cannot be started, and nothing of the current folder', () => {
    mkdirSync(box.path('a', 'tool'), { recursive: true });
    mkdirSync(box.path('b'));
    writeFileSync(box.path('b', 'tool'), '', { mode: 0o600 });
    const before = process.cwd();
    try {
      script(box.path('tool'), '');
      process.chdir(box.path());
      expect(findProgram('tool', { PATH: ['', '.', box.path('a'), box.path('b')].join(delimiter) })).to.equal(
        undefined,
      );
    } finally {
      process.chdir(before);
    }
    expect(findProgram('tool', {})).to.equal(undefined);
  });

  it('takes nothing from the programs of a project', () => {
    const folder = box.path('shop', 'node_modules', '.bin');
    mkdirSync(folder, { recursive: true });
    script(join(folder, 'tool'), '');
    expect(findProgram('tool', { PATH: folder })).to.equal(undefined);
  });

  it('takes a path only if it is absolute', () => {
    const tool = script(box.path('tool'), '');
    expect(findProgram(tool, { PATH: '/usr/bin' })).to.equal(tool);
    expect(findProgram(box.path('none'), { PATH: '/usr/bin' })).to.equal(undefined);
    expect(findProgram(relative(process.cwd(), tool), { PATH: '/usr/bin' })).to.equal(undefined);
  });

  it('looks where the system does when there is no PATH at all', () => {
    expect(findProgram('sh', {})).to.be.oneOf(['/usr/bin/sh', '/bin/sh']);
    expect(findProgram('sh', { PATH: '' })).to.equal(undefined);
  });
});
