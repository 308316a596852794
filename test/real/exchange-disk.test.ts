import { expect } from 'chai';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { emptyHome, steward, type StewardResult } from '../helpers/cli';
import { smallDisk, type SmallDisk } from '../helpers/small-disk';

/** The exchange folder is on a file system of 1 MiB that becomes full or read-only. */
describe('real: the disk of the exchange folder (built)', function () {
  this.timeout(120_000);
  const home = emptyHome();
  let disk: SmallDisk | undefined;
  const path = (...names: string[]): string => join(disk?.path ?? expect.fail('no disk'), ...names);
  const run = (...args: string[]): Promise<StewardResult> => steward(args, { home: home.path });

  before(async function () {
    disk = smallDisk(this, '1m');
    expect((await run('sense', 'capture')).code).to.equal(0);
    expect((await run('sync', 'setup', '--create', path('exchange'))).code).to.equal(0);
  });
  after(() => {
    disk?.remove();
    home.remove();
  });

  const file = (): string => path('exchange', 'machines', readdirSync(path('exchange', 'machines'))[0] ?? '');

  it('says that the file system is read-only, and how to continue', async () => {
    disk?.remount('ro');
    try {
      const { stdout } = await run('sync', 'rename', 'lap');
      expect(stdout.replace(/\/machine\.json$|\/\..*\.tmp$/m, '')).to.equal(
        `This machine is now named lap. Saved, but not published yet: The file system is read-only: ${file()}\nMake the exchange folder writable, or use another one: steward sync setup FOLDER\n`,
      );
      for (const args of [['sync', 'status'], ['status'], ['doctor', 'sync']])
        expect((await run(...args)).stdout, args.join(' '))
          .to.include('read-only')
          .and.not.include('STEWARD_HOME');
      const set = await run('sync', 'setup', '--create', path('exchange'));
      expect(set.code).to.equal(2);
      expect(set.stderr).to.match(
        /^Cannot write to .*read-only.*\nChoose a folder that you can write to\.$/m,
      );
      const leave = await run('sync', 'leave', '--remove');
      expect(leave.code).to.equal(8);
      expect(leave.stderr).to.include('read-only').and.not.include('STEWARD_HOME');
    } finally {
      disk?.remount('rw');
    }
  });

  it('says that the disk is full, and publishes once there is space', async () => {
    disk?.fill(0);
    const { stdout } = await run('sync', 'rename', 'lap2');
    expect(stdout).to.match(
      /^This machine is now named lap2\. Saved, but not published yet: The disk is full: .*\nFree some space/,
    );
    const set = await run('sync', 'setup', '--details', '--json');
    expect(JSON.parse(set.stdout)).to.have.property('hint').that.includes('Free some space');
    rmSync(path('ballast'));
    await run('sense', 'capture');
    expect(readFileSync(join(file(), 'machine.json'), 'utf8')).to.include('"lap2"');
  });
});
