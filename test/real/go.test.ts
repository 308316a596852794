import { expect } from 'chai';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { SessionRow, SessionsReport } from '../../src/lib/sessions/rows';
import { BIN, cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { desktopKit, startXvfb, type DesktopKit } from '../helpers/desktop-kit';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';

describe('steward go', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let started: ChildProcess[];
  let kit: DesktopKit;

  beforeEach(() => {
    home = emptyHome();
    started = [];
    kit = desktopKit();
  });
  afterEach(async () => {
    for (const child of started) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((done) => child.once('exit', done));
    }
    await kit.stop();
    home.remove();
  });

  const at = (name: string): string => join(home.path, name);
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 600; tries += 1) {
      if (holds()) return;
      await delay(100);
    }
    throw new Error(`${what}: not after a minute`);
  };

  /** The line of a shell in which a session begins, ends its turn, and stays open. */
  function sessionLine(name: string): string {
    for (const event of ['session-start', 'stop'] as const) {
      writeFileSync(at(`${name}-${event}.json`), hookJson(event, { cwd: home.path, session_id: name }));
    }
    const hook = (event: string): string =>
      `"${process.execPath}" "${BIN}" hook ${event} < "${at(`${name}-${event}.json`)}" > /dev/null`;
    return `${hook('session-start')}; ${hook('stop')}; echo > "${at(`${name}.ready`)}"; cat; :`;
  }

  const ready = (...names: string[]): Promise<void> =>
    until(`sessions ${names.join()}`, () => names.every((name) => existsSync(at(`${name}.ready`))));

  const sessionsInOrder = async (): Promise<SessionRow[]> => {
    const result = jsonOf(await steward(['sessions', '--json'], { home: home.path }));
    return (result as SessionsReport).sessions;
  };

  describe('with tmux', () => {
    const tmux = (...args: string[]): string =>
      execFileSync('tmux', ['-S', at('tmux.sock'), '-f', '/dev/null', ...args], {
        env: cleanEnv(home.path, { TERM: 'xterm', SHELL: '/bin/sh' }),
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    const shown = (): string => tmux('list-clients', '-F', '#{session_name} #{pane_id}');

    /** A terminal that shows a session of tmux. */
    async function attach(name: string): Promise<void> {
      const line = `exec tmux -S "${at('tmux.sock')}" attach -t ${name}`;
      const env = cleanEnv(home.path, { TERM: 'xterm', SHELL: '/bin/sh' });
      started.push(
        spawn('script', ['-qec', line, '/dev/null'], { env, stdio: ['pipe', 'ignore', 'ignore'] }),
      );
      await until('a client', () =>
        shown()
          .split('\n')
          .some((line) => line.startsWith(`${name} `)),
      );
    }

    beforeEach(function () {
      requirePrograms(this, { tmux: 'tmux', script: 'bsdutils' });
    });
    afterEach(() => {
      try {
        tmux('kill-server');
      } catch {
        // It never ran, or has ended with its last session.
      }
    });

    it('shows the pane of the session that has waited longest, or of another by number', async () => {
      tmux('new-session', '-d', '-s', 'empty', 'cat');
      const first = tmux('new-session', '-d', '-P', '-F', '#{pane_id}', '-s', 'work', sessionLine('first'));
      await ready('first');
      tmux('new-window', '-t', 'work', 'cat');
      const second = tmux(
        'split-window',
        '-d',
        '-P',
        '-F',
        '#{pane_id}',
        '-t',
        'work',
        sessionLine('second'),
      );
      await ready('second');
      await attach('empty');
      const went = await steward(['go', '--json'], { home: home.path, env: { TMUX: undefined } });
      expect(went.code, went.stderr).to.equal(0);
      expect(jsonOf(went)).to.include({ via: 'tmux', target: first });
      expect(shown()).to.equal(`work ${first}`);
      const [, newest] = await sessionsInOrder();
      expect(newest?.sessionIds).to.deep.equal(['second']);
      // From another terminal, by a key as a person would bind it.
      tmux('new-session', '-d', '-s', 'other', 'cat');
      await attach('other');
      const went2 = `"${process.execPath}" "${BIN}" go 2 > "${at('went')}" 2>&1; echo >> "${at('went')}"`;
      tmux('run-shell', '-t', 'other:', `TMUX_PANE=#{pane_id} ${went2}`);
      expect(readFileSync(at('went'), 'utf8').trim()).to.equal(`${newest?.name ?? ''} · tmux ${second}`);
      expect(shown()).to.equal(`work ${second}\nwork ${second}`);
    });

    it('explains how to attach if no terminal shows it, and detects that a session ended with its terminal', async () => {
      const pane = tmux('new-session', '-d', '-P', '-F', '#{pane_id}', '-s', 'work', sessionLine('first'));
      await ready('first');
      tmux('new-window', '-t', 'work', 'cat');
      const away = await steward(['go'], { home: home.path });
      expect([away.code, away.stdout]).to.deep.equal([8, '']);
      expect(away.stderr).to.match(/no terminal is attached to it.*\n.*attach -t '\$\d+'/);
      expect(away.stderr).to.include(at('tmux.sock'));
      tmux('respawn-pane', '-k', '-t', pane, 'cat');
      const gone = await steward(['go', '--json'], { home: home.path });
      expect(gone.code).to.equal(5);
      expect(gone.stderr).to.include('No sessions are running.');
      const [ended] = await sessionsInOrder();
      const named = await steward(['go', ended?.slug ?? ''], { home: home.path });
      expect(named.code).to.equal(8);
      expect(named.stderr).to.match(/is no longer running on \/dev\/pts\//);
    });
  });

  it('focuses the window of kitty', async function () {
    requirePrograms(this, { kitty: 'kitty', Xvfb: 'xvfb' });
    await startXvfb(kit);
    const env = cleanEnv(home.path, {
      DISPLAY: kit.env['DISPLAY'],
      LIBGL_ALWAYS_SOFTWARE: '1',
      SHELL: '/bin/sh',
    });
    const socket = `unix:${at('kitty.sock')}`;
    const remote = ['--config', 'NONE', '-o', 'allow_remote_control=socket-only', '--listen-on', socket];
    started.push(spawn('kitty', [...remote, 'sh', '-c', sessionLine('first')], { env, stdio: 'ignore' }));
    await ready('first');
    const ask = (...args: string[]): string =>
      execFileSync('kitty', ['@', '--to', socket, ...args], { env, encoding: 'utf8' }).trim();
    const other = ask('launch', '--type=tab', 'cat');
    const focused = (): number[] => {
      const systems = JSON.parse(ask('ls')) as {
        tabs: { is_focused: boolean; windows: { id: number; is_focused: boolean }[] }[];
      }[];
      return systems
        .flatMap(({ tabs }) => tabs)
        .filter((tab) => tab.is_focused)
        .flatMap(({ windows }) => windows)
        .filter((window) => window.is_focused)
        .map(({ id }) => id);
    };
    await until('the other window', () => focused().join() === other);
    const went = await steward(['go', '--json'], { home: home.path, env });
    expect(went.code, went.stderr).to.equal(0);
    expect(jsonOf(went)).to.include({ via: 'kitty', target: '1' });
    await until('the focus', () => focused().join() === '1');
  });

  it('reports that there is nowhere to go, and lists the sessions', async function () {
    const none = await steward(['go'], { home: home.path });
    expect([none.code, none.stderr]).to.deep.equal([
      5,
      'No sessions are running.\nIf sessions are missing, run "steward install hooks".\n',
    ]);
    requirePrograms(this, { script: 'bsdutils' });
    // A terminal that is neither of tmux nor of kitty.
    const env = cleanEnv(home.path, { SHELL: '/bin/sh' });
    started.push(
      spawn('script', ['-qec', sessionLine('first'), '/dev/null'], {
        env,
        stdio: ['pipe', 'ignore', 'ignore'],
      }),
    );
    await ready('first');
    const plain = await steward(['go'], { home: home.path });
    expect(plain.code).to.equal(8);
    expect(plain.stderr).to.match(/, outside of the programs that steward can ask\.\nStart sessions in tmux/);
    const [session] = await sessionsInOrder();
    const numbered = await steward(['go', '99999999999'], { home: home.path });
    expect([numbered.code, numbered.stderr]).to.deep.equal([
      5,
      'Session 99999999999 not found.\nRun "steward sessions" to list the sessions.\n',
    ]);
    const missing = await steward(['go', 'nobody'], { home: home.path });
    expect([missing.code, missing.stderr]).to.deep.equal([
      5,
      'Session "nobody" not found.\nRun "steward sessions --all" to list the sessions.\n',
    ]);
    const log = at('.steward/state/work-events.jsonl');
    const elsewhere = readFileSync(log, 'utf8').replace(/"machine":"[^"]+"/g, '"machine":"another"');
    writeFileSync(log, elsewhere);
    writeFileSync(at('.steward/state/sessions.json'), '');
    const far = await steward(['go', session?.slug ?? ''], { home: home.path });
    expect([far.code, far.stderr]).to.deep.equal([
      8,
      `${session?.name ?? ''} is running on another machine.\nRun "steward go" there.\n`,
    ]);
  });
});
