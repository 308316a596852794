import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, definedOnly, emptyHome, steward } from '../helpers/cli';
import { ask, startDaemon } from '../helpers/daemon';
import { desktopKit, startXvfb, until } from '../helpers/desktop-kit';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';

describe("a notification's phase in the tab of the terminal", () => {
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

  it('is read back from tmux, by a command and by the daemon', async function () {
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
      const window = kit.tell('xdotool', 'search', '--class', 'TabTest').trim().split('\n')[0] ?? '';
      await until('the title is there', () =>
        kit.tell('xprop', '-id', window, '_NET_WM_NAME').includes('✎ Learn'),
      );
    } finally {
      await kit.stop();
    }
  });
});
