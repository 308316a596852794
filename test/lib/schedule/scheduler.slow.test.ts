import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { userArea } from '../../../src/lib/config/user-area';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { onceEach, type Run } from '../../../src/lib/platform/process/process';
import { createScheduler, type ScheduleDeps } from '../../../src/lib/schedule';
import { tickJob } from '../../../src/lib/schedule/job';
import { rejection } from '../../helpers/errors';
import { crontabModel, JOBS, launchdModel } from '../../helpers/schedule';
import { scratch, snapshot } from '../../helpers/scratch';

const ROOT = join(__dirname, '..', '..', '..');

describe('scheduler: install, status and uninstall', () => {
  const box = scratch();

  function depsFor(run: Run, platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}): ScheduleDeps {
    const home = box.path('home');
    mkdirSync(home, { recursive: true });
    const host = { platform, home, env: { PATH: '/usr/bin:/bin', ...env } };
    const product = { root: ROOT, node: process.execPath };
    return { area: userArea(host), clock: systemClock(), machineId: '0123456789ab', host, run, product };
  }

  it('loads, changes and removes a launch agent', async () => {
    const model = launchdModel();
    const deps = depsFor(model.run, 'darwin');
    const scheduler = await createScheduler(deps);
    expect(scheduler).to.include({ kind: 'launchd', why: 'this is macOS', available: true });
    const path = box.path('home', 'Library', 'LaunchAgents', 'local.steward.tick.plist');
    const first = await scheduler.install(JOBS.tick);
    expect(first).to.deep.include({ changed: true, files: [path], everySec: 120, warnings: [] });
    expect(model.loaded()).to.deep.equal(['local.steward.tick']);
    expect(await scheduler.install(JOBS.tick)).to.include({ changed: false });
    expect(await scheduler.status(JOBS.tick)).to.include({ installed: true, loaded: true });
    // launchd answers before the old job is gone.
    const slower = tickJob({ pollIntervalSec: 300 });
    expect(await scheduler.install(slower)).to.include({ changed: true, everySec: 300 });
    expect(readFileSync(path, 'utf8')).to.include('<integer>300<');
    expect(model.loaded()).to.deep.equal(['local.steward.tick']);
    const gone = await scheduler.uninstall(slower);
    expect(gone).to.deep.include({ removedFrom: ['launchd'], files: [path] });
    expect(model.loaded()).to.deep.equal([]);
    expect(existsSync(box.path('home', 'Library', 'LaunchAgents'))).to.equal(false);
    expect(await scheduler.uninstall(slower)).to.deep.include({ removedFrom: [], files: [] });
  }).timeout(60_000);

  it('starts a loaded job, and no other', async () => {
    const model = launchdModel();
    const scheduler = await createScheduler(depsFor(model.run, 'darwin'));
    expect(await scheduler.start(JOBS.daemon)).to.equal(undefined);
    await scheduler.install(JOBS.daemon);
    expect(await scheduler.start(JOBS.daemon)).to.equal('launchd');
    expect(model.started()).to.deep.equal(['local.steward.daemon']);
    await scheduler.uninstall(JOBS.daemon);
    const waits = await createScheduler(depsFor(launchdModel({ session: false }).run, 'darwin'));
    await waits.install(JOBS.daemon);
    expect(await rejection(waits.start(JOBS.daemon))).to.include({ kind: 'unavailable' });
  }).timeout(60_000);

  it('warns if a launch agent needs a login, and leaves nothing of a refused one', async () => {
    const waits = await createScheduler(depsFor(launchdModel({ session: false }).run, 'darwin'));
    expect((await waits.install(JOBS.daemon)).warnings.join()).to.match(/next login/);
    expect(await waits.status(JOBS.daemon)).to.include({ installed: true, loaded: false });
    await waits.uninstall(JOBS.daemon);
    const before = snapshot(box.path('home'), ['.steward/state']);
    const refused = await createScheduler(depsFor(launchdModel({ refuses: true }).run, 'darwin'));
    const error = await rejection(refused.install(JOBS.daemon));
    expect(error).to.include({ kind: 'unavailable' });
    expect(error.message).to.match(/Input\/output error/);
    expect(snapshot(box.path('home'), ['.steward/state'])).to.deep.equal(before);
  });

  it('removes a crontab that it created, unless lines were added since', async () => {
    const model = crontabModel(undefined);
    const scheduler = await createScheduler(depsFor(model.run, 'darwin'), 'cron');
    await scheduler.install(JOBS.tick);
    await scheduler.install(JOBS.daemon);
    await scheduler.uninstall(JOBS.tick);
    await scheduler.uninstall(JOBS.daemon);
    expect(model.text()).to.equal(undefined);
    const other = crontabModel('\u00e9 0 * * * own\n');
    const second = await createScheduler(depsFor(other.run, 'darwin'), 'cron');
    await second.install(JOBS.tick);
    await second.uninstall(JOBS.tick);
    expect(other.text()).to.equal('\u00e9 0 * * * own\n');
  });

  it('reports why a crontab is refused, and leaves no launcher', async () => {
    const scheduler = await createScheduler(
      depsFor(crontabModel('a\n', { refuses: true }).run, 'darwin'),
      'cron',
    );
    const error = await rejection(scheduler.install(JOBS.tick));
    expect(error).to.include({
      kind: 'unavailable',
      message: 'The crontab is not writable: not allowed',
    });
    expect(existsSync(box.path('home', '.steward', 'bin'))).to.equal(false);
  });

  it('refuses to install without a scheduler, and suggests what works', async () => {
    const none: Run = crontabModel(undefined).run;
    const nothing: Run = (file, args, options) =>
      none(file === 'crontab' ? 'no such program' : file, args, options);
    const scheduler = await createScheduler(depsFor(nothing, 'linux', { WSL_DISTRO_NAME: 'Debian' }));
    expect(scheduler).to.include({ available: false });
    const error = await rejection(scheduler.install(JOBS.tick));
    expect(error).to.include({ kind: 'unavailable' });
    expect(error.hint).to.match(/wsl\.conf.*steward up/);
    // The hint must not suggest another installer.
    const plain = await createScheduler(depsFor(nothing, 'linux'));
    for (const [job, words] of [
      [JOBS.tick, '"steward tick" every 120 s'],
      [JOBS.daemon, '"steward daemon serve --sweep".'],
    ] as const)
      expect((await rejection(plain.install(job))).hint)
        .to.match(/^Run "steward up"/)
        .and.include(`have your own supervisor run ${words}`)
        .and.not.include('install');
    expect(await scheduler.status(JOBS.tick)).to.include({ installed: false, loaded: false });
    expect(await scheduler.uninstall(JOBS.tick)).to.deep.include({ removedFrom: [] });
    expect(existsSync(box.path('home', '.steward'))).to.equal(false);
  });

  it('keeps a crontab entry up to date, with a warning, while cron is not running', async () => {
    const model = crontabModel('own\n');
    const names = (...running: string[]) => ({
      ...depsFor(model.run, 'linux'),
      processNames: () => new Set(running),
    });
    await (await createScheduler(names('cron'))).install(JOBS.tick);
    const stopped = await createScheduler(names('sh'));
    expect(stopped.available).to.equal(false);
    expect(await stopped.status(JOBS.tick)).to.include({ installed: true, loaded: false });
    const launcher = box.path('home', '.steward', 'bin', 'steward-job');
    for (const changed of [false, true]) {
      if (changed) writeFileSync(launcher, '');
      const again = await stopped.install(JOBS.tick);
      expect(again).to.include({ changed, scheduler: 'cron', why: 'already installed' });
      expect(again.warnings).to.deep.equal(['cron is not running, so the job does not run.']);
    }
    expect(readFileSync(launcher, 'utf8')).to.include('tick)');
    expect(await rejection(stopped.install(JOBS.daemon))).to.include({ kind: 'unavailable' });
    expect(model.text())
      .to.match(/^own\n# >>> steward-tick /)
      .and.not.include('steward-daemon');
  });

  it('gives each user area its own jobs', async () => {
    const model = crontabModel(undefined);
    const one = await createScheduler(depsFor(model.run, 'darwin'), 'cron');
    const two = await createScheduler(
      depsFor(model.run, 'darwin', { STEWARD_HOME: box.path('other') }),
      'cron',
    );
    await one.install(JOBS.tick);
    await two.install(JOBS.tick);
    expect(model.text()?.match(/# >>> steward-(?:[0-9a-f]{8}-)?tick /g)).to.have.length(2);
    await one.uninstall(JOBS.tick);
    expect(model.text()).to.match(/# >>> steward-[0-9a-f]{8}-tick /);
    expect(model.text()).to.not.include('# >>> steward-tick');
    expect(await two.status(JOBS.tick)).to.include({ installed: true });
  });

  it('reports a missing launcher, which an install fixes', async () => {
    const scheduler = await createScheduler(depsFor(crontabModel('').run, 'darwin'), 'cron');
    await scheduler.install(JOBS.tick);
    const launcher = box.path('home', '.steward', 'bin', 'steward-job');
    writeFileSync(launcher, '');
    expect(await scheduler.install(JOBS.tick)).to.include({ changed: true });
    expect(readFileSync(launcher, 'utf8')).to.include('tick)');
    const { rmSync } = await import('node:fs');
    rmSync(launcher);
    expect((await scheduler.status(JOBS.tick)).warning).to.match(/launcher is missing/);
  });

  it('runs crontab once, and systemctl only where there can be a user manager', async () => {
    const calls: string[] = [];
    const counted: Run = (file, args, options) => {
      calls.push(file);
      return crontabModel('').run(file, args, options);
    };
    await (await createScheduler(depsFor(onceEach(counted), 'linux'))).status(JOBS.tick);
    const runtime = `/run/user/${process.getuid?.() ?? 0}`;
    expect(calls).to.deep.equal([...(existsSync(runtime) ? ['systemctl'] : []), 'crontab']);
  });

  it('reports a program that hangs', async () => {
    const hangs: Run = () =>
      Promise.resolve({
        code: null,
        signal: 'SIGKILL',
        stdout: '',
        stderr: '',
        truncated: false,
        timedOut: true,
      });
    const error = await rejection(
      createScheduler(depsFor(hangs, 'linux', { XDG_RUNTIME_DIR: '/run/user/1' })),
    );
    expect(error).to.include({
      kind: 'unavailable',
      message: 'systemctl --user did not respond within 20 s.',
    });
  });
});
