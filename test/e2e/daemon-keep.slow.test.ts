import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import type { DaemonReport } from '../../src/lib/daemon/status';
import { jsonOf, steward, type StewardResult } from '../helpers/cli';
import { removeFolder } from '../helpers/scratch';
import { fakeCrontab, type FakeCrontab } from '../helpers/schedule';
import { until } from '../helpers/desktop-kit';

/** Under cron the launcher itself starts the daemon again, a minute after a crash. */
describe('the daemon under cron (built)', function () {
  this.timeout(300_000);
  let root = '';
  let home = '';
  let crontab: FakeCrontab;

  before(function () {
    if (!existsSync('/proc/self/cmdline')) this.skip();
  });
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'steward-keep-'));
    home = join(root, 'home');
    mkdirSync(home);
    crontab = fakeCrontab(join(root, 'cron'));
    await done('config', 'set', 'daemon.port', '0');
    await done('daemon', 'install', '--scheduler', 'cron');
    await listening();
  });
  afterEach(() => {
    // The launchers first: they would start the others again.
    for (const pid of [...launchers(), ...processesOf(home)]) end(pid);
    removeFolder(root);
  });

  // A launcher needs the time that a process takes to start.
  const run = (...args: string[]): Promise<StewardResult> =>
    steward(args, { home, env: { PATH: crontab.path }, ownProcess: true });
  const done = async (...args: string[]): Promise<unknown> => {
    const result = await run(...args, '--json');
    expect(result.code, `${args.join(' ')}: ${result.stdout}${result.stderr}`).to.equal(0);
    return jsonOf(result);
  };
  const report = async (): Promise<DaemonReport> =>
    jsonOf(await run('daemon', 'status', '--json')) as DaemonReport;
  const listening = (): Promise<number> =>
    until(
      'the daemon',
      async () => {
        const found = await report();
        return found.running ? found.pid : undefined;
      },
      60_000,
    );
  /** The processes with this path in their arguments or their environment. */
  const processesOf = (path: string, file: 'cmdline' | 'environ' = 'environ'): number[] =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => textOf(`/proc/${pid}/${file}`).includes(path))
      .map(Number);
  const launchers = (): number[] => processesOf(join(home, '.steward', 'bin', 'steward-job'), 'cmdline');
  const end = (pid: number): void => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  /** Ends the daemon as a crash does, and waits until its launcher waits. */
  const crash = async (): Promise<void> => {
    const found = await report();
    expect(found.running).to.equal(true);
    if (found.running) end(found.pid);
    const isAsleep = (pid: number): boolean => textOf(`/proc/${pid}/cmdline`).startsWith('sleep\0');
    await until('the pause', () => processesOf(home).some(isAsleep), 30_000);
  };

  it('has a single launcher after any number of restarts and installs', async () => {
    const [first] = launchers();
    expect(launchers()).to.have.length(1);
    await crash();
    const stop = await run('daemon', 'stop');
    expect(stop.stdout).to.equal('The daemon is not running.\n');
    expect(stop.stderr).to.include('A cron job restarts the daemon within a minute');
    const config = join(home, '.steward', 'config.yaml');
    const written = readFileSync(config);
    writeFileSync(config, '[');
    const again = await run('daemon', 'stop');
    expect(again, 'with a configuration that is broken').to.deep.equal(stop);
    writeFileSync(config, written);
    const restarted = (await done('daemon', 'restart')) as { before: number | null; startedBy: string };
    expect(restarted).to.include({ before: null, startedBy: 'cron' });
    await until('one launcher', () => launchers().length === 1, 30_000);
    const [second] = launchers();
    expect(second).to.not.equal(first);
    await crash();
    await done('daemon', 'install', '--uninstall');
    expect(launchers(), 'no launcher outlives its job').to.deep.equal([]);
    await done('daemon', 'install', '--scheduler', 'cron');
    await listening();
    expect(launchers()).to.have.length(1);
    expect(launchers()).to.not.deep.equal([second]);
    await done('uninstall');
    expect(launchers()).to.deep.equal([]);
    expect((await report()).running).to.equal(false);
    const state = join(home, '.local', 'state', 'steward');
    for (const name of readdirSync(state)) expect(readPath(join(state, name))).to.not.include('jobs');
  });

  it('ends with its job, even during startup', async () => {
    for (const words of [
      ['daemon', 'install', '--uninstall'],
      ['uninstall', 'daemon'],
    ]) {
      await done('daemon', 'install', '--uninstall');
      // Returns before the daemon listens.
      await done('daemon', 'install', '--scheduler', 'cron');
      await done(...words);
      expect(launchers(), words.join(' ')).to.deep.equal([]);
      expect((await report()).running).to.equal(false);
    }
  });
});

function readPath(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // A file.
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}
