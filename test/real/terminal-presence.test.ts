import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { keepPresenceFile, presenceFiles } from '../../src/lib/notify/presence-file';
import { run } from '../../src/lib/platform/process/process';
import { readPresence } from '../../src/lib/sense/presence';
import type { Session } from '../../src/lib/sessions/session';
import type { SessionTerminal } from '../../src/lib/sessions/work-events';
import { cleanEnv, emptyHome } from '../helpers/cli';
import { startDaemon } from '../helpers/daemon';
import { until } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';
import { closeScreen, openScreen, startScreen, type Screen } from '../helpers/screens';
import { silent } from '../helpers/tab-world';

describe('your presence at terminals', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  let screens: Screen[];
  // A test that is skipped in `beforeEach` still runs `afterEach`, with nothing to remove.
  before(function () {
    requirePrograms(this, { script: 'bsdutils', tmux: 'tmux' });
  });
  beforeEach(() => {
    home = emptyHome();
    screens = [];
  });
  afterEach(async () => {
    for (const screen of screens) await closeScreen(screen);
    try {
      tmux('kill-server');
    } catch {
      // It never ran.
    }
    home.remove();
  });

  const env = (): NodeJS.ProcessEnv =>
    cleanEnv(home.path, { TMUX_TMPDIR: home.path, TERM: 'xterm', SHELL: '/bin/sh' });
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-f', '/dev/null', ...args], {
      env: env(),
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  const look = (tty: string | null, laterMs = 0): Promise<string> =>
    readPresence(
      { platform: 'linux', env: env(), run },
      { tty, pid: null, program: null } as SessionTerminal,
      Date.now() + laterMs,
    );
  async function open(line: string): Promise<Screen> {
    const screen = await openScreen(line, env());
    screens.push(screen);
    return screen;
  }

  it('is at the terminal where you typed, and away a minute later', async () => {
    expect(await look(null)).to.equal('unknown');
    const screen = await open('tty; cat');
    await until('its name', () => screen.text().includes('\n'));
    const tty = screen.text().trim();
    expect([await look(tty), await look('/dev/pts/9999')]).to.deep.equal(['front', 'desk']);
    expect(await look(tty, 120_000)).to.equal('away');
  });

  it('is at the pane that tmux shows, and at the desk for the others', async () => {
    const first = tmux('new-session', '-d', '-P', '-F', '#{pane_tty}', '-s', 'work', 'cat');
    screens.push(startScreen('exec tmux attach -t work', env()));
    await until('a client', () => tmux('list-clients') !== '');
    expect(await look(first)).to.equal('front');
    const second = tmux('split-window', '-P', '-F', '#{pane_tty}', '-t', 'work', 'cat');
    expect([await look(first), await look(second)]).to.deep.equal(['desk', 'front']);
  });

  it('is unknown if tmux does not answer', async () => {
    const pane = tmux('new-session', '-d', '-P', '-F', '#{pane_tty}', '-s', 'work', 'cat');
    const terminal = { tty: pane, pid: null, program: null } as SessionTerminal;
    const desktop = { platform: 'linux' as const, env: env(), run: silent };
    expect(await readPresence(desktop, terminal, Date.now())).to.equal('unknown');
  });

  describe('the file of a client', () => {
    it('is named by the environment, a session or the settings', () => {
      const named = { CLAUDE_CLIENT_PRESENCE_FILE: '/run/there' };
      expect(presenceFiles(named, [], { env: { CLAUDE_CLIENT_PRESENCE_FILE: '/run/here' } })).to.deep.equal([
        '/run/there',
        '/run/here',
      ]);
      expect(presenceFiles({ CLAUDE_CLIENT_PRESENCE_FILE: 'x' }, [{} as Session], { env: 5 })).to.deep.equal(
        [],
      );
    });

    it('is removed only if steward created it', () => {
      const path = join(home.path, 'there');
      keepPresenceFile(path, true);
      expect(existsSync(path)).to.equal(true);
      keepPresenceFile(path, false);
      expect(existsSync(path)).to.equal(false);
      writeFileSync(path, '');
      keepPresenceFile(path, true);
      keepPresenceFile(path, false);
      expect(existsSync(path)).to.equal(true);
    });

    it('is there while you are, until the daemon stops', async () => {
      const path = join(home.path, 'there');
      mkdirSync(join(home.path, '.steward', 'sense'), { recursive: true, mode: 0o700 });
      writeFileSync(join(home.path, '.steward', 'sense', 'config.json'), '{}', { mode: 0o600 });
      await open('cat');
      const daemon = await startDaemon({
        home: home.path,
        env: { ...env(), CLAUDE_CLIENT_PRESENCE_FILE: path },
      });
      await until('the file', () => existsSync(path), 60_000);
      expect(await daemon.stop()).to.equal(0);
      expect(existsSync(path)).to.equal(false);
    });
  });
});
