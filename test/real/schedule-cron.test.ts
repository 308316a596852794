import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import type { JobInstalled, JobStatus, JobUninstalled } from '../../src/lib/schedule';
import { BIN, cleanEnv } from '../helpers/cli';
import { until } from '../helpers/desktop-kit';
import { requireNamespace, startNamespace, type Namespace } from '../helpers/namespace';
import { requirePrograms } from '../helpers/real-part';
import { removeFolder, snapshot } from '../helpers/scratch';

describe('schedule: jobs in a real cron', function () {
  this.timeout(180_000);
  let root = '';
  let home = '';
  let space: Namespace | undefined;

  before(async function () {
    requirePrograms(this, {
      bash: 'bash',
      unshare: 'util-linux',
      cron: 'cron',
      crontab: 'cron',
      faketime: 'faketime',
    });
    requireNamespace(this);
    root = mkdtempSync(join(tmpdir(), 'steward-cron-'));
    home = join(root, `it's 100% "größe" $HOME a\\b %d`);
    mkdirSync(home);
    space = await startNamespace(
      join(root, 'namespace'),
      [
        'mount -t tmpfs tmpfs /var/spool/cron',
        'mkdir -m 1730 /var/spool/cron/crontabs',
        // A minute of this cron is a second; its jobs have the real time.
        "faketime -f '+0 x60' cron -f &",
      ].join('\n'),
      cleanEnv(home),
    );
  });

  after(async () => {
    await space?.stop();
    if (root !== '') removeFolder(root);
  });

  async function steward<T>(...args: string[]): Promise<T> {
    if (space === undefined) throw new Error('The namespace was not started.');
    const { code, stdout, stderr } = await space.exec(process.execPath, [BIN, ...args, '--json']);
    expect({ code, stderr: code === 0 ? '' : stderr }, args.join(' ')).to.deep.equal({ code: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  }

  /** In base64: a crontab may be in any encoding. */
  async function crontab(): Promise<{ code: number | null; text: string }> {
    const result = await space?.exec('bash', ['-c', 'set -o pipefail; crontab -l 2>/dev/null | base64 -w0']);
    return {
      code: result?.code ?? null,
      text: Buffer.from(result?.stdout ?? '', 'base64').toString('latin1'),
    };
  }

  it('is used without systemd, runs the capture, and leaves no crontab if there was none', async () => {
    const found = snapshot(home, ['.steward', '.cache', join('.local', 'state')]);
    const installed = (await steward<{ jobs: JobInstalled[] }>('sense', 'install')).jobs[0];
    expect(installed).to.include({ scheduler: 'cron', why: 'cron is running', changed: true, everySec: 120 });
    const first = await until(
      'the first run',
      async () => {
        const status = await steward<JobStatus>('sense', 'install', '--status');
        return status.lastExit === null ? false : status;
      },
      60_000,
    );
    expect(first).to.deep.include({ installed: true, loaded: true, lastExit: 0, missedPolls: 0 });
    const sense = await steward<{ scheduler: unknown; lastCaptureTs: string | null }>('sense', 'status');
    expect(sense.scheduler).to.deep.equal({ kind: 'cron', installed: true });
    expect(sense.lastCaptureTs).to.not.equal(null);
    expect(
      (await steward<{ jobs: JobUninstalled[] }>('sense', 'install', '--uninstall')).jobs[0]?.removedFrom,
    ).to.deep.equal(['cron']);
    expect(await crontab()).to.deep.equal({ code: 1, text: '' });
    expect(snapshot(home, ['.steward', '.cache', join('.local', 'state')])).to.deep.equal(found);
  });

  it('preserves every byte of an existing crontab, in any encoding, and an empty one', async () => {
    const own = Buffer.from('# caf\xe9 \x80\xff\nMAILTO=me\n0 5 * * * echo 100\\% # >>> x\n\n', 'latin1');
    for (const before of [own, Buffer.from('')]) {
      const file = join(root, 'crontab');
      writeFileSync(file, before);
      expect((await space?.exec('crontab', [file]))?.code).to.equal(0);
      expect((await crontab()).text).to.equal(before.toString('latin1'));
      const jobs = [
        ['work', 'install'],
        ['daemon', 'install'],
      ];
      for (const job of jobs) await steward(...job);
      const { text } = await crontab();
      expect(text.startsWith(before.toString('latin1'))).to.equal(true);
      expect(text.match(/# >>> steward-/g)).to.have.length(1);
      expect(text).to.include('steward-daemon');
      expect((await steward<{ jobs: JobInstalled[] }>('work', 'install')).jobs[0]).to.include({
        job: 'daemon',
        changed: false,
      });
      for (const job of jobs) await steward(...job, '--uninstall');
      expect(await crontab()).to.deep.equal({ code: 0, text: before.toString('latin1') });
    }
  });

  it('starts the daemon at once, and stops it on uninstall', async () => {
    await steward('config', 'set', 'daemon.port', '31398');
    await steward('daemon', 'install');
    const status = async () =>
      (await space?.exec(process.execPath, [BIN, 'daemon', 'status', '--json']))?.code;
    await until('the daemon', async () => (await status()) === 0, 60_000);
    expect(await steward<JobStatus>('daemon', 'install', '--status')).to.include({
      loaded: true,
      lastExit: null,
    });
    await steward('daemon', 'stop');
    await steward('daemon', 'restart');
    expect(await status()).to.equal(0);
    await steward('daemon', 'install', '--uninstall');
    expect(await status()).to.equal(8);
  });
});
