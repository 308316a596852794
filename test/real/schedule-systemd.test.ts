import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import type { Restarted } from '../../src/lib/app/serve';
import type { InstallResult, JobStatus, UninstallResult } from '../../src/lib/schedule';
import { BIN, cleanEnv } from '../helpers/cli';
import { until } from '../helpers/desktop-kit';
import { requireNamespace, startNamespace, type Namespace } from '../helpers/namespace';
import { requirePrograms } from '../helpers/real-part';
import { removeFolder, snapshot } from '../helpers/scratch';

describe('schedule: jobs in a real systemd user manager', function () {
  this.timeout(180_000);
  let root = '';
  let home = '';
  let env: NodeJS.ProcessEnv = {};
  let space: Namespace | undefined;

  before(async function () {
    requirePrograms(this, { unshare: 'util-linux', systemctl: 'systemd', 'dbus-daemon': 'dbus' });
    requireNamespace(this);
    root = mkdtempSync(join(tmpdir(), 'steward-systemd-'));
    home = join(root, `it's 100% "größe" $HOME a\\b`);
    mkdirSync(join(home, '.config'), { recursive: true });
    env = cleanEnv(home, {
      XDG_RUNTIME_DIR: '/run/user/0',
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/0/bus',
      // A folder that only the one who installs has on the PATH.
      PATH: `${process.env['PATH'] ?? ''}:${join(home, 'my $bin%')}`,
    });
    space = await startNamespace(
      join(root, 'namespace'),
      [
        'mount -t tmpfs tmpfs /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup',
        'dbus-daemon --session --address=unix:path=/run/user/0/bus --nopidfile --fork',
        '/usr/lib/systemd/systemd --user >/dev/null 2>&1 &',
        'until systemctl --user is-system-running | grep -q running; do sleep 0.1; done',
      ].join('\n'),
      env,
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

  const outside = () => snapshot(home, ['.steward', '.cache', join('.local', 'state')]);

  it('runs the capture, says when and how it ended, and leaves nothing when it is taken back', async () => {
    const found = outside();
    const installed = await steward<InstallResult>('sense', 'install');
    expect(installed).to.include({ scheduler: 'systemd', changed: true, everySec: 120 });
    expect(await steward<InstallResult>('sense', 'install')).to.include({ changed: false });
    const first = await until(
      'the first run',
      async () => {
        const status = await steward<JobStatus>('sense', 'install', '--status');
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
    const sense = await steward<{ scheduler: unknown; lastCaptureTs: string | null }>('sense', 'status');
    expect(sense.scheduler).to.deep.equal({ kind: 'systemd', installed: true });
    expect(sense.lastCaptureTs).to.not.equal(null);

    const removed = await steward<UninstallResult>('sense', 'install', '--uninstall');
    expect(removed.removedFrom).to.deep.equal(['systemd']);
    expect(outside()).to.deep.equal(found);
    expect(readdirSync(join(home, '.steward'))).to.not.include('bin');
    expect(readdirSync(join(home, '.steward', 'state'))).to.not.include('install-manifest.json');
    expect(await steward<JobStatus>('sense', 'install', '--status')).to.include({
      installed: false,
      loaded: false,
    });
    expect((await steward<UninstallResult>('sense', 'install', '--uninstall')).removedFrom).to.deep.equal([]);
    expect((await steward<{ scheduler: unknown }>('sense', 'status')).scheduler).to.equal(null);
  });

  it('gives the job the PATH of whoever installed it, and tells of a run that failed', async () => {
    const found = outside();
    const said = join(root, 'said');
    mkdirSync(join(home, 'my $bin%'), { recursive: true });
    // The assistant of the hourly read, found by its name.
    const assistant = join(home, 'my $bin%', 'my-assistant');
    writeFileSync(assistant, `#!/bin/sh\nprintf %s "$PATH" >'${said}'\nexit 3\n`, { mode: 0o755 });
    await steward('config', 'set', 'sense.insight.command', '["my-assistant"]');
    await steward('sense', 'capture');
    // Something to tell of: an idle hour asks nobody.
    const ts = new Date().toISOString();
    const event = { ts, type: 'app-focus', source: 'appFocus', app: 'Editor', detail: { intervalSec: 120 } };
    appendFileSync(
      join(home, '.steward', 'sense', 'events', `${ts.slice(0, 10)}.jsonl`),
      `${JSON.stringify(event)}\n`,
    );
    await steward('sense', 'install', '--insight');
    await space?.exec('systemctl', ['--user', 'start', 'steward-insight.service']);
    const status = await until('its run', async () => {
      const now = await steward<JobStatus>('sense', 'install', '--insight', '--status');
      return now.lastExit === null ? false : now;
    });
    expect(status.lastExit).to.equal(8);
    expect(status.warning).to.match(/failed with exit code 8/);
    expect(status.hint).to.include(status.log);
    expect(readFileSync(status.log, 'utf8')).to.include('my-assistant');
    const folders = (env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules/.bin'));
    expect(readFileSync(said, 'utf8')).to.equal([...new Set(folders)].join(':'));
    await steward('sense', 'install', '--insight', '--uninstall');
    rmSync(join(home, 'my $bin%'), { recursive: true });
    expect(outside()).to.deep.equal(found);
  });

  it('starts the daemon, starts it again when it is killed, and stops it', async () => {
    const found = outside();
    await steward('config', 'set', 'daemon.port', '31399');
    await steward('daemon', 'install');
    const running = async () => {
      const result = await space?.exec(process.execPath, [BIN, 'daemon', 'status', '--json']);
      return result?.code === 0 ? (JSON.parse(result.stdout) as { pid: number }) : false;
    };
    const { pid } = await until('the daemon', running, 60_000);
    const shown = (
      await space?.exec('systemctl', ['--user', 'show', '-p', 'Restart,RestartUSec', 'steward-daemon'])
    )?.stdout;
    expect(shown).to.include('Restart=on-failure').and.to.include('RestartUSec=1min');
    await space?.exec('systemctl', ['--user', 'kill', '--signal=KILL', 'steward-daemon.service']);
    const state = async () =>
      (
        await space?.exec('systemctl', ['--user', 'show', '-p', 'SubState', 'steward-daemon.service'])
      )?.stdout.trim();
    await until('that it waits for its restart', async () => (await state()) === 'SubState=auto-restart');
    await space?.exec('systemctl', ['--user', 'restart', 'steward-daemon.service']);
    await until(
      'another daemon',
      async () => {
        const now = await running();
        return now !== false && now.pid !== pid;
      },
      60_000,
    );
    expect(await steward<JobStatus>('daemon', 'install', '--status')).to.include({
      loaded: true,
      everySec: null,
    });
    const again = async () => steward<Restarted>('daemon', 'restart');
    const { before, startedBy } = await again();
    expect(before).to.be.a('number');
    expect(startedBy, 'it starts anew by itself').to.equal(null);
    expect(await state()).to.equal('SubState=running');
    await steward('daemon', 'stop');
    await until('that it is stopped', async () => (await state()) === 'SubState=dead');
    expect(await again()).to.include({ before: null, startedBy: 'systemd' });
    expect(await state()).to.equal('SubState=running');
    await steward('daemon', 'install', '--uninstall');
    expect(await running()).to.equal(false);
    expect(outside()).to.deep.equal(found);
  });

  it('is as it should be after an installer was killed around each of its words to systemd', async () => {
    const programs = join(root, 'programs');
    const count = join(root, 'count');
    mkdirSync(programs);
    // Kills who asks for the change of this number, before it or behind it.
    writeFileSync(
      join(programs, 'systemctl'),
      `#!/bin/sh
case "$2" in is-*|show|list-timers) exec /usr/bin/systemctl "$@" ;; esac
n=$(($(cat '${count}') + 1))
echo $n >'${count}'
[ "$KILL" != "$n-before" ] || { kill -9 $PPID; exit 1; }
/usr/bin/systemctl "$@"
code=$?
[ "$KILL" != "$n-after" ] || kill -9 $PPID
exit $code
`,
      { mode: 0o755 },
    );
    const kill = async (point: string, ...args: string[]) => {
      writeFileSync(count, '0');
      await space?.exec(process.execPath, [BIN, ...args], {
        PATH: `${programs}:${env['PATH'] ?? ''}`,
        KILL: point,
      });
      return Number(readFileSync(count, 'utf8'));
    };
    const shown = async (): Promise<unknown> => {
      const ask = async (...args: string[]) =>
        (await space?.exec('systemctl', ['--user', ...args, 'steward-sense.timer']))?.stdout.trim();
      const times = await ask('show', '--property=LoadState,TimersMonotonic');
      return {
        times: [...(times ?? '').matchAll(/LoadState=\w+|OnUnitActiveUSec=\w+/g)].map(String).sort(),
        state: [await ask('is-active'), await ask('is-enabled')],
        files: Object.keys(outside()),
      };
    };
    const install = (seconds: string) =>
      steward('config', 'set', 'sense.pollIntervalSec', seconds).then(() => steward('sense', 'install'));
    const uninstall = () => steward('sense', 'install', '--uninstall');
    await uninstall();
    const gone = await shown();
    await install('300');
    const installed = await shown();
    expect(installed).to.deep.include({ times: ['LoadState=loaded', 'OnUnitActiveUSec=5min'] });
    for (const [args, first] of [
      [['sense', 'install'], '120'],
      [['sense', 'install', '--uninstall'], '300'],
    ] as const) {
      await install(first);
      await steward('config', 'set', 'sense.pollIntervalSec', '300');
      const words = await kill('never', ...args);
      expect(words).to.be.greaterThan(2);
      for (let word = 1; word <= words; word += 1)
        for (const side of ['before', 'after']) {
          // By turns, as each of them takes a while here; test/lib/schedule/killed.test.ts has all of them.
          const [then, expected] =
            (side === 'after') === (word % 2 === 0) ? [() => install('300'), installed] : [uninstall, gone];
          await install(first);
          await steward('config', 'set', 'sense.pollIntervalSec', '300');
          await kill(`${word}-${side}`, ...args);
          await then();
          expect(await shown(), `${args.join(' ')}, killed ${side} word ${word}`).to.deep.equal(expected);
        }
    }
    await uninstall();
    await steward('config', 'set', 'sense.pollIntervalSec', '120');
  }).timeout(600_000);

  it('takes a job out of cron that it puts into systemd', async function () {
    requirePrograms(this, { crontab: 'cron' });
    await space?.exec('/bin/sh', [
      '-c',
      'mount -t tmpfs tmpfs /var/spool/cron && mkdir -m 1730 /var/spool/cron/crontabs',
    ]);
    await steward('work', 'install', '--scheduler', 'cron');
    expect((await space?.exec('crontab', ['-l']))?.stdout).to.include('steward-work');
    expect(await steward<InstallResult>('work', 'install')).to.include({
      scheduler: 'systemd',
      changed: true,
    });
    expect((await space?.exec('crontab', ['-l']))?.code).to.equal(1);
    const gone = await steward<UninstallResult>('work', 'install', '--uninstall');
    expect(gone.removedFrom).to.deep.equal(['systemd']);
  });
});
