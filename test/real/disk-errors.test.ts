import { expect } from 'chai';
import { spawnSync } from 'node:child_process';

import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { requirePrograms } from '../helpers/real-part';

/** Errors that the kernel gives: some have no name in Node. */
describe('real: disk errors', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  before(function () {
    requirePrograms(this, { strace: 'strace' });
  });
  beforeEach(async () => {
    home = emptyHome();
    expect((await steward(['sense', 'init'], { home: home.path })).code).to.equal(0);
  });
  afterEach(() => home.remove());

  for (const [code, call, words] of [
    ['EDQUOT', 'fsync', 'Disk quota exceeded'],
    ['ESTALE', 'fsync', 'The network folder is no longer available'],
    ['EBUSY', 'rename', 'In use by another program'],
    ['ENODEV', 'fsync', 'The disk is no longer available'],
  ] as const) {
    it(`exits as unavailable, not as a bug: ${code}`, () => {
      const calls = call === 'rename' ? 'rename,renameat,renameat2' : call;
      const args = [
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        '-e',
        `trace=${calls}`,
        '-e',
        `inject=${calls}:error=${code}`,
      ];
      const { status, stderr } = spawnSync(
        'strace',
        [...args, process.execPath, BIN, 'sense', 'capture', '--json'],
        {
          cwd: home.path,
          env: cleanEnv(home.path),
          encoding: 'utf8',
          timeout: 60_000,
        },
      );
      expect({ status, stderr }).to.include({ status: 8 });
      expect(stderr).to.include('"unavailable"').and.include(words);
    });
  }
});
