import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { phase } from '../../src/lib/sessions/phases';
import { BIN, cleanEnv, definedOnly, emptyHome, steward } from '../helpers/cli';
import { ask, startDaemon } from '../helpers/daemon';
import { desktopKit, startXvfb, until } from '../helpers/desktop-kit';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';

describe("a notification's phase in the tab of the terminal", function () {
  this.timeout(300_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => {
    home = emptyHome();
    writeFileSync(join(home.path, 'start.json'), hookJson('session-start', { cwd: home.path }));
    // As an assistant does it: the hook has no terminal, its parent has.
    const hook = `setsid -w ${process.execPath} ${BIN} hook session-start --no-tab < "$HOME/start.json"`;
    writeFileSync(join(home.path, 'session.sh'), `${hook}\ntouch "$HOME/begun"\nsleep 600\n`);
  });
  afterEach(() => home.remove());

  const begun = (): Promise<unknown> =>
    until('the session has begun', () => existsSync(join(home.path, 'begun')), 60_000);

  it('is read back from tmux, set by a command and by the daemon', async function () {
    requirePrograms(this, { tmux: 'tmux', setsid: 'util-linux' });
    const env = definedOnly(cleanEnv(home.path, { TMUX_TMPDIR: home.path, TERM: 'xterm' }));
    const tmux = (...args: string[]): string =>
      spawnSync('tmux', ['-u', '-L', 'steward', ...args], { env, encoding: 'utf8' }).stdout.trim();
    let daemon: Awaited<ReturnType<typeof startDaemon>> | undefined;
    try {
      tmux('-f', '/dev/null', 'new-session', '-d', 'sh "$HOME/session.sh"');
      await begun();
      const set = await steward(['notify', 'phase', 'execute', '--json'], { home: home.path });
      expect(JSON.parse(set.stdout)).to.include({ phase: 'execute', tab: true });
      const title = (): string => tmux('display-message', '-p', '#{pane_title}');
      await until('the title is there', () => title() === '▶ Execute');
      daemon = await startDaemon({ home: home.path });
      const post = (body: object): ReturnType<typeof ask> =>
        ask(`${daemon?.url}/notify`, { method: 'POST', body: JSON.stringify(body) });
      const reply = await post({ message: 'Verifying', voice_enabled: false, phase: 'VERIFY' });
      expect(JSON.parse(reply.text)).to.have.keys('status', 'id');
      await until('the title is the next one', () => title() === '◆ Verify');
      const sessions = readFileSync(join(home.path, '.steward', 'state', 'sessions.json'), 'utf8');
      expect(sessions).to.include('"source":"voice"');
      const other = await post({ message: 'x', voice_enabled: false, phase: 'party' });
      expect(JSON.parse(other.text)).to.include({ phase: 'unknown' });
      const none = await post({ message: 'x', voice_enabled: false, phase: 'plan', slug: 'nobody' });
      expect(JSON.parse(none.text)).to.include({ status: 'accepted', phase: 'no session' });
      expect(title()).to.equal('◆ Verify');
    } finally {
      await daemon?.stop();
      tmux('kill-server');
    }
  });

  it('is read back from xterm', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', xterm: 'xterm', xprop: 'x11-utils', xdotool: 'xdotool' });
    const kit = desktopKit();
    try {
      await startXvfb(kit);
      const env = cleanEnv(home.path, { DISPLAY: kit.env['DISPLAY'], LC_ALL: 'C.UTF-8' });
      kit.start('xterm', ['-u8', '-class', 'TabTest', '-e', 'sh', join(home.path, 'session.sh')], { env });
      await begun();
      const sent = await steward(
        ['notify', 'send', 'x', '--no-voice', '--phase', 'learn', '--wait', '--json'],
        {
          home: home.path,
        },
      );
      expect(JSON.parse(sent.stdout)).to.not.have.property('phase');
      // The class is that of several windows, and one of them may go while it is looked at.
      const told = (file: string, ...args: string[]): string =>
        spawnSync(file, args, { env: definedOnly(kit.env), encoding: 'utf8' }).stdout;
      const windows = (): string[] => told('xdotool', 'search', '--class', 'TabTest').split('\n');
      const names = (): string[] =>
        windows().flatMap((id) => (id === '' ? [] : [told('xprop', '-id', id, '_NET_WM_NAME')]));
      await until('the title is there', () => names().some((name) => name.includes('✎ Learn')), 60_000);
    } finally {
      await kit.stop();
    }
  });

  it('is read back from kitty, with its color', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', kitty: 'kitty', xwd: 'x11-apps' });
    const kit = desktopKit();
    const socket = `unix:${join(home.path, 'kitty')}`;
    const options = [
      'allow_remote_control=yes',
      `listen_on=${socket}`,
      'tab_bar_min_tabs=1',
      'update_check_interval=0',
    ];
    try {
      await startXvfb(kit);
      const env = cleanEnv(home.path, {
        DISPLAY: kit.env['DISPLAY'],
        LC_ALL: 'C.UTF-8',
        LIBGL_ALWAYS_SOFTWARE: '1',
        XDG_RUNTIME_DIR: home.path,
      });
      const flags = ['--config', 'NONE', ...options.flatMap((option) => ['-o', option])];
      kit.start('kitty', [...flags, 'sh', join(home.path, 'session.sh')], { env });
      await begun();
      const set = await steward(['notify', 'phase', 'learn', '--json'], { home: home.path });
      expect(JSON.parse(set.stdout)).to.include({ phase: 'learn', tab: true });
      const names = readdirSync(home.path).filter((name) => name.startsWith('kitty-'));
      const listed = (): string =>
        spawnSync('kitty', ['@', '--to', `unix:${join(home.path, names[0] ?? '')}`, 'ls'], {
          env: definedOnly(env),
          encoding: 'utf8',
        }).stdout;
      await until(
        'the title is there',
        () => JSON.stringify(JSON.parse(listed() || 'null')).includes('✎ Learn'),
        60_000,
      );
      const colour = phase('learn').color.slice(1).toLowerCase();
      const isShown = (): boolean => {
        const screen = spawnSync('xwd', ['-root', '-silent'], {
          env: definedOnly(env),
          maxBuffer: 1 << 26,
        }).stdout;
        // A pixel is blue, green, red and nothing.
        return screen.includes(
          Buffer.from(`${colour.slice(4, 6)}${colour.slice(2, 4)}${colour.slice(0, 2)}`, 'hex'),
        );
      };
      await until('the colour is on the screen', isShown, 60_000);
    } finally {
      await kit.stop();
    }
  });
});
