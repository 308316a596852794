import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import type { DaemonStatus } from '../../src/lib/daemon/status';
import { BIN, cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { requireNamespace } from '../helpers/namespace';
import {
  ask,
  daemonLogOf,
  machineFolder,
  signIn,
  startDaemon,
  until,
  type RunningDaemon,
} from '../helpers/daemon';

describe('the daemon (built)', function () {
  this.timeout(120_000);
  let home: { path: string; remove: () => void };
  const running: RunningDaemon[] = [];
  beforeEach(() => (home = emptyHome()));
  afterEach(async () => {
    // One that was started anew is the child of the one that was started here.
    if (running.length > 0) await cli('daemon', 'stop');
    for (const daemon of running.splice(0)) await daemon.stop('SIGKILL');
    home.remove();
  });

  const start = async (more: Partial<Parameters<typeof startDaemon>[0]> = {}): Promise<RunningDaemon> => {
    const daemon = await startDaemon({ home: home.path, ...more });
    running.push(daemon);
    return daemon;
  };
  const cli = (...args: string[]) => steward(args, { home: home.path });
  const area = (...names: string[]): string => join(home.path, '.steward', ...names);
  const json = async <T>(url: string): Promise<T> => JSON.parse((await ask(url)).text) as T;

  it('moves the settings of an older file when it starts, and says so', async () => {
    mkdirSync(area('sense'), { recursive: true });
    writeFileSync(area('sense', 'config.json'), '{"retentionDays": 60}');
    const daemon = await start();
    expect(daemon.output()).to.include('Moved 1 setting from sense/config.json to config.yaml.');
    expect(existsSync(area('sense', 'config.json'))).to.equal(false);
  });

  it('serves, reports its state, and stops on request', async () => {
    await cli('sense', 'init');
    const daemon = await start();
    expect(daemon.url).to.equal(`http://127.0.0.1:${daemon.port}`);
    expect(daemon.output(), 'one line').to.match(/^\{"url":"[^\n]*\}\n$/);
    expect(await json(`${daemon.url}/healthz`)).to.include({ status: 'ok', pid: daemon.pid });
    const status = await json<DaemonStatus>(`${daemon.url}/api/status`);
    expect(status.modules.map(({ id }) => id)).to.include('sense');
    expect(status.outbox).to.deep.equal({ waiting: 0, failed: 0 });

    const shown = await cli('daemon', 'status');
    expect(shown.code, shown.stderr).to.equal(0);
    expect(shown.stdout).to.include(daemon.url).and.include('capture');
    expect(jsonOf(await cli('daemon', 'status', '--json'))).to.include({ running: true, url: daemon.url });
    expect((await cli('sense', 'status')).stdout).to.match(/scheduler +the daemon/);
    expect((await cli('open', 'work', '--print')).stdout).to.match(
      /^http:\/\/127\.0\.0\.1:\d+\/work#code=[\w-]{32}\n$/,
    );
    expect((await cli('open', 'nowhere')).code).to.equal(2);

    const stopped = await cli('daemon', 'stop');
    expect(stopped).to.include({ code: 0, stdout: 'The daemon has stopped.\n' });
    expect(await daemon.ended).to.equal(0);
    expect(readdirSync(machineFolder(home.path)).filter((name) => name.startsWith('daemon'))).to.deep.equal(
      [],
    );

    expect(await cli('daemon', 'status')).to.include({ code: 8 });
    expect(jsonOf(await cli('daemon', 'status', '--json'))).to.include({ running: false });
    expect(await cli('daemon', 'stop')).to.include({ code: 0, stdout: 'The daemon is not running.\n' });
    expect((await cli('open')).code).to.equal(8);
    expect((await cli('sense', 'status')).stdout).to.include('steward up');
    const log = await cli('daemon', 'logs', '--json');
    expect((jsonOf(log) as { event: string }[]).map(({ event }) => event)).to.deep.equal([
      'started',
      'stopping',
      'stopped',
    ]);
    expect((await cli('daemon', 'logs', '--limit', '1')).stdout).to.match(/stopped\n$/);
  });

  it('restarts with the current configuration, unless that is invalid (slow)', async () => {
    expect(await cli('daemon', 'restart')).to.include({ code: 8, stdout: '' });
    const daemon = await start();
    await cli('config', 'set', 'daemon.requireToken', 'true');
    const { pid } = daemon;
    const page = await signIn(home.path, daemon.url);
    const done = await cli('daemon', 'restart', '--json');
    expect(done.code, done.stderr).to.equal(0);
    const { pid: now } = jsonOf(done) as { pid: number };
    expect(jsonOf(done)).to.deep.equal({ url: daemon.url, pid: now, before: pid, startedBy: null });
    expect(now).not.to.equal(pid);
    expect((await ask(`${daemon.url}/api/status`)).status).to.equal(401);
    expect((await ask(`${daemon.url}/api/status`, { headers: page })).status, 'a page').to.equal(200);

    writeFileSync(area('config.yaml'), 'daemon: {requireToken: maybe}');
    const wrong = await cli('daemon', 'restart');
    expect(wrong.code).to.equal(3);
    expect(wrong.stderr).to.include('daemon.requireToken');
    const status = jsonOf(await cli('daemon', 'status', '--json'));
    expect(status, 'the one that runs goes on').to.include({ running: true, pid: now });

    writeFileSync(area('config.yaml'), '');
    expect(await cli('daemon', 'restart')).to.include({
      code: 0,
      stdout: `The daemon restarted at ${daemon.url}\n`,
    });
    expect((await ask(`${daemon.url}/api/status`)).status).to.equal(200);
    expect(await daemon.stop(), 'whoever started it ends it').to.equal(0);
    const said = daemon.output().trimEnd().split('\n');
    const urls = said.map((line) => (JSON.parse(line) as { url: string }).url);
    expect(urls, 'one line whenever it listens').to.deep.equal(Array<string>(3).fill(daemon.url));
    expect(daemonLogOf(home.path).filter(({ why }) => why === 'restarted')).to.have.length(2);
  });

  it('returns the same sense data as the commands, and 304 for a matching ETag', async () => {
    await cli('up', '--yes', '--once');
    const daemon = await start();
    const today = await json<{ generatedAt: string }>(`${daemon.url}/api/sense/today`);
    const told = jsonOf(await cli('sense', 'today', '--json')) as object;
    expect(today).to.deep.equal({ ...told, generatedAt: today.generatedAt });
    expect(await json(`${daemon.url}/api/sense/recent?days=30`)).to.deep.equal([]);
    expect(await json(`${daemon.url}/api/sense/insight`))
      .to.deep.equal(jsonOf(await cli('sense', 'insight', '--json')))
      .and.to.include({ available: false, stale: false });
    expect(await json(`${daemon.url}/api/sense/sources`)).to.deep.equal(
      jsonOf(await cli('sense', 'sources', '--json')),
    );
    expect(await json(`${daemon.url}/api/sense/status`)).to.deep.equal(
      jsonOf(await cli('sense', 'status', '--json')),
    );
    for (const path of ['today', 'recent', 'sources', 'status']) {
      const url = `${daemon.url}/api/sense/${path}`;
      const { headers } = await ask(url);
      expect(
        (await ask(url, { headers: { 'if-none-match': String(headers['etag']) } })).status,
        path,
      ).to.equal(304);
    }
    for (const days of ['0', '367', '-1', 'x', '1.5']) {
      const answer = await ask(`${daemon.url}/api/sense/recent?days=${days}`);
      expect(answer.status, days).to.equal(400);
      expect(answer.text).to.include('days');
    }
  });

  it('captures on request and by itself, under the lock of the scheduled job (slow)', async () => {
    await cli('sense', 'init');
    const daemon = await start();
    await until('a capture', async () => {
      const { lastCaptureTs } = await json<{ lastCaptureTs: string | null }>(
        `${daemon.url}/api/sense/status`,
      );
      return lastCaptureTs !== null;
    });
    const captured = (): string => readFileSync(area('sense', 'state.json'), 'utf8');
    const before = captured();
    await daemon.stop();
    const again = await start();
    await until('the job to have run', async () => {
      const { jobs } = await json<DaemonStatus>(`${again.url}/api/status`);
      return jobs.some(({ id, reason }) => id === 'capture' && reason === 'another capture has just run');
    });
    expect(captured()).to.equal(before);
  });

  it('captures nothing before setup (slow)', async () => {
    const daemon = await start();
    await until('the job to have run', async () => {
      const { jobs } = await json<DaemonStatus>(`${daemon.url}/api/status`);
      return jobs.some(({ id, lastRun }) => id === 'capture' && lastRun !== null);
    });
    const { modules } = await json<DaemonStatus>(`${daemon.url}/api/status`);
    expect(modules.find(({ id }) => id === 'sense')).to.include({ state: 'off', fix: 'steward up' });
    expect(existsSync(area('sense'))).to.equal(false);
  });

  it('runs once per user area, and is replaced after a kill (slow)', async () => {
    const first = await start();
    const second = await cli('daemon', 'serve', '--port', '0');
    expect(second.code).to.equal(7);
    expect(second.stderr).to.include(first.url).and.include(`process ${first.pid}`);
    const up = await cli('up', '--yes');
    expect(up.code, up.stderr).to.equal(0);
    expect(up.stderr).to.include(`The daemon is already running: ${first.url}/`);
    expect(await first.stop('SIGKILL')).to.equal('SIGKILL');
    expect((await cli('daemon', 'status')).code).to.equal(8);
    const next = await start();
    expect(await json(`${next.url}/healthz`)).to.include({ pid: next.pid });
    expect((await cli('daemon', 'status')).code).to.equal(0);
  });

  it('is not replaced by one in another pid namespace, which cannot see its process (slow)', async function () {
    requireNamespace(this);
    const daemon = await start();
    const lock = join(machineFolder(home.path), 'daemon.lock');
    const holder = JSON.parse(readFileSync(lock, 'utf8')) as { at: number };
    writeFileSync(lock, JSON.stringify({ ...holder, at: holder.at - 3_600_000 }));
    const hourAgo = Date.now() / 1000 - 3600;
    utimesSync(lock, hourAgo, hourAgo);
    const inside = [
      '--pid',
      '--fork',
      '--kill-child',
      process.execPath,
      BIN,
      'daemon',
      'serve',
      '--port',
      '0',
    ];
    const second = spawnSync('unshare', inside, {
      env: cleanEnv(home.path),
      encoding: 'utf8',
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    expect(second.stderr).to.include(`already running at ${daemon.url}`);
    expect(second.status).to.equal(7);
    expect((await ask(`${daemon.url}/healthz`)).status).to.equal(200);
  });

  it('names the process that uses its port', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    try {
      const result = await cli('daemon', 'serve', '--port', String(port));
      expect(result.code).to.equal(6);
      expect(result.stderr).to.include(`Port ${port} is in use by`);
      if (process.platform === 'linux') expect(result.stderr).to.include(`process ${process.pid}`);
      const told = (await cli('daemon', 'serve', '--port', String(port), '--json')).stderr;
      expect(JSON.parse(told)).to.have.nested.property('error.kind', 'conflict');
    } finally {
      other.close();
    }
  });

  it('explains invalid flags and configuration', async () => {
    for (const [args, code, text] of [
      [['--port', '70000'], 2, '65535'],
      [['--port', 'x'], 2, 'whole number'],
      [['--host', 'not a host'], 2, 'daemon.host'],
      [['--host', '0.0.0.0', '--port', '0'], 3, 'requireToken'],
      [['--host', '203.0.113.7', '--port', '0'], 3, 'requireToken'],
      [['more'], 2, 'more'],
    ] as const) {
      const result = await cli('daemon', 'serve', ...args);
      expect(result.code, `${args.join(' ')}: ${result.stderr}`).to.equal(code);
      expect(result.stderr).to.include(text);
    }
    mkdirSync(area(), { recursive: true });
    writeFileSync(area('config.yaml'), 'daemon: {port: many}\n');
    expect(await cli('daemon', 'serve')).to.include({ code: 3 });
  });

  it('reports a broken configuration, keeps running, and recovers after the fix (slow)', async () => {
    await cli('sense', 'init');
    const daemon = await start();
    const config = area('config.yaml');
    const good = readFileSync(config, 'utf8');
    expect((await ask(`${daemon.url}/api/sense/today`)).status).to.equal(200);
    writeFileSync(config, 'sense: {pollIntervalSec: often}\n');
    for (const path of ['today', 'sources', 'status', 'recent']) {
      const answer = await ask(`${daemon.url}/api/sense/${path}`);
      expect(answer.status, path).to.equal(500);
      expect(JSON.parse(answer.text)).to.have.nested.property('error.kind', 'config');
      expect(answer.text).to.include('pollIntervalSec');
    }
    await ask(`${daemon.url}/api/sense/today`);
    const faults = daemonLogOf(home.path).filter(({ event }) => event === 'request-failed');
    expect(
      faults.map(({ request }) => request),
      'each is logged once',
    ).to.have.members(['today', 'sources', 'status', 'recent'].map((path) => `GET /api/sense/${path}`));
    const { modules } = await json<DaemonStatus>(`${daemon.url}/api/status`);
    expect(modules.find(({ id }) => id === 'sense')?.state).to.equal('failed');
    writeFileSync(config, `${good}sense: {pollIntervalSec: 300}\n`);
    await until('it is right', async () =>
      (await ask(`${daemon.url}/api/sense/status`)).text.includes('"pollIntervalSec":300'),
    );
  });

  it('follows a change of the configured time zone (slow)', async () => {
    await cli('sense', 'init');
    const daemon = await start();
    const zone = async (): Promise<string> =>
      (await json<{ timezone: string }>(`${daemon.url}/api/sense/today`)).timezone;
    expect(await zone()).to.equal('UTC');
    await cli('config', 'set', 'timezone', 'Pacific/Kiritimati');
    // The zone of a day is fixed at its first write: today in UTC may have begun there, so the date decides.
    await until('the date there', async () => {
      const there = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Pacific/Kiritimati' }).format(new Date());
      return (await json<{ date: string }>(`${daemon.url}/api/sense/today`)).date === there;
    });
  });

  it('keeps running when the user area is removed, and does not recreate it (slow)', async () => {
    await cli('sense', 'init');
    const daemon = await start();
    await until('the first capture', () => existsSync(area('sense', 'state.json')));
    await until('it to have ended', async () => {
      const { jobs } = await json<DaemonStatus>(`${daemon.url}/api/status`);
      return jobs.every(({ nextRun }) => nextRun !== null);
    });
    rmSync(area(), { recursive: true });
    expect(await json(`${daemon.url}/api/sense/today`)).to.include({ totalMinutes: 0 });
    expect((await ask(`${daemon.url}/healthz`)).status).to.equal(200);
    const { modules } = await json<DaemonStatus>(`${daemon.url}/api/status`);
    expect(modules.find(({ id }) => id === 'sense')?.fix).to.equal('steward up');
    expect(await cli('daemon', 'stop')).to.include({ code: 0 });
    expect(existsSync(area())).to.equal(false);
  });

  it('answers 10,000 requests, 100 at a time (slow)', async () => {
    await cli('sense', 'init');
    const daemon = await start();
    const { default: autocannon } = await import('autocannon');
    const result = await autocannon({
      url: `${daemon.url}/api/sense/today`,
      connections: 100,
      amount: 10_000,
    });
    expect([result['2xx'], result.non2xx, result.errors]).to.deep.equal([10_000, 0, 0]);
  });

  it('completes every accepted request on SIGTERM under load (slow)', async () => {
    await cli('sense', 'init');
    const daemon = await start();
    const { Agent, get } = await import('node:http');
    let answered = 0;
    const lost: string[] = [];
    const client = async (agent: InstanceType<typeof Agent>): Promise<void> => {
      for (let last = false; !last;) {
        last = await new Promise<boolean>((resolve) => {
          get(`${daemon.url}/api/sense/today`, { agent }, (response) => {
            if (response.statusCode !== 200) lost.push(String(response.statusCode));
            response.on('error', (error) => lost.push(error.message));
            response.resume().on('end', () => {
              answered += 1;
              resolve(response.headers.connection === 'close');
            });
          }).on('error', (error) => {
            lost.push(error.message);
            resolve(true);
          });
        });
      }
    };
    const clients = Array.from({ length: 100 }, () => client(new Agent({ keepAlive: true, maxSockets: 1 })));
    await until('they are at it', () => answered > 1000);
    const ended = daemon.stop('SIGTERM');
    await Promise.all(clients);
    expect(lost).to.deep.equal([]);
    expect(await ended).to.equal(0);
    const log = daemonLogOf(home.path);
    expect(log.map(({ event }) => event)).to.deep.equal(['started', 'stopping', 'stopped']);
  });

  it('exits 0 on Ctrl-C (slow)', async () => {
    const daemon = await start();
    expect(await daemon.stop('SIGINT')).to.equal(0);
  });

  describe('the socket', () => {
    it('is for this user only, and needs no token (slow)', async function () {
      if (process.platform === 'win32') this.skip();
      await cli('config', 'set', 'daemon.requireToken', 'true');
      const daemon = await start();
      const socket = join(machineFolder(home.path), 'daemon.sock');
      expect(statSync(machineFolder(home.path)).mode & 0o777).to.equal(0o700);
      expect((await ask('http://localhost/healthz', { socket })).status).to.equal(200);
      expect((await ask(`${daemon.url}/healthz`)).status).to.equal(401);
      expect((await ask('http://evil.example/healthz', { socket })).status).to.equal(403);
    });

    it('is created with mode 0600, whatever the umask (slow)', async function () {
      if (process.platform === 'win32') this.skip();
      const mask = process.umask(0);
      try {
        await start();
      } finally {
        process.umask(mask);
      }
      expect(statSync(join(machineFolder(home.path), 'daemon.sock')).mode & 0o777).to.equal(0o600);
    });

    it('has another path if the usual one would be too long (slow)', async function () {
      if (process.platform === 'win32') this.skip();
      const env = { XDG_STATE_HOME: join(home.path, 'x'.repeat(90)) };
      await start({ env });
      const status = await steward(['daemon', 'status', '--json'], { home: home.path, env });
      expect(jsonOf(status)).to.include({ running: true });
    });
  });

  describe('the token', () => {
    it('is required for data, and a one-time code signs a page in (slow)', async () => {
      await cli('config', 'set', 'daemon.requireToken', 'true');
      const daemon = await start();
      for (const path of ['/healthz', '/api/status', '/api/sense/today', '/nowhere', '/open?code=x'])
        expect((await ask(daemon.url + path)).status, path).to.equal(401);
      for (const path of ['/', '/sense', '/work', '/assets/page.js'])
        expect((await ask(daemon.url + path)).status, `${path} holds no data`).to.equal(200);
      const token = readFileSync(join(machineFolder(home.path), 'daemon.token'), 'utf8').trim();
      const authorization = `Bearer ${token}`;
      expect((await ask(`${daemon.url}/healthz`, { headers: { authorization } })).status).to.equal(200);
      const { url, expiresInSec } = jsonOf(await cli('open', '--print', '--json')) as {
        url: string;
        expiresInSec: number;
      };
      expect(expiresInSec).to.equal(60);
      expect(url)
        .to.match(/^http:[^#?]+\/#code=[\w-]{32}$/)
        .and.not.include(token);
      const trade = (headers: Record<string, string> = {}) =>
        ask(`${daemon.url}/api/sign-in`, {
          method: 'POST',
          headers: { origin: daemon.url, 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ code: url.split('=')[1] }),
        });
      for (const headers of [
        { origin: 'http://127.0.0.1:1' },
        { 'sec-fetch-site': 'same-site' },
        { host: 'evil.example' },
      ])
        expect((await trade(headers as Record<string, string>)).status).to.equal(403);
      expect((await trade({ 'content-type': 'text/plain' })).status).to.equal(415);
      const entered = await trade();
      expect([entered.status, entered.headers['set-cookie']]).to.deep.equal([200, undefined]);
      const { secret } = JSON.parse(entered.text) as { secret: string };
      const asPage = { authorization: `Bearer ${secret}` };
      expect((await ask(`${daemon.url}/api/status`, { headers: asPage })).status).to.equal(200);
      expect((await trade()).status, 'once').to.equal(401);
      const shown = await cli('config', 'show', '--json');
      expect(shown.stdout + JSON.stringify(daemonLogOf(home.path))).not.to.include(token);
    });

    it('is required for another host (slow)', async () => {
      await cli('config', 'set', 'daemon.requireToken', 'true');
      const daemon = await start({ args: ['daemon', 'serve', '--host', '0.0.0.0', '--port', '0', '--json'] });
      expect((await ask(`http://127.0.0.1:${daemon.port}/healthz`)).status).to.equal(401);
    });
  });

  describe('another user of the machine', () => {
    before(function () {
      if (process.platform !== 'linux' || process.getuid?.() !== 0) this.skip();
    });

    /** The status of one request by another user. */
    const asOther = (url: string, headers: object = {}, method = 'GET'): number => {
      const code = `fetch(process.argv[1], JSON.parse(process.argv[2])).then(({ status }) => console.log(status))`;
      const options = { method, headers, ...(method === 'POST' ? { body: '{"message":"x"}' } : {}) };
      const child = spawnSync(process.execPath, ['-e', code, url, JSON.stringify(options)], {
        cwd: '/',
        env: {},
        uid: 65_534,
        encoding: 'utf8',
      });
      return Number(child.stdout);
    };

    it('is refused over TCP, and posts have no effect (slow)', async () => {
      const daemon = await start();
      for (const path of ['/', '/healthz', '/api/status', '/api/sense/today', '/nowhere'])
        expect(asOther(daemon.url + path), path).to.equal(403);
      expect(asOther(`${daemon.url}/notify`, {}, 'POST')).to.equal(403);
      expect(jsonOf(await cli('notify', 'history', '--json'))).to.deep.equal([]);
      expect((await ask(`${daemon.url}/healthz`)).status, 'this user').to.equal(200);
    });

    it('is accepted with the token, or with daemon.otherUsers (slow)', async () => {
      await cli('config', 'set', 'daemon.requireToken', 'true');
      const closed = await start();
      const token = readFileSync(join(machineFolder(home.path), 'daemon.token'), 'utf8').trim();
      expect(asOther(`${closed.url}/healthz`, { authorization: `Bearer ${token}` })).to.equal(200);
      expect(asOther(`${closed.url}/healthz`)).to.equal(403);
      expect(asOther(`${closed.url}/api/sign-in`, {}, 'POST'), 'not even with a stolen code').to.equal(403);
      await closed.stop();
      await cli('config', 'set', 'daemon.requireToken', 'false');
      await cli('config', 'set', 'daemon.otherUsers', 'true');
      expect(asOther(`${(await start()).url}/healthz`)).to.equal(200);
    });
  });

  describe('open', () => {
    const opener = (script: string): Record<string, string> => {
      const bin = join(home.path, 'bin');
      mkdirSync(bin);
      writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return { PATH: `${bin}:${process.env['PATH']}` };
    };
    const open = (env: Record<string, string>) => steward(['open'], { home: home.path, env });
    beforeEach(function () {
      if (process.platform !== 'linux') this.skip();
    });

    it('opens the browser, and does not wait for it to end (slow)', async () => {
      const env = opener(
        `printf '%s\\n' $$ "$#" "$1" >"${home.path}/new"; mv "${home.path}/new" "${home.path}/opened"; exec sleep 600`,
      );
      const daemon = await start();
      expect(await open(env)).to.include({ code: 0, stdout: 'Opened the page in the browser.\n' });
      const opened = join(home.path, 'opened');
      await until('the browser', () => existsSync(opened));
      const [pid, ...words] = readFileSync(opened, 'utf8').split('\n');
      // It is alive still, and ours to end.
      process.kill(Number(pid), 'SIGKILL');
      const [, code = ''] = words[1]?.split('#') ?? [];
      expect(words).to.deep.equal(['1', `${daemon.url}/#${code}`, '']);
      expect(code).to.match(/^code=[\w-]{32}$/);
    });

    it('prints the address where no browser opens (slow)', async () => {
      const env = opener('exit 3');
      const stopped = await open(env);
      expect(stopped.code).to.equal(8);
      expect(stopped.stderr).to.include('Start it with "steward up" or').and.include('prints the address');
      const daemon = await start();
      const failed = await open(env);
      expect(failed.code).to.equal(0);
      expect(failed.stderr).to.include('xdg-open exited with 3').and.include('Open this address yourself:');
      expect(failed.stdout).to.match(new RegExp(`^${daemon.url}/#code=[\\w-]{32}\n$`));
      const missing = await open({ PATH: '/nowhere' });
      expect(missing).to.include({ code: 0 });
      expect(missing.stderr).to.include('xdg-open is not installed').and.not.include('ssh');
      const byLogin = await open({ ...env, SSH_CONNECTION: '192.0.2.7 50022 192.0.2.8 22' });
      const { port } = new URL(daemon.url);
      expect(byLogin.stderr).to.include(`ssh -L ${port}:127.0.0.1:${port} HOST`);
    });
  });

  describe('up', () => {
    it('sets up, captures, prints the address of the dashboard, and serves until stopped (slow)', async () => {
      const daemon = await start({ args: ['up', '--yes', '--port', '0', '--json'] });
      const { daemon: url, created } = daemon.document as { daemon: string; created: boolean };
      expect(created).to.equal(true);
      await until('the address', () => daemon.output().includes(`Dashboard: ${url}/`));
      expect(await json(`${url}/api/sense/status`))
        .to.have.property('lastCaptureTs')
        .that.is.a('string');
      expect(await daemon.stop('SIGINT')).to.equal(0);
    });
  });
});
