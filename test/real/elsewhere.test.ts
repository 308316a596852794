import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import type { Inbox } from '../../src/lib/inbox/row';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import { storedNotifications } from '../helpers/area-machines';
import { BIN, cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { startDaemon, type RunningDaemon } from '../helpers/daemon';
import { until } from '../helpers/desktop-kit';
import { hookJson } from '../helpers/hooks';
import { converse } from '../helpers/on-terminal';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';
import { startSshd, type Sshd } from '../helpers/sshd';

const ASKS = 'asks to run Bash';

describe('sessions of another machine (built)', function () {
  this.timeout(180_000);
  const { path } = scratch();
  let [server, laptop] = [emptyHome(), emptyHome()];
  let daemon: RunningDaemon | undefined;
  let sshd: Sshd | undefined;
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', path('tmux'), ...args], { env: cleanEnv(server.path), encoding: 'utf8' });

  before(function () {
    requirePrograms(this, {
      tmux: 'tmux',
      'ssh-keygen': 'openssh-client',
      sshd: 'openssh-server',
      python3: 'python3',
    });
  });
  beforeEach(async () => {
    [server, laptop] = [emptyHome(), emptyHome()];
    for (const [index, home] of [server, laptop].entries()) {
      await succeeds(home, 'sense', 'capture');
      await succeeds(home, 'sync', 'rename', ['server', 'laptop'][index] ?? '');
    }
  });
  afterEach(async () => {
    spawnSync('tmux', ['-S', path('tmux'), 'kill-server']);
    await daemon?.stop();
    sshd?.process.kill();
    [server, laptop].forEach((home) => home.remove());
  });

  type Home = { path: string };
  const options = (home: Home) => ({
    home: home.path,
    env: { PATH: `${path('bin')}:${process.env['PATH'] ?? ''}` },
  });
  async function succeeds(home: Home, ...args: string[]): Promise<StewardResult> {
    const result = await steward(args, options(home));
    expect(result.code, result.stderr).to.equal(0);
    return result;
  }
  const sessionsOf = async (home: Home): Promise<SessionsReport['sessions']> =>
    (jsonOf(await succeeds(home, 'sessions', '--json')) as SessionsReport).sessions;

  /** Starts a session in tmux on the server, which asks for a permission. */
  async function startSession(name: string, id: string): Promise<void> {
    const repo = path(name);
    execFileSync('git', ['init', '-q', '-b', 'main', repo]);
    for (const event of ['session-start', 'permission'] as const)
      writeFileSync(path(`${name}-${event}`), hookJson(event, { session_id: id, cwd: repo }));
    const hook = (verb: string, event: string): string =>
      `${process.execPath} ${BIN} hook ${verb} < ${path(`${name}-${event}`)}`;
    const script = [
      hook('session-start', 'session-start'),
      hook('notification', 'permission'),
      'exec sleep 600',
    ];
    writeFileSync(path(`${name}.sh`), script.join('\n'));
    tmux('new-session', '-d', '-s', name, '-c', repo, `exec sh ${path(`${name}.sh`)}`);
    await until('the request', async () =>
      (await sessionsOf(server)).some(({ repo: found, waitingFor }) => found === name && waitingFor !== null),
    );
  }

  it('come through the exchange folder, without details and restricted work', async () => {
    mkdirSync(path('exchange'));
    mkdirSync(path('client'));
    writeFileSync(path('client/RESTRICTED.md'), '');
    for (const home of [server, laptop]) await succeeds(home, 'sync', 'setup', '--create', path('exchange'));
    daemon = await startDaemon(options(server));
    await startSession('api', '0f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6');
    const restricted = { session_id: '1f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6', cwd: path('client') };
    const started = { ...options(server), input: hookJson('session-start', restricted) };
    expect((await steward(['hook', 'session-start'], started)).code).to.equal(0);
    await until('the row', async () =>
      (await sessionsOf(laptop)).some(({ waitingFor }) => waitingFor === ASKS),
    );
    const rows = await sessionsOf(laptop);
    expect(rows.map(({ name, elsewhere }) => [name, elsewhere?.machine])).to.deep.equal([
      ['server · api·main', 'server'],
    ]);
    const { rows: waits } = jsonOf(await succeeds(laptop, 'inbox', '--json')) as Inbox;
    expect(waits.map(({ name, why, blocks }) => [name, why, blocks])).to.deep.equal([
      ['server · api·main', ASKS, true],
    ]);
    expect((await succeeds(laptop, 'inbox', '--plain')).stdout).to.match(
      /^server · api·main +asks to run Bash .* ago$/m,
    );
    expect((await succeeds(laptop, 'sessions')).stdout).to.match(
      /^1 {2}server · api·main +waiting .*asks to run Bash/m,
    );
    for (const words of [['go'], ['go', '1'], ['go', 'server api']])
      expect((await succeeds(laptop, ...words)).stdout).to.equal("steward go 'api·main'  # on server\n");
    const published = readFileSync(liveFile(), 'utf8');
    expect(published).not.to.match(/0f0e9d1c|1f0e9d1c|client|restricted/);
    expect(await sessionsOf(server)).to.have.length(2);
    tmux('kill-server');
    await until('no row', async () => (await sessionsOf(laptop)).length === 0);
    expect(existsSync(liveFile())).to.equal(false);
  });
  const liveFile = (): string => {
    const machines = readdirSync(path('exchange/machines')).map((id) =>
      path('exchange/machines', id, 'live.json'),
    );
    return machines.find((file) => existsSync(file)) ?? path('none');
  };

  it('are told by the machine where you are, and only there', async () => {
    mkdirSync(path('exchange'));
    for (const home of [server, laptop]) await succeeds(home, 'sync', 'setup', path('exchange'));
    // Only the laptop has a window in front.
    mkdirSync(path('desk'));
    writeFileSync(path('desk/hyprctl'), `#!/bin/sh\necho '{"class":"kitty","title":"x"}'\n`);
    chmodSync(path('desk/hyprctl'), 0o755);
    const there = {
      HYPRLAND_INSTANCE_SIGNATURE: 'desk',
      PATH: `${path('desk')}:${options(laptop).env.PATH}`,
    };
    const daemons = [
      await startDaemon({ home: laptop.path, env: there }),
      await startDaemon(options(server)),
    ];
    try {
      await until('the laptop says that you are there', () => /"isHere":true/.test(liveText()));
      const startedMs = Date.now();
      await startSession('api', '0f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6');
      const toldBy = ({ path: home }: Home): string[] =>
        storedNotifications(join(home, '.steward')).filter((text) => text.includes(ASKS));
      await until('the alert', () => toldBy(laptop).length > 0);
      console.log(`        told after ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
      expect(toldBy(laptop)).to.deep.equal([`server · api·main ${ASKS}.`]);
      expect(toldBy(server)).to.deep.equal([]);
    } finally {
      for (const one of daemons) await one.stop();
    }
  });
  const liveText = (): string => (existsSync(liveFile()) ? readFileSync(liveFile(), 'utf8') : '');

  it('come by ssh, which go then takes to their tmux', async function () {
    mkdirSync(path('bin'));
    const home = cleanEnv(server.path);
    const names = [
      'STEWARD_HOME',
      'XDG_CONFIG_HOME',
      'XDG_CACHE_HOME',
      'XDG_STATE_HOME',
      'XDG_DATA_HOME',
      'TZ',
    ];
    const environment = Object.fromEntries(names.map((name) => [name, home[name] ?? '']));
    sshd = await startSshd(path, { ...environment, PATH: options(server).env.PATH, LANG: 'C.UTF-8' });
    if (sshd === undefined) this.skip();
    const { port, options: given } = sshd;
    const script = (name: string, line: string): void => {
      writeFileSync(path('bin', name), `#!/bin/sh\n${line}\n`);
      chmodSync(path('bin', name), 0o755);
    };
    script('steward', `exec ${process.execPath} ${BIN} "$@"`);
    script('ssh', `exec /usr/bin/ssh ${given.join(' ')} -p ${port} -l ${userInfo().username} "$@"`);
    await startSession('api', '0f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6');
    const wrong = await steward(['sync', 'connect', 'ssh', 'no-such-host.invalid'], options(laptop));
    expect(wrong).to.include({ code: 8, stdout: '' });
    // Both ask each other, which must end.
    for (const home of [laptop, server])
      await until('the host', async () => {
        const { code } = await steward(['sync', 'connect', 'ssh', '127.0.0.1'], options(home));
        return code === 0;
      });
    let row: SessionsReport['sessions'][number] | undefined;
    await until('the row', async () => {
      [row] = await sessionsOf(laptop);
      return row !== undefined;
    });
    expect(row).to.include({ name: '127.0.0.1 · api·main', waitingFor: ASKS, status: 'waiting' });
    expect(row?.elsewhere).to.include({ host: '127.0.0.1' });
    await until('the row of the inbox', async () => {
      const { rows: waits } = jsonOf(await succeeds(laptop, 'inbox', '--json')) as Inbox;
      return waits.map(({ name }) => name).join() === '127.0.0.1 · api·main';
    });
    await until('the command', async () => {
      const { stdout } = await steward(['go'], options(laptop));
      return stdout === "ssh -t -- 127.0.0.1 'steward go '\\''api·main'\\'''\n";
    });
    tmux('set', '-g', 'status-left', 'TMUX-OF-SERVER');
    tmux('set', '-g', 'status-left-length', '40');
    await until('the tmux of the server', async () => {
      const { missed } = await converse(['go'], [['TMUX-OF-SERVER', '\x02d']], options(laptop));
      return missed.length === 0;
    });
    sshd.process.kill();
    expect((await succeeds(laptop, 'sessions')).stderr).to.include('127.0.0.1 did not answer by ssh.');
    // The inbox asks nobody: it has the last answer, and says how old it is.
    const { rows: last, asOf } = jsonOf(await succeeds(laptop, 'inbox', '--json')) as Inbox;
    expect(last.map(({ name, elsewhere }) => [name, elsewhere?.asOf])).to.deep.equal([
      ['127.0.0.1 · api·main', asOf['127.0.0.1']],
    ]);
    await succeeds(laptop, 'sync', 'connect', 'ssh');
    expect(await sessionsOf(laptop)).to.deep.equal([]);
  });
});
