import { execFileSync, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, realpathSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { holderOf } from '../../src/lib/platform/files/lock';
import { ptysBelow, type Pty } from '../../src/lib/platform/process/pty';
import type { FrontApp } from '../../src/lib/sense/front-app/adapter';
import { x11 } from '../../src/lib/sense/front-app/x11';
import { readIdle } from '../../src/lib/sense/idle';
import { focusedInWezTerm } from '../../src/lib/sense/pane/listings';
import { readPlace, type PanePlace } from '../../src/lib/sense/pane/place';
import { sessionsOnTerminal } from '../../src/lib/sessions/terminals';
import type { Session } from '../../src/lib/sessions/session';
import { SECRET, desktopKit, startManager, startXvfb, until, type DesktopKit } from '../helpers/desktop-kit';
import { recordedDesktop } from '../helpers/fake-desktop';
import { requirePrograms } from '../helpers/real-part';

const DESKTOP = { Xvfb: 'xvfb', openbox: 'openbox', xterm: 'xterm', xprop: 'x11-utils', wmctrl: 'wmctrl' };

describe('the focused pane of a real terminal', function () {
  this.timeout(180_000);
  let kit: DesktopKit;
  /** The programs that were asked, with their arguments. */
  let asked: string[];

  beforeEach(async function () {
    requirePrograms(this, DESKTOP);
    kit = desktopKit();
    kit.env['TMUX_TMPDIR'] = kit.home;
    kit.env['SHELL'] = '/bin/sh';
    asked = [];
    for (const name of ['site', 'notes']) repository(name);
    execFileSync('git', ['-C', at('site'), 'worktree', 'add', '-q', '-b', '12-login', at('site-12')]);
    mkdirSync(at('elsewhere'));
    await startXvfb(kit);
    await startManager(kit, 'openbox');
  });

  afterEach(async () => {
    if (kit === undefined) return;
    for (const name of ['one', 'two']) spawnSync('tmux', ['-L', name, 'kill-server'], { env: kit.env });
    await kit.stop();
  });

  const at = (name: string): string => join(realpathSync(kit.home), name);

  function repository(name: string): void {
    const git = (...args: string[]): unknown =>
      execFileSync('git', ['-C', at(name), '-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args]);
    mkdirSync(at(name));
    git('init', '-q', '-b', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'first');
  }

  function terminal(name: string, ...command: string[]): ChildProcess {
    const title = ['-class', name, '-name', name.toLowerCase(), '-T', `${SECRET} ${name}`];
    return kit.start('xterm', [...title, '-e', ...command], { cwd: at('elsewhere') });
  }

  async function inFront(name: string): Promise<FrontApp> {
    return until(`${name} is in front`, async () => {
      spawnSync('wmctrl', ['-x', '-a', `${name.toLowerCase()}.${name}`], { env: kit.env });
      const app = await x11.read(kit.desktop());
      return app?.app === name && app;
    });
  }

  async function place(
    app: FrontApp,
    sessionsOn: (tty: string) => Promise<string[]> = () => Promise.resolve([]),
  ): Promise<PanePlace> {
    const desktop = kit.desktop();
    const { run } = desktop;
    desktop.run = async (file, args, options) => {
      const result = await run(file, args, options);
      asked.push([file, ...args].join(' '), result.stdout);
      return result;
    };
    const idle = await readIdle(desktop);
    const inputMs = 'unknown' in idle ? undefined : Date.now() - (idle.idleMs ?? 0);
    return readPlace({ desktop, repos: [at('site'), at('notes')], sessionsOn }, app, inputMs);
  }

  const tmux = (server: string, ...args: string[]): string => kit.tell('tmux', '-L', server, ...args).trim();

  async function placeIs(app: FrontApp, expected: PanePlace): Promise<void> {
    await until(
      `the place is ${JSON.stringify(expected)}`,
      async () => {
        const found = await place(app);
        return JSON.stringify(found) === JSON.stringify(expected);
      },
      10_000,
    ).catch(async () => expect(await place(app)).to.deep.equal(expected));
  }

  it('follows the panes of two tmux servers in two windows', async function () {
    requirePrograms(this, { tmux: 'tmux' });
    const start = (server: string, folder: string): string[] => [
      'tmux',
      '-L',
      server,
      '-f',
      '/dev/null',
      'new-session',
      '-n',
      SECRET,
      '-c',
      at(folder),
      'cat',
    ];
    terminal('QOne', ...start('one', 'site'));
    const one = await inFront('QOne');
    await placeIs(one, { repo: 'site', path: at('site'), branch: 'main' });
    terminal('QTwo', ...start('two', 'elsewhere'));
    const two = await inFront('QTwo');
    await placeIs(two, { otherFolder: true });

    tmux('one', 'split-window', '-c', at('site-12'), 'cat');
    await placeIs(one, { repo: 'site', path: at('site-12'), branch: '12-login' });
    tmux('one', 'new-window', '-c', at('notes'), 'cat');
    await placeIs(one, { repo: 'notes', path: at('notes'), branch: 'main' });
    tmux('one', 'select-window', '-t', ':0');
    tmux('one', 'select-pane', '-t', ':0.0');
    await placeIs(one, { repo: 'site', path: at('site'), branch: 'main' });
    await placeIs(two, { otherFolder: true });
    expect(asked.join('\n')).to.include('list-clients').and.not.include(SECRET);
  });

  it('asks WezTerm for its focused pane', async () => {
    const shell = kit.start('sleep', ['600'], { env: { ...kit.env, WEZTERM_UNIX_SOCKET: '/run/wez' } });
    const title = { title: SECRET, cwd: `file:///${SECRET}` };
    const desktop = recordedDesktop('linux', {
      'wezterm cli --no-auto-start list-clients': JSON.stringify([
        { pid: 7, focused_pane_id: 1 },
        { pid: 4242, focused_pane_id: 3, username: 'ann' },
      ]),
      'wezterm cli --no-auto-start list --format': JSON.stringify([
        { pane_id: 1, tty_name: '/dev/pts/1', is_active: true, ...title },
        { pane_id: 3, tty_name: '/dev/pts/3', is_active: true, ...title },
      ]),
    });
    const ask = (window: number): Promise<string | undefined> =>
      focusedInWezTerm(desktop, window, shell.pid ?? 0);
    await until('the shell has its environment', async () => (await ask(4242)) !== undefined);
    expect([await ask(4242), await ask(8)]).to.deep.equal(['/dev/pts/3', undefined]);
  });

  it('names the sessions whose process runs on the terminal of the pane', async function () {
    requirePrograms(this, { fuser: 'psmisc' });
    terminal('QOne', 'cat');
    const one = await inFront('QOne');
    const ttys: string[] = [];
    await until('the terminal has a pane', async () => {
      await place(one, (tty) => Promise.resolve((ttys.push(tty), [])));
      return ttys.length > 0;
    });
    const [tty = ''] = ttys;
    const pid = Number(kit.tell('fuser', tty).trim().split(/\s+/).at(-1));
    const { started } = holderOf(pid, 'm', 0, '');
    const session = (id: string, terminalOf: object): Session =>
      ({ sessionIds: ['older', id], activity: 'working', requests: [], isAlive: true, terminal: terminalOf }) as unknown as Session; // prettier-ignore
    const sessions = [
      session('here', { tty, pid, started }),
      { ...session('codex', { tty, pid, started }), assistant: 'codex' },
      session('gone', { tty, pid, started: '1' }),
      session('there', { tty: '/dev/pts/9999', pid, started }),
      { ...session('over', { tty, pid, started }), activity: 'ended' as const },
    ];
    expect(sessionsOnTerminal(sessions, tty, Date.now())).to.deep.equal([
      'here',
      { id: 'codex', assistant: 'codex' },
    ]);
    expect(await place(one, () => Promise.resolve(['here']))).to.deep.equal({
      otherFolder: true,
      sessions: ['here'],
    });
  });

  describe('kitty', () => {
    async function kitty(...args: string[]): Promise<FrontApp> {
      kit.env['LIBGL_ALWAYS_SOFTWARE'] = '1';
      kit.start('kitty', ['--config', 'NONE', '-d', at('site'), '--title', SECRET, ...args, 'cat']);
      return until('kitty is in front', async () => {
        const app = await x11.read(kit.desktop());
        return app?.app === 'kitty' && app;
      });
    }

    it('asks kitty for its focused window', async function () {
      requirePrograms(this, { kitty: 'kitty' });
      const socket = `unix:${at('kitty.sock')}`;
      const app = await kitty('-o', 'allow_remote_control=socket-only', '--listen-on', socket);
      await placeIs(app, { repo: 'site', path: at('site'), branch: 'main' });
      const ask = (...args: string[]): string => kit.tell('kitty', '@', '--to', socket, ...args);
      ask('launch', '--type=tab', '--cwd', at('notes'), 'cat');
      await placeIs(app, { repo: 'notes', path: at('notes'), branch: 'main' });
      ask('launch', '--cwd', at('site-12'), 'cat');
      await placeIs(app, { repo: 'site', path: at('site-12'), branch: '12-login' });
      ask('focus-tab', '--match', 'index:0');
      await placeIs(app, { repo: 'site', path: at('site'), branch: 'main' });
    });

    it('uses the time of the input if the terminal cannot be queried', async function () {
      requirePrograms(this, { kitty: 'kitty', xdotool: 'xdotool' });
      const app = await kitty();
      await placeIs(app, { repo: 'site', path: at('site'), branch: 'main' });
      kit.tell('xdotool', 'key', 'ctrl+shift+t');
      const [first, second] = await until('the tab opens', () => {
        const ptys = ptysBelow(app.pid ?? 0);
        return ptys.length === 2 && ptys;
      });
      // Both terminals are new, so the input may have been that of either.
      expect(await place(app)).to.deep.equal({});
      for (const { tty } of [first, second] as Pty[]) utimesSync(tty, 1_000_000_000, 1_000_000_000);
      kit.tell('xdotool', 'type', `cd ${at('notes')}\n`);
      await placeIs(app, { repo: 'notes', path: at('notes'), branch: 'main' });
    });
  });
});
