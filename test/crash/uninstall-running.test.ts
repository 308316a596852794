import { spawn, type ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';

import { isAlive } from '../../src/lib/platform/files/lock';
import { BIN, cleanEnv, steward, type StewardResult } from '../helpers/cli';
import { fakeCrontab, type FakeCrontab } from '../helpers/schedule';
import { until } from '../helpers/desktop-kit';
import { notifyServer } from '../helpers/notify-server';
import { removeFolder, snapshot } from '../helpers/scratch';

/** What a scheduler has begun just before, goes on while the area is removed. */
describe('uninstall --purge while a job runs (built)', function () {
  this.timeout(300_000);
  let root = '';
  let home = '';
  let crontab: FakeCrontab;
  const runs: ChildProcess[] = [];

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'steward-running-'));
    home = join(root, 'home');
    mkdirSync(home);
    crontab = fakeCrontab(join(root, 'cron'));
  });
  afterEach(() => {
    for (const run of runs.splice(0)) signal(run, 'SIGKILL');
    removeFolder(root);
  });

  const run = (...args: string[]): Promise<StewardResult> =>
    steward(args, { home, env: { PATH: crontab.path } });
  const done = async (...args: string[]): Promise<StewardResult> => {
    const result = await run(...args);
    expect(result.code, `${args.join(' ')}: ${result.stdout}${result.stderr}`).to.equal(0);
    return result;
  };
  /** Starts a job as a scheduler does, in a process group of its own. */
  const start = (
    job: string,
    launcher = join(home, '.steward', 'bin', 'steward-job'),
  ): { child: ChildProcess; ended: Promise<number | null> } => {
    const child = spawn('/bin/sh', [launcher, job], {
      env: { PATH: process.env['PATH'], HOME: home },
      detached: true,
      stdio: 'ignore',
    });
    runs.push(child);
    return { child, ended: new Promise((resolve) => child.once('exit', resolve)) };
  };
  const shim = (): string => join(home, '.steward', 'bin', 'steward-hook');
  /** Starts a hook as the assistant does, in a process group of its own; its input is the caller's. */
  const startHook = (verb: string): { child: ChildProcess; ended: Promise<number | null> } => {
    const child = spawn('/bin/sh', [shim(), verb], {
      env: { PATH: process.env['PATH'], HOME: home },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    runs.push(child);
    child.stdin?.on('error', () => child.stdin?.destroy());
    return { child, ended: new Promise((resolve) => child.once('exit', resolve)) };
  };
  const signal = ({ pid, exitCode }: ChildProcess, name: NodeJS.Signals): void => {
    if (pid === undefined || exitCode !== null) return;
    try {
      process.kill(-pid, name);
    } catch {
      // It has ended by itself.
    }
  };

  it('leaves nothing, wherever the run is paused', async () => {
    const before = snapshot(home);
    // From before the shell has read its script to after the capture has ended.
    for (const ms of [0, 15, 80, 200, 450]) {
      await done('sense', 'install', '--scheduler', 'cron');
      const { child, ended } = start('tick');
      await delay(ms);
      signal(child, 'SIGSTOP');
      let isOver = false;
      const over = run('uninstall', '--purge', '--yes').finally(() => (isOver = true));
      // Either it goes through beside the run that stands still, or it waits for that.
      await Promise.race([over, delay(2500)]);
      signal(child, 'SIGCONT');
      const result = await over;
      expect(isOver).to.equal(true);
      expect(result.code, `${ms} ms: ${result.stdout}${result.stderr}`).to.equal(0);
      await ended;
      expect(snapshot(home), `${ms} ms`).to.deep.equal(before);
      expect(crontab.text()).to.equal(undefined);
    }
  });

  it('waits for a long run, says so, and then removes everything', async () => {
    const before = snapshot(home);
    const gate = join(root, 'gate');
    const asked = join(root, 'asked');
    const model = join(root, 'model');
    writeFileSync(
      model,
      `#!/bin/sh\ncat >/dev/null\n: >'${asked}'\nwhile [ ! -e '${gate}' ]; do sleep 0.05; done\n`,
      {
        mode: 0o755,
      },
    );
    await done('sense', 'install', '--insight', '--scheduler', 'cron');
    await done('config', 'set', 'sense.insight.command', model);
    mkdirSync(join(home, 'repo'));
    await done('sense', 'capture');
    writeFileSync(
      join(home, '.steward', 'sense', 'events', `${new Date().toISOString().slice(0, 10)}.jsonl`),
      `${JSON.stringify({ ts: new Date().toISOString(), type: 'app-focus', source: 'appFocus', app: 'Editor' })}\n`,
    );
    const { child, ended } = start('tick');
    await until('the question', () => snapshot(root, ['home', 'cron'])['asked'] !== undefined, 60_000);
    const over = spawn(process.execPath, [BIN, 'uninstall', '--purge', '--yes'], {
      env: cleanEnv(home, { PATH: crontab.path }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    runs.push(over);
    const code = new Promise((resolve) => over.once('exit', resolve));
    let said = '';
    over.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const words = `Waiting for tick (process ${child.pid}) to end.`;
    await until('what it waits for', () => said.includes(words), 60_000);
    expect(crontab.text()).to.equal(undefined);
    expect(over.exitCode, 'it waits').to.equal(null);
    writeFileSync(gate, '');
    expect(await code, said).to.equal(0);
    await ended;
    rmSync(join(home, 'repo'), { recursive: true });
    expect(snapshot(home)).to.deep.equal(before);
  });

  it('leaves nothing of a hook that its shim started, wherever it pauses before it has read its input', async () => {
    const settings = join(home, '.claude', 'settings.json');
    mkdirSync(join(home, '.claude'));
    writeFileSync(settings, '{}\n');
    const before = snapshot(home);
    // From before the shell has read its script to the waiting for the rest of the input.
    const [begin, rest] = ['{"session_id":"s",', '"hook_event_name":"PreToolUse","tool_name":"Bash"}'];
    for (const ms of [0, 15, 50, 150]) {
      await done('hooks', 'install');
      const { child, ended } = startHook('tool');
      child.stdin?.write(begin);
      await delay(ms);
      signal(child, 'SIGSTOP');
      const { code, stdout, stderr } = await run('uninstall', '--purge', '--yes');
      expect(code, `${ms} ms: ${stdout}${stderr}`).to.equal(0);
      child.stdin?.end(rest);
      signal(child, 'SIGCONT');
      await ended;
      expect(snapshot(home), `${ms} ms`).to.deep.equal(before);
    }
  });

  it('leaves nothing of a running hook and the process it started', async () => {
    const settings = join(home, '.claude', 'settings.json');
    mkdirSync(join(home, '.claude'));
    writeFileSync(settings, '{}\n');
    const before = snapshot(home);
    const area = join(home, '.steward');
    for (const verb of ['stop', 'session-end']) {
      await done('hooks', 'install');
      const { child, ended } = startHook(verb);
      child.stdin?.end(JSON.stringify({ session_id: 's' }));
      // It has begun to write, and stands still until its shim is gone.
      await until('its event', () => existsSync(join(area, 'state', 'work-events.jsonl')), 60_000);
      signal(child, 'SIGSTOP');
      const over = run('uninstall', '--purge', '--yes');
      await until('the shim to go', () => !existsSync(shim()), 60_000);
      signal(child, 'SIGCONT');
      await ended;
      const { code, stdout, stderr } = await over;
      expect(code, `${verb}: ${stdout}${stderr}`).to.equal(0);
      expect(snapshot(home), verb).to.deep.equal(before);
    }
  });

  it('ends background delivery, and leaves nothing of it', async () => {
    const server = await notifyServer(() => 'hang');
    try {
      const before = snapshot(home);
      mkdirSync(join(home, '.steward'), { mode: 0o700 });
      const push = { topic: 'x'.repeat(16), server: server.url };
      writeFileSync(join(home, '.steward', 'settings.json'), JSON.stringify({ notifications: { push } }), {
        mode: 0o600,
      });
      await done('notify', 'send', 'x', '--event', 'backgroundAgent');
      await until('its request', () => server.got.length === 1, 60_000);
      const state = join(home, '.local', 'state', 'steward');
      const lock = readdirSync(state)
        .map((name) => join(state, name, 'notify-deliver.lock'))
        .find(existsSync);
      const { pid } = JSON.parse(readFileSync(lock ?? '', 'utf8')) as { pid: number };
      await done('uninstall', '--purge', '--yes');
      await until('its end', () => !isAlive(pid), 60_000);
      expect(snapshot(home)).to.deep.equal(before);
    } finally {
      await server.close();
    }
  });

  it('a removed job writes nothing, and creates no user area', async () => {
    await done('sense', 'install', '--scheduler', 'cron');
    const area = join(home, '.steward');
    const launcher = join(root, 'steward-job');
    copyFileSync(join(area, 'bin', 'steward-job'), launcher);
    await done('sense', 'install', '--uninstall');
    const kept = snapshot(area);
    expect(await start('tick', launcher).ended).to.equal(0);
    expect(snapshot(area)).to.deep.equal(kept);
    await done('sense', 'install', '--scheduler', 'cron');
    // The launcher stays where it was copied to; its area is gone.
    const { child, ended } = start('tick');
    signal(child, 'SIGSTOP');
    rmSync(join(home, '.steward'), { recursive: true });
    signal(child, 'SIGCONT');
    await ended;
    expect(Object.keys(snapshot(home)).filter((path) => path.startsWith('.steward'))).to.deep.equal([]);
  });
});
