import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import type { Restarted } from '../../src/lib/daemon/remote';
import type { JobInstalled, JobStatus, JobUninstalled } from '../../src/lib/schedule';
import { BIN } from '../helpers/cli';
import { until } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';
import { systemdHome } from '../helpers/systemd';

describe('schedule: jobs in a real systemd user manager', function () {
  this.timeout(180_000);
  const at = systemdHome();

  it('runs the capture, reports when and how it ended, and leaves nothing after an uninstall', async () => {
    const found = at.outside();
    const installed = (await at.steward<{ jobs: JobInstalled[] }>('sense', 'install')).jobs[0];
    expect(installed).to.include({ scheduler: 'systemd', changed: true, everySec: 120 });
    expect((await at.steward<{ jobs: JobInstalled[] }>('sense', 'install')).jobs[0]).to.include({
      changed: false,
    });
    const first = await until(
      'the first run',
      async () => {
        const status = await at.steward<JobStatus>('sense', 'install', '--status');
        if (status.lastExit === null) return false;
        // systemd reckons the next one once the service has ended, a moment after it has noted its exit.
        return Date.parse(status.nextRun ?? '') > Date.parse(status.lastRun ?? '') && status;
      },
      60_000,
    );
    expect(first).to.deep.include({ installed: true, loaded: true, lastExit: 0, missedPolls: 0 });
    expect(first).to.not.have.property('warning');
    expect(Date.parse(first.nextRun ?? '')).to.be.within(
      Date.parse(first.lastRun ?? '') + 60_000,
      Date.parse(first.lastRun ?? '') + 130_000,
    );
    const sense = await at.steward<{ scheduler: unknown; lastCaptureTs: string | null }>('sense', 'status');
    expect(sense.scheduler).to.deep.equal({ kind: 'systemd', installed: true });
    expect(sense.lastCaptureTs).to.not.equal(null);

    const removed = (await at.steward<{ jobs: JobUninstalled[] }>('sense', 'install', '--uninstall')).jobs[0];
    expect(removed?.removedFrom).to.deep.equal(['systemd']);
    expect(at.outside()).to.deep.equal(found);
    expect(readdirSync(join(at.home, '.steward'))).to.not.include('bin');
    expect(readdirSync(join(at.home, '.steward', 'state'))).to.not.include('install-manifest.json');
    expect(await at.steward<JobStatus>('sense', 'install', '--status')).to.include({
      installed: false,
      loaded: false,
    });
    expect(await at.steward('sense', 'install', '--uninstall')).to.deep.include({ jobs: [] });
    expect((await at.steward<{ scheduler: unknown }>('sense', 'status')).scheduler).to.equal(null);
  });

  it('runs the job with the PATH of the install, and logs a failed insight', async () => {
    const found = at.outside();
    const said = join(at.root, 'said');
    mkdirSync(join(at.home, 'my $bin%'), { recursive: true });
    // The assistant of the hourly read, found by its name.
    const assistant = join(at.home, 'my $bin%', 'my-assistant');
    writeFileSync(assistant, `#!/bin/sh\nprintf %s "$PATH" >'${said}'\nexit 3\n`, { mode: 0o755 });
    await at.steward('config', 'set', 'sense.insight.command', '["my-assistant"]');
    await at.steward('sense', 'capture');
    // Something to tell of: an idle hour asks nobody.
    const ts = new Date().toISOString();
    const event = { ts, type: 'app-focus', source: 'appFocus', app: 'Editor', detail: { intervalSec: 120 } };
    appendFileSync(
      join(at.home, '.steward', 'sense', 'events', `${ts.slice(0, 10)}.jsonl`),
      `${JSON.stringify(event)}\n`,
    );
    await at.steward('sense', 'install', '--insight');
    await at.exec('systemctl', ['--user', 'start', 'steward-tick.service']);
    const { log } = await at.steward<JobStatus>('sense', 'install', '--insight', '--status');
    await until('its report', () => existsSync(log) && readFileSync(log, 'utf8').includes('my-assistant'));
    const folders = (at.env['PATH'] ?? '')
      .split(':')
      .filter((folder) => !folder.includes('node_modules/.bin'));
    expect(readFileSync(said, 'utf8')).to.equal([...new Set(folders)].join(':'));
    await at.steward('sense', 'install', '--insight', '--uninstall');
    await at.steward('sense', 'install', '--uninstall');
    rmSync(join(at.home, 'my $bin%'), { recursive: true });
    expect(at.outside()).to.deep.equal(found);
  });

  it('starts the daemon, restarts it after a kill, and stops it', async () => {
    const found = at.outside();
    await at.steward('config', 'set', 'daemon.port', '31399');
    await at.steward('daemon', 'install');
    const running = async () => {
      const result = await at.exec(process.execPath, [BIN, 'daemon', 'status', '--json']);
      return result.code === 0 ? (JSON.parse(result.stdout) as { pid: number }) : false;
    };
    const { pid } = await until('the daemon', running, 60_000);
    const shown = (
      await at.exec('systemctl', ['--user', 'show', '-p', 'Restart,RestartUSec', 'steward-daemon'])
    ).stdout;
    expect(shown).to.include('Restart=on-failure').and.to.include('RestartUSec=1min');
    await at.exec('systemctl', ['--user', 'kill', '--signal=KILL', 'steward-daemon.service']);
    const state = async () =>
      (
        await at.exec('systemctl', ['--user', 'show', '-p', 'SubState', 'steward-daemon.service'])
      ).stdout.trim();
    await until('that it waits for its restart', async () => (await state()) === 'SubState=auto-restart');
    await at.exec('systemctl', ['--user', 'restart', 'steward-daemon.service']);
    await until(
      'another daemon',
      async () => {
        const now = await running();
        return now !== false && now.pid !== pid;
      },
      60_000,
    );
    expect(await at.steward<JobStatus>('daemon', 'install', '--status')).to.include({
      loaded: true,
      everySec: null,
    });
    const again = async () => at.steward<Restarted>('daemon', 'restart');
    const { before, startedBy } = await again();
    expect(before).to.be.a('number');
    expect(startedBy, 'it starts anew by itself').to.equal(null);
    expect(await state()).to.equal('SubState=running');
    await at.steward('daemon', 'stop');
    await until('that it is stopped', async () => (await state()) === 'SubState=dead');
    expect(await again()).to.include({ before: null, startedBy: 'systemd' });
    expect(await state()).to.equal('SubState=running');
    await at.steward('daemon', 'install', '--uninstall');
    expect(await running()).to.equal(false);
    expect(at.outside()).to.deep.equal(found);
  });

  it('moves a job from cron to systemd', async function () {
    requirePrograms(this, { crontab: 'cron' });
    await at.exec('/bin/sh', [
      '-c',
      'mount -t tmpfs tmpfs /var/spool/cron && mkdir -m 1730 /var/spool/cron/crontabs',
    ]);
    await at.steward('work', 'install', '--scheduler', 'cron');
    expect((await at.exec('crontab', ['-l'])).stdout).to.include('steward-tick');
    expect((await at.steward<{ jobs: JobInstalled[] }>('work', 'install')).jobs[0]).to.include({
      scheduler: 'systemd',
      changed: true,
    });
    expect((await at.exec('crontab', ['-l'])).code).to.equal(1);
    const gone = (await at.steward<{ jobs: JobUninstalled[] }>('work', 'install', '--uninstall')).jobs[0];
    expect(gone?.removedFrom).to.deep.equal(['systemd']);
  });
});
