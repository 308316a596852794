import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { attempt, type Outcome, type Parcel } from '../../src/lib/notify/channels/channel';
import { terminalChannel } from '../../src/lib/notify/channels/terminal';
import { run } from '../../src/lib/platform/process/process';
import { channelContract, HOSTILE } from '../contracts/channel';
import { until } from '../helpers/desktop-kit';
import { parcel } from '../helpers/notify';
import { requirePrograms } from '../helpers/real-part';
import { closeScreen, openScreen, startScreen, type Screen } from '../helpers/screens';
import { silent } from '../helpers/tab-world';

const ESC = '\u001b';
const BELL = '\u0007';

describe('notify: the terminal channel', function () {
  this.timeout(120_000);
  let home: string;
  let screens: Screen[] = [];

  before(function () {
    requirePrograms(this, { script: 'bsdutils', tmux: 'tmux' });
  });
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'st-tty-'));
    screens = [];
  });
  afterEach(async () => {
    for (const screen of screens) await closeScreen(screen);
    try {
      tmux('kill-server');
    } catch {
      // It never ran.
    }
    rmSync(home, { recursive: true, force: true });
  });

  const envOf = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: home,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TMUX_TMPDIR: home,
    TERM: 'xterm-256color',
    ...more,
  });
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-f', '/dev/null', ...args], {
      env: envOf(),
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();

  async function open(more: NodeJS.ProcessEnv = {}, line = 'cat'): Promise<Screen> {
    const screen = await openScreen(line, envOf(more));
    screens.push(screen);
    return screen;
  }
  async function send(more: Partial<Parcel> = {}): Promise<Outcome> {
    const channel = terminalChannel({ platform: 'linux', run, env: envOf() });
    return channel.send(
      parcel({ event: 'attention', message: 'shop·main asks to run Bash.', ...more }),
      () => undefined,
    );
  }
  /** Waits for a mark that is written after the channel's text, and returns what came before. */
  async function seen(screen: Screen): Promise<string> {
    screen.type('mark\n');
    await until('the mark', () => screen.text().includes('mark'));
    return screen.text().split('mark')[0] ?? '';
  }

  for (const [emulator, env, expected] of [
    ['foot', { TERM: 'foot' }, `${ESC}]777;notify;Waiting for you;shop·main asks to run Bash.${ESC}\\`],
    [
      'iTerm2 over ssh',
      { LC_TERMINAL: 'iTerm2' },
      `${ESC}]9;steward: Waiting for you: shop·main asks to run Bash.${ESC}\\`,
    ],
    ['an unknown emulator', {}, BELL],
    ['herdr in kitty', { TERM: 'xterm-kitty', HERDR_PANE_ID: '1' }, BELL],
  ] as const) {
    it(`writes what ${emulator} understands`, async () => {
      const screen = await open(env);
      expect(await send()).to.deep.equal({ outcome: 'delivered' });
      expect(await seen(screen)).to.equal(expected);
    });
  }

  it('encodes title and text for kitty', async () => {
    const screen = await open({ TERM: 'xterm-kitty' });
    await send({ title: 'a;b', dedupe: 'k' });
    const texts = (await seen(screen)).match(/(?<=e=1[^;]*;)[^\u001b]*/g) ?? [];
    expect(texts.map((text) => Buffer.from(text, 'base64').toString('utf8'))).to.deep.equal([
      'a,b',
      'shop·main asks to run Bash.',
    ]);
  });

  it('writes nothing that a terminal would run or interpret', async () => {
    const screen = await open({ TERM: 'foot' });
    const hostile = [
      ...HOSTILE,
      `a${ESC}]0;owned${BELL}b${ESC}[31mc\u009d52;c;x\u009cd\u0090q${ESC}\\e\r\n\u0000;f`,
    ];
    for (const text of hostile) await send({ title: text, message: text });
    const rest = (await seen(screen)).replace(/\u001b\]777;notify;[^;\p{Cc}]*;[^;\p{Cc}]*\u001b\\/gu, '');
    expect(rest).to.equal('');
  });

  it('rings no bell when it is to be silent', async () => {
    const screen = await open();
    expect(await send({ silent: true })).to.include({ outcome: 'skipped' });
    expect(await seen(screen)).to.equal('');
  });

  it('writes once to the terminals of one ssh client', async () => {
    const ssh = { TERM: 'foot', SSH_CONNECTION: '192.0.2.7 50000 192.0.2.1 22' };
    const both = [await open(ssh), await open({ ...ssh, SSH_CONNECTION: '192.0.2.7 50001 192.0.2.1 22' })];
    await send();
    const texts = await Promise.all(both.map(seen));
    expect(texts.filter((text) => text.includes('777;notify'))).to.have.length(1);
  });

  it('leaves alone a terminal of another home, and one that a program opened on a terminal', async () => {
    const other = await open({ TERM: 'foot', HOME: join(home, 'other') });
    expect(await send()).to.include({ outcome: 'skipped', reason: 'no terminal here that could show it' });
    const outer = await open({ TERM: 'foot' }, 'script -qec cat /dev/null');
    await send();
    expect(await seen(other)).to.equal('');
    expect((await seen(outer)).split('777;notify')).to.have.length(2);
  });

  describe('in tmux', () => {
    const clients = (): string[] => tmux('list-clients', '-F', '#{client_tty}').split('\n').filter(Boolean);
    async function attach(term: string): Promise<Screen> {
      tmux('new-session', '-d', '-s', 'work', 'cat');
      const screen = startScreen('exec tmux attach -t work', envOf({ TERM: term }));
      screens.push(screen);
      await until('a client', () => clients().length === 1);
      return screen;
    }

    // In these states tmux drops what a pane passes on.
    for (const [state, ...command] of [
      ['shows a message', 'display-message', '-d', '60000', 'in the way'],
      ['asks for a command', 'command-prompt', '-b', '-p', 'in the way'],
    ] as const)
      it(`shows a banner of the emulator while tmux ${state}`, async () => {
        const screen = await attach('foot');
        tmux(...command);
        await until('what is in the way', () => screen.text().includes('in the way'));
        expect(await send()).to.deep.equal({ outcome: 'delivered' });
        const banner = `${ESC}]777;notify;Waiting for you;shop·main asks to run Bash.${ESC}\\`;
        await until('the banner', () => screen.text().includes(banner));
      });

    it('writes no banner into the protocol of a client in control mode', async () => {
      tmux('new-session', '-d', '-s', 'work', 'cat');
      const screen = startScreen('exec tmux -C attach -t work', envOf({ TERM: 'foot' }));
      screens.push(screen);
      await until('a client', () => clients().length === 1);
      expect(await send()).to.deep.equal({ outcome: 'delivered' });
      await until('the bell', () => /%output %\d+ .*\\007/.test(screen.text()));
      expect(screen.text()).to.not.include('777;notify');
    });

    it('tries again if tmux does not answer', async () => {
      await attach('foot');
      const channel = terminalChannel({ platform: 'linux', run: silent, env: envOf() });
      expect(await attempt(channel, parcel(), () => undefined)).to.include({
        outcome: 'again',
        reason: 'tmux did not answer within 5 s.',
      });
    });

    it("else shows it in tmux's status line, and rings", async () => {
      const screen = await attach('xterm-256color');
      expect(await send({ message: '#(touch ~/pwned) #{pid} %H 100%;' })).to.deep.equal({
        outcome: 'delivered',
      });
      await until('the message', () => screen.text().includes('100%,'));
      expect(screen.text()).to.include('Waiting for you: #(touch ~/pwned) #{pid} %H 100%,');
      await until('the bell', () => screen.text().includes(BELL));
      expect(screen.text()).to.not.include('777;notify');
      expect(existsSync(join(home, 'pwned'))).to.equal(false);
    });
  });

  channelContract('terminal', async () => {
    await open({ TERM: 'foot' });
    const channel = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform = 'linux') =>
      terminalChannel({ platform, run, env });
    return {
      alive: channel(envOf()),
      dead: channel(envOf({ HOME: '/nowhere' })),
      off: channel(envOf(), 'darwin'),
    };
  });
});
