import { expect } from 'chai';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';

import { asOnlyDaemon, readInstance, removeInstance, writeInstance } from '../../../src/lib/daemon/instance';
import { daemonLog, lastLines } from '../../../src/lib/daemon/log';
import { PAGE_POLICY, pageRoutes } from '../../../src/lib/daemon/routes';
import { upgradeJob } from '../../../src/lib/daemon/jobs';
import { daemonStatusText, duration, logLineText, type RunningReport } from '../../../src/lib/daemon/status';
import { httpUrl, isLoopback, localAddress } from '../../../src/lib/platform/net/address';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { askLocal } from '../../../src/lib/platform/net/local-http';
import { portOwner } from '../../../src/lib/platform/net/peer';
import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { senseFinding } from '../../../src/lib/sense/source';
import { StewardError } from '../../../src/lib/errors';
import { rejection } from '../../helpers/errors';
import { testArea, type TestArea } from '../../helpers/area';
import { testApp } from '../../helpers/daemon-app';
import { scratch } from '../../helpers/scratch';
import { long } from '../../helpers/long';

const clock = systemClock();

describe('daemon parts', () => {
  describe('instance', () => {
    let box: TestArea;
    beforeEach(() => (box = testArea()));
    afterEach(() => box.remove());
    const instance = {
      pid: 12,
      url: 'http://127.0.0.1:1',
      port: 1,
      socket: '/x',
      version: '1',
      startedAt: '2026-11-20T12:00:00Z',
    };

    it('is written, read and removed, and ignored if it is invalid', () => {
      expect(readInstance(box.area)).to.equal(undefined);
      writeInstance(box.area, instance);
      expect(readInstance(box.area)).to.deep.equal(instance);
      writeFileSync(`${box.area.machine}/daemon.json`, '{"format":1,"pid":"x"}');
      expect(readInstance(box.area)).to.equal(undefined);
      writeFileSync(`${box.area.machine}/daemon.json`, '{"format":2}');
      expect(readInstance(box.area)).to.equal(undefined);
      removeInstance(box.area);
      removeInstance(box.area);
    });

    long('allows one daemon a user area, and reports the address of the first', async () => {
      const deps = { ...box.deps, area: box.area };
      await asOnlyDaemon(deps, async () => {
        writeInstance(box.area, instance);
        const second = await rejection(asOnlyDaemon(deps, () => Promise.resolve('both')));
        expect(second).to.include({ kind: 'locked' });
        expect(second.message).to.include('http://127.0.0.1:1').and.include('process 12');
      });
      const fault = new StewardError('usage', 'own');
      const own = await rejection(asOnlyDaemon(deps, () => Promise.reject(fault)));
      expect(own.message).to.equal('own');
      expect(await asOnlyDaemon(deps, () => Promise.resolve('after'))).to.equal('after');
    });
  });

  describe('local address', () => {
    const box = scratch();

    it('is in a folder private to this user, and replaces a dead socket', function () {
      if (process.platform === 'win32') this.skip();
      const folder = box.path('state');
      mkdirSync(folder, { mode: 0o755 });
      writeFileSync(box.path('state', 'daemon.sock'), '');
      const { path, remove } = localAddress(folder, 'daemon');
      expect(path).to.equal(box.path('state', 'daemon.sock'));
      expect(existsSync(path)).to.equal(false);
      expect(statSync(folder).mode & 0o777).to.equal(0o700);
      remove();
    });

    it('is short enough for a socket, whatever the folder', function () {
      if (process.platform === 'win32') this.skip();
      const folder = box.path('x'.repeat(60), 'y'.repeat(60));
      mkdirSync(dirname(folder));
      const { path, remove } = localAddress(folder, 'daemon');
      expect(Buffer.byteLength(path)).to.be.at.most(103);
      expect(statSync(dirname(path)).mode & 0o777).to.equal(0o700);
      remove();
      expect(existsSync(dirname(path))).to.equal(false);
    });
  });

  describe('socket client', () => {
    const box = scratch();
    const answering = async (bytes: string | null): Promise<unknown> => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        if (bytes !== null) socket.end(bytes);
      });
      await new Promise<void>((resolve) => server.listen(box.path('s'), resolve));
      try {
        return await askLocal({
          socket: box.path('s'),
          method: 'GET',
          path: '/',
          timeoutMs: bytes === null ? 200 : 10_000,
        });
      } catch (error) {
        return (error as Error).message;
      } finally {
        server.close();
      }
    };

    long('reads an answer, and reports an invalid one', async function () {
      if (process.platform === 'win32') this.skip();
      expect(await answering('HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{"a":1}')).to.deep.equal({
        status: 200,
        json: { a: 1 },
      });
      for (const bytes of ['', 'HTTP/1.1 200 OK\r\n\r\n{"a":', 'nonsense', 'HTTP/1.1 200 OK\r\n\r\n']) {
        expect(await answering(bytes), bytes).to.include('invalid response');
      }
      expect(await answering(null)).to.include('did not respond within 200 ms');
    });

    it('returns undefined if nothing listens', async () => {
      const ask = (socket: string) => askLocal({ socket, method: 'GET', path: '/', timeoutMs: 10_000 });
      expect(await ask(box.path('none'))).to.equal(undefined);
      writeFileSync(box.path('file'), '');
      expect(await ask(box.path('file'))).to.equal(undefined);
    });
  });

  describe('log', () => {
    const box = scratch();
    const said: string[] = [];
    const open = () =>
      daemonLog({
        clock,
        path: box.path('area', 'daemon', 'daemon.log'),
        root: box.path('area'),
        say: (t) => said.push(t),
      });
    beforeEach(() => {
      said.length = 0;
      mkdirSync(box.path('area'));
    });

    it('writes JSON lines without terminal control characters', () => {
      const log = open();
      log.write('info', 'started', { pid: 1, url: 'http://x' });
      log.write('error', 'job-failed', { message: 'bad\u001b[31m\nworse' });
      const lines = lastLines(box.path('area', 'daemon', 'daemon.log'), 10);
      expect(lines.map(({ ts, ...line }) => [typeof ts, line])).to.deep.equal([
        ['string', { level: 'info', event: 'started', pid: 1, url: 'http://x' }],
        ['string', { level: 'error', event: 'job-failed', message: 'bad\nworse' }],
      ]);
      expect(log.problem()).to.equal(undefined);
    });

    long('rotates by size, keeps one old file, and reads across both', () => {
      const log = open();
      const path = box.path('area', 'daemon', 'daemon.log');
      const long = 'x'.repeat(3900);
      let count = 0;
      while (!existsSync(box.path('area', 'daemon', 'daemon.1.log')))
        log.write('info', 'n', { n: ++count, long });
      expect(count).to.be.within(1000, 1200);
      log.write('info', 'n', { n: ++count });
      expect(statSync(path).size).to.be.below(5000);
      expect(lastLines(path, 3).map((line) => line['n'])).to.deep.equal([count - 2, count - 1, count]);
    });

    it('does not recreate a removed user area, and reports once that it cannot log', () => {
      const log = open();
      rmSync(box.path('area'), { recursive: true });
      log.write('info', 'a');
      log.write('info', 'b');
      expect(existsSync(box.path('area'))).to.equal(false);
      expect(said).to.have.length(1);
      expect(log.problem()).to.include('was removed');
      mkdirSync(box.path('area'));
      expect(log.problem()).to.equal(undefined);
      expect(lastLines(box.path('area', 'daemon', 'daemon.log'), 1)[0]).to.include({ event: 'log-resumed' });
    });

    it('survives an unwritable folder', () => {
      writeFileSync(box.path('area', 'daemon'), 'a file in the way');
      const log = open();
      log.write('info', 'a');
      expect(log.problem()).to.be.a('string');
      expect(said).to.have.length(1);
    });
  });

  describe('pages', () => {
    const box = scratch();
    beforeEach(() => {
      mkdirSync(box.path('pages'));
      mkdirSync(box.path('assets'));
      writeFileSync(box.path('pages', 'index.html'), '<p>index');
      writeFileSync(box.path('pages', 'sense.html'), '<p>week');
      writeFileSync(box.path('assets', 'sense.js'), 'let a;');
      writeFileSync(box.path('assets', '.secret.js'), 'no');
      writeFileSync(box.path('assets', 'notes.txt'), 'no');
      writeFileSync(box.path('assets', 'plot.css'), 'p{}');
      writeFileSync(box.path('outside.js'), 'no');
    });
    const app = () => testApp(pageRoutes({ clock, pages: box.path('pages'), assets: box.path('assets') }));

    it('serves the files of two folders with their types and a strict policy', async () => {
      const served = app();
      for (const [path, type, body] of [
        ['/', 'text/html; charset=utf-8', '<p>index'],
        ['/?day=2026-11-20', 'text/html; charset=utf-8', '<p>index'],
        ['/sense?to=2026-11-20', 'text/html; charset=utf-8', '<p>week'],
        ['/sense?day=2026-11-20', 'text/html; charset=utf-8', '<p>index'],
        ['/assets/sense.js', 'text/javascript; charset=utf-8', 'let a;'],
        ['/assets/plot.css', 'text/css; charset=utf-8', 'p{}'],
      ] as const) {
        const answer = await served.ask(path);
        expect([answer.status, answer.header('content-type'), answer.body], path).to.deep.equal([
          200,
          type,
          body,
        ]);
        expect(answer.header('content-security-policy')).to.equal(PAGE_POLICY);
        const etag = answer.header('etag') ?? '';
        expect((await served.ask(path, { headers: { 'if-none-match': etag } })).status).to.equal(304);
      }
    });

    it('serves nothing else', async () => {
      const served = app();
      for (const path of [
        '/assets/notes.txt',
        '/assets/.secret.js',
        '/assets/index.html',
        '/assets/../outside.js',
        '/assets/..%2foutside.js',
        '/assets/',
        '/assets/none.js',
        '/outside.js',
      ]) {
        expect((await served.ask(path)).status, path).to.equal(404);
      }
      expect((await served.ask('/status')).error().message).to.include('missing from the package');
    });

    it('serves a changed file', async () => {
      const served = app();
      await served.ask('/');
      writeFileSync(box.path('pages', 'index.html'), '<p>changed');
      expect((await served.ask('/')).body).to.equal('<p>changed');
    });
  });

  describe('port owner', () => {
    it('is a process id and a program name', async function () {
      if (process.platform !== 'linux') this.skip();
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      try {
        expect(portOwner(port)).to.include({ pid: process.pid, uid: process.getuid?.() });
        // The name alone: arguments may hold secrets.
        expect(portOwner(port)?.program).to.equal('node');
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
      // Another process may have been given it meanwhile.
      expect(portOwner(port)?.pid).to.not.equal(process.pid);
    });
  });

  describe('an upgrade', () => {
    const ended: string[] = [];
    let installed: string | undefined = '1.0.0 (build a)';
    let idle = true;
    const job = upgradeJob({
      build: '1.0.0 (build a)',
      installedBuild: () => installed,
      isIdle: () => idle,
      end: (ending) => ended.push(ending),
    });

    it('ends an idle daemon once another build was seen twice', async () => {
      expect(await job.run()).to.equal(undefined);
      installed = '1.0.0 (build b)';
      expect(await job.run()).to.include('build b');
      installed = undefined;
      await job.run();
      installed = '1.1.0';
      await job.run();
      installed = '1.2.0';
      await job.run();
      idle = false;
      await job.run();
      expect(ended).to.deep.equal([]);
      idle = true;
      await job.run();
      expect(ended).to.deep.equal(['outdated']);
    });
  });

  describe('status text', () => {
    const report: RunningReport = {
      running: true,
      cliVersion: '1.0.0',
      url: 'http://127.0.0.1:31337',
      version: '1.0.0',
      pid: 7,
      uptimeSec: 3723,
      memoryMiB: 51.2,
      startedAt: '2026-11-20T12:00:00Z',
      modules: [
        {
          id: 'sense',
          label: 'Sense',
          state: 'warning',
          found: `GNOME hides \u001b[31m${'it '.repeat(60)}`,
          fix: 'steward sense status',
        },
        { id: 'log', label: 'Log', state: 'ok', found: 'writable' },
      ],
      outbox: { waiting: 0, failed: 0 },
      spool: { waiting: 2, dead: 1, oldest: null },
      jobs: [
        {
          id: 'capture',
          everySec: 120,
          lastRun: '2026-11-20T12:00:00Z',
          lastOk: false,
          reason: 'no disk',
          nextRun: null,
        },
      ],
    };
    const options = { columns: 80, color: false, localTime: (iso: string) => iso.slice(11, 16) };

    it('shows the state and the fix of each part within the width', () => {
      for (const columns of [40, 80, 120]) {
        const text = daemonStatusText(report, { ...options, columns });
        expect(text).not.to.include('\u001b');
        expect(text).to.include('warning').and.include('steward sense status').and.include('1 h 02 m');
        expect(text).to.match(/capture {2}every 2 min {2}failed 12:00 {2}running\n {2}no disk/);
        if (columns > 40) expect(Math.max(...text.split('\n').map(displayWidth))).to.be.at.most(columns);
      }
    });

    it('reports another version of the command, and a daemon that is not running', () => {
      expect(daemonStatusText(report, options)).not.to.include('This command is');
      expect(daemonStatusText({ ...report, cliVersion: '2.0.0' }, options)).to.include(
        'This command is version 2.0.0',
      );
      expect(daemonStatusText({ running: false, cliVersion: '1' }, options)).to.include('steward up');
    });

    it('formats a log line', () => {
      const line = {
        ts: '2026-11-20T12:00:00Z',
        level: 'error' as const,
        event: 'job-failed',
        job: 'capture',
        n: 1,
      };
      expect(logLineText(line, options)).to.equal('12:00  error  job-failed  job=capture  n=1');
    });

    it('formats durations', () => {
      expect([0, 59, 60, 3599, 3600, 172_799, 172_800].map(duration)).to.deep.equal([
        '0 s',
        '59 s',
        '1 min',
        '59 min',
        '1 h 00 m',
        '47 h 59 m',
        '2 d 0 h',
      ]);
    });
  });

  it('recognizes loopback addresses and formats URLs', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost'])
      expect(isLoopback(host), host).to.equal(true);
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.example', '::ffff:10.0.0.1']) {
      expect(isLoopback(host), host).to.equal(false);
    }
    expect(httpUrl('127.0.0.1', 1)).to.equal('http://127.0.0.1:1');
    expect(httpUrl('::1', 1)).to.equal('http://[::1]:1');
    expect(httpUrl('0.0.0.0', 1)).to.equal('http://127.0.0.1:1');
  });

  it('derives the health of sense', () => {
    const source = (state: 'ok' | 'idle' | 'off' | 'error' | 'unsupported') => ({
      id: 'git',
      label: 'Git',
      description: '',
      enabled: true,
      state,
      ...(state === 'error' ? { reason: 'broken' } : {}),
      pollIntervalSec: 120,
      eventsToday: 0,
      lastEventTs: null,
    });
    expect(
      senseFinding({ enabled: true, sources: [source('ok'), source('idle'), source('off')] }),
    ).to.deep.equal({ state: 'ok', found: '0 events today' });
    expect(senseFinding({ enabled: false, sources: [source('error')] }).state).to.equal('off');
    expect(senseFinding({ enabled: true, sources: [source('error')] })).to.include({
      state: 'warning',
      found: 'Git: broken',
    });
  });

  it('writes a log that only this user can read', () => {
    const area = testArea();
    try {
      mkdirSync(area.area.root, { mode: 0o700 });
      daemonLog({ clock, path: area.area.daemonLog, root: area.area.root, say: () => undefined }).write(
        'info',
        'a',
      );
      expect(readFileSync(area.area.daemonLog, 'utf8')).to.include('"event":"a"');
      if (process.platform !== 'win32') expect(statSync(area.area.daemonLog).mode & 0o077).to.equal(0);
      chmodSync(area.area.root, 0o700);
    } finally {
      area.remove();
    }
  });
});
