import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import type { DoctorReport, Row } from '../../src/lib/doctor/run';
import type { JobStatus, JobUninstalled } from '../../src/lib/schedule';
import { BIN, cleanEnv } from '../helpers/cli';
import { removeFolder } from '../helpers/scratch';
import { until } from '../helpers/desktop-kit';
import { requireNamespace, startNamespace, type Namespace } from '../helpers/namespace';
import { requirePrograms } from '../helpers/real-part';

const FIX = 'steward install jobs';

/** Jobs that are broken in a real systemd or cron: what doctor says of them, and whether its command mends them. */
describe('doctor: broken jobs', function () {
  this.timeout(300_000);
  let root = '';
  let home = '';
  let space: Namespace | undefined;

  before(async function () {
    requirePrograms(this, {
      unshare: 'util-linux',
      systemctl: 'systemd',
      'dbus-daemon': 'dbus',
      cron: 'cron',
      crontab: 'cron',
    });
    requireNamespace(this);
    root = mkdtempSync(join(tmpdir(), 'steward-broken-'));
    home = join(root, 'home');
    mkdirSync(join(home, '.config'), { recursive: true });
    space = await startNamespace(
      join(root, 'namespace'),
      [
        'mount -t tmpfs tmpfs /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup',
        'mount -t tmpfs tmpfs /var/spool/cron && mkdir -m 1730 /var/spool/cron/crontabs',
        'dbus-daemon --session --address=unix:path=/run/user/0/bus --nopidfile --fork',
        '/usr/lib/systemd/systemd --user >/dev/null 2>&1 &',
        'cron -f &',
        'until systemctl --user is-system-running | grep -q running; do sleep 0.1; done',
      ].join('\n'),
      cleanEnv(home, {
        XDG_RUNTIME_DIR: '/run/user/0',
        DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/0/bus',
      }),
    );
    await steward('sense', 'init');
    // Nothing of this machine's display is looked at.
    await steward('config', 'set', 'sense.sources.appFocus', 'false');
  });

  after(async () => {
    await space?.stop();
    if (root !== '') removeFolder(root);
  });

  const exec = async (file: string, ...args: string[]) => {
    if (space === undefined) throw new Error('The namespace was not started.');
    return space.exec(file, args);
  };

  async function steward<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await exec(process.execPath, BIN, ...args, '--json');
    expect({ code, stderr: code === 0 ? '' : stderr }, args.join(' ')).to.deep.equal({ code: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  }

  async function look(id: string): Promise<Row> {
    const { stdout, stderr } = await exec(process.execPath, BIN, 'doctor', 'jobs', '--json');
    const row = (JSON.parse(stdout) as DoctorReport).checks.find((check) => check.id === id);
    if (row === undefined) throw new Error(`No row ${id}: ${stdout}${stderr}`);
    return row;
  }

  const status = () => steward<JobStatus>('sense', 'install', '--status');
  const ran = (after: string | null = null) =>
    until(
      'a run',
      async () => {
        const { lastRun, lastExit } = await status();
        return lastExit !== null && lastRun !== after;
      },
      120_000,
    );

  /** Expects doctor to say it, and all to be well once its command was typed. */
  async function mended(id: string, state: Row['state'], words: RegExp, scheduler: string): Promise<void> {
    const row = await look(id);
    expect(row, JSON.stringify(row)).to.include({ state, fix: FIX });
    expect(row.found).to.match(words);
    await steward(...(row.fix ?? '').split(' ').slice(1), '--scheduler', scheduler);
    const after = await look(id);
    expect(after, JSON.stringify(after)).to.include({ state: 'ok' });
  }

  const launcher = () => join(home, '.steward', 'bin', 'steward-job');
  const crontab = async () => (await exec('crontab', '-l')).stdout;
  const writeCrontab = async (text: string) => {
    const file = join(root, 'table');
    writeFileSync(file, text);
    expect((await exec('crontab', file)).code).to.equal(0);
  };

  describe('in systemd', () => {
    before(async () => {
      await steward('sense', 'install', '--scheduler', 'systemd');
      await exec('systemctl', '--user', 'start', 'steward-tick.service');
      await ran();
    });
    after(() => steward('sense', 'install', '--uninstall'));

    const units = () => join(home, '.config', 'systemd', 'user');

    it('work at first', async () => {
      expect(await look('jobs.tick')).to.include({ state: 'ok' });
      const { state, found } = await look('jobs.launcher');
      expect({ state, found }).to.deep.equal({ state: 'ok', found: `${BIN} with ${process.execPath}` });
    });

    it('without a launcher', async () => {
      rmSync(launcher());
      await mended('jobs.tick', 'failed', /The launcher is missing, so each run fails/, 'systemd');
    });

    it('without steward and Node.js', async () => {
      const text = readFileSync(launcher(), 'utf8');
      const lost = text
        .replaceAll(process.execPath, '/gone/node')
        .replaceAll(BIN, '/gone/run.js')
        .replace('for folder in ${PATH-}', 'for folder in /nowhere');
      writeFileSync(
        launcher(),
        lost.replace(/^home=.*$/m, 'home=/nonexistent').replaceAll('/usr/local', '/gone'),
      );
      await mended(
        'jobs.launcher',
        'failed',
        /cannot find Node\.js or steward, so each run fails/,
        'systemd',
      );
      expect(readFileSync(launcher(), 'utf8')).to.equal(text);
    });

    it('that fail at each run, with exit code and message', async () => {
      const config = join(home, '.steward', 'config.yaml');
      const kept = readFileSync(config, 'utf8');
      const { lastRun } = await status();
      writeFileSync(config, 'sense:\n  pollIntervalSec: often\n');
      await exec('systemctl', '--user', 'start', 'steward-tick.service');
      writeFileSync(config, kept);
      await ran(lastRun);
      const row = await look('jobs.tick');
      expect(row).to.include({ state: 'warning', found: 'The last run failed with exit code 3.' });
      expect(row.hint).to.match(/tick\.log ends with: .*pollIntervalSec/);
      await exec('systemctl', '--user', 'start', 'steward-tick.service');
      expect(await look('jobs.tick')).to.include({ state: 'ok' });
    });

    it('with an edited or missing unit', async () => {
      const timer = join(units(), 'steward-tick.timer');
      const text = readFileSync(timer, 'utf8');
      writeFileSync(timer, text.replace('OnUnitActiveSec=120', 'OnUnitActiveSec=86400'));
      await exec('systemctl', '--user', 'daemon-reload');
      await mended('jobs.tick', 'warning', /has been edited since it was installed/, 'systemd');
      expect(readFileSync(timer, 'utf8')).to.equal(text);
      rmSync(timer);
      await exec('systemctl', '--user', 'daemon-reload');
      await mended('jobs.tick', 'failed', /installed, but systemd does not run it/, 'systemd');
      expect(readFileSync(timer, 'utf8')).to.equal(text);
    });

    it('that were stopped or disabled', async () => {
      await exec('systemctl', '--user', 'stop', 'steward-tick.timer');
      await mended('jobs.tick', 'failed', /installed, but systemd does not run it/, 'systemd');
      await exec('systemctl', '--user', 'disable', 'steward-tick.timer');
      await mended('jobs.tick', 'failed', /installed, but systemd does not run it/, 'systemd');
      await exec('systemctl', '--user', 'disable', '--now', 'steward-tick.timer');
      await mended('jobs.tick', 'failed', /installed, but systemd does not run it/, 'systemd');
    });

    it('that are also in cron', async () => {
      const manifest = join(home, '.steward', 'state', 'install-manifest.json');
      await steward('sense', 'install', '--uninstall');
      await steward('sense', 'install', '--scheduler', 'cron');
      const table = await crontab();
      await steward('sense', 'install', '--scheduler', 'systemd');
      await writeCrontab(table);
      await steward('sense', 'install', '--scheduler', 'systemd');
      expect(await crontab()).to.not.include('steward');
      // Where the list of what was installed is lost, all of it is found all the same.
      await writeCrontab(table);
      renameSync(manifest, `${manifest}.away`);
      const { jobs } = await steward<{ jobs: JobUninstalled[] }>('sense', 'install', '--uninstall');
      expect(jobs[0]?.removedFrom).to.deep.equal(['systemd', 'cron']);
      expect(await crontab()).to.not.include('steward');
      rmSync(`${manifest}.away`);
      await steward('sense', 'install', '--scheduler', 'systemd');
    });
  });

  describe('in cron', () => {
    before(async () => {
      await steward('sense', 'install', '--scheduler', 'cron');
      // Its first run, without the wait for cron's next minute.
      const command = /^(?:\S+ ){5}(.*steward-job.*)$/m.exec(await crontab())?.[1] ?? '';
      await exec('/bin/sh', '-c', command.replaceAll('\\%', '%'));
      await ran();
    });
    after(() => steward('sense', 'install', '--uninstall'));

    it('work at first', async () => {
      expect(await look('jobs.tick')).to.include({ state: 'ok' });
    });

    it('without a launcher', async () => {
      rmSync(launcher());
      await mended('jobs.tick', 'failed', /The launcher is missing, so each run fails/, 'cron');
    });

    it('with an edited launcher', async () => {
      const text = readFileSync(launcher(), 'utf8');
      writeFileSync(launcher(), `${text}# mine\n`);
      chmodSync(launcher(), 0o700);
      await mended('jobs.tick', 'warning', /has been edited since it was installed/, 'cron');
      expect(readFileSync(launcher(), 'utf8')).to.equal(text);
    });

    it('with lines that were edited, commented out or copied', async () => {
      const text = await crontab();
      await writeCrontab(text.replace('steward-job', 'steward-other'));
      await mended(
        'jobs.tick',
        'warning',
        /The entry in cron has been edited since it was installed/,
        'cron',
      );
      await writeCrontab(text.replace(/^\*/m, '# *'));
      await mended(
        'jobs.tick',
        'warning',
        /The entry in cron has been edited since it was installed/,
        'cron',
      );
      await writeCrontab(text + text);
      await mended(
        'jobs.tick',
        'warning',
        /The entry in cron has been edited since it was installed/,
        'cron',
      );
      expect(await crontab()).to.equal(text);
    });

    it('that were removed by hand are not reported', async () => {
      const text = await crontab();
      await writeCrontab('');
      expect(await look('jobs.tick')).to.include({ state: 'off', fix: FIX });
      await steward('sense', 'install', '--scheduler', 'cron');
      expect(await crontab()).to.equal(text);
    });
  });
});
