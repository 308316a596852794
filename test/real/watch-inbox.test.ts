import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { userArea, type Machine } from '../../src/lib/config/user-area';
import { answerTo, openAsk, takeAnswer, type Ask } from '../../src/lib/inbox/asks';
import type { Inbox } from '../../src/lib/inbox/row';
import { systemClock } from '../../src/lib/platform/time/clock';
import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';

describe('steward inbox with keys', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let machine: Machine;
  before(function () {
    requirePrograms(this, { tmux: 'tmux' });
  });
  beforeEach(() => {
    home = emptyHome();
    const area = userArea({ platform: process.platform, env: cleanEnv(home.path), home: home.path });
    machine = { area, clock: systemClock(), machineId: '0123456789ab', tell: () => undefined };
    tmux('new-session', '-d', '-s', 'inbox', '-x', '60', '-y', '16', 'sh');
    tmux('set-option', '-g', 'status', 'off');
  });
  afterEach(() => {
    tmux('kill-server');
    home.remove();
  });

  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', join(home.path, 'tmux.sock'), '-f', '/dev/null', ...args], {
      env: cleanEnv(home.path, { TERM: 'screen', SHELL: '/bin/sh', LANG: 'C.UTF-8' }),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const shows = async (what: RegExp): Promise<string> => {
    let screen = '';
    for (let tries = 0; tries < 600; tries += 1) {
      screen = tmux('capture-pane', '-p', '-t', 'inbox:0');
      if (what.test(screen)) return screen;
      await delay(100);
    }
    throw new Error(`${String(what)} is not on the screen:\n${screen}`);
  };
  const type = (...keys: string[]): string => tmux('send-keys', '-t', 'inbox:0', ...keys);
  const start = async (): Promise<void> => {
    type(`PS1='prompt: '; clear; "${process.execPath}" "${BIN}" inbox`, 'Enter');
    await shows(/waiting for you$/m);
  };
  const permission = (slug: string, input: string): Promise<Ask> =>
    openAsk(machine, {
      ...{ kind: 'permission', session: 's1', slug, tool: 'Bash', input, canAllow: true },
      ...{ isHeld: false, untilMs: Date.now() + 600_000 },
    });

  it('shows a question as soon as it is asked, answers it after you saw it, and restores the terminal', async () => {
    await start();
    await shows(/^Nothing waits for you\.$/m);
    const questions = [{ text: 'Which one?', options: ['First', 'Second'] }];
    const untilMs = Date.now() + 600_000;
    const ask = await openAsk(machine, { kind: 'ask', tool: 'ask_me', input: 'Which one?', questions, canAllow: true, isHeld: false, untilMs }); // prettier-ignore
    await shows(/^1 waiting for you\n\n> q-\w+\n {4}asks you a question/m);
    type('2');
    const detail = await shows(/^Press 2 again/m);
    expect(detail).to.include('Which one?\n  1  First\n  2  Second');
    expect(answerTo(machine, ask)).to.equal(undefined);
    type('2');
    await shows(/^Answered q-/m);
    expect(answerTo(machine, ask)?.texts).to.deep.equal(['Second']);
    await shows(/^Nothing waits for you\.$/m);
    type('q');
    await shows(/^prompt:$/m);
    expect(tmux('display-message', '-p', '-t', 'inbox:0', '#{cursor_flag} #{alternate_on}')).to.equal('1 0');
  });

  it('allows only the input that it shows in full, says why, snoozes, and fits 60 and 100 columns', async () => {
    for (const event of ['session-start', 'prompt', 'permission'] as const) {
      const input = hookJson(event, { cwd: home.path, session_id: 's1', tool_name: 'Bash' });
      await steward(['hook', event === 'permission' ? 'notification' : event], { home: home.path, input });
    }
    const { rows } = JSON.parse((await steward(['inbox', '--json'], { home: home.path })).stdout) as Inbox;
    const slug = rows[0]?.slug ?? '';
    const first = await permission(slug, '{"command":"make  test"}');
    await start();
    const narrow = await shows(/asks to run Bash/);
    expect(narrow.split('\n').at(-1)).to.equal('Enter go · a/d/1-9 answer · s snooze · w why · q quit');
    type('a');
    await shows(/^Allow Bash\?\n {2}\{"command":"make {2}test"\}$[^]*^Press a again/m);
    // The session asks something else before the second key.
    await takeAnswer(machine, first);
    const second = await permission(slug, JSON.stringify({ command: 'x'.repeat(2000) }));
    await shows(/xxxxx/);
    type('a');
    await shows(/^Press a again/m);
    type('a');
    await shows(/^Press a again/m);
    expect(answerTo(machine, second), 'not what is partly below the screen').to.equal(undefined);
    tmux('resize-window', '-t', 'inbox:0', '-x', '100', '-y', '40');
    await shows(/--deny/);
    type('a');
    await shows(/^Answered /m);
    expect(answerTo(machine, second)?.behavior).to.equal('allow');
    type('w');
    await shows(/^blocks an agent for/m);
    type('Enter');
    await shows(/^The terminal for .* is unknown\.$/m);
    type('s');
    await shows(/^Nothing waits for you\.$/m);
    type('q');
    await shows(/^prompt:$/m);
  });

  it('stays while the configuration is invalid, says so, and exits with 130 on Ctrl-C', async () => {
    type(`PS1='prompt: '; clear; "${process.execPath}" "${BIN}" inbox; echo "code $?"`, 'Enter');
    await shows(/^Nothing waits for you\.$/m);
    const { config, root } = machine.area;
    mkdirSync(root, { recursive: true, mode: 0o700 });
    writeFileSync(config, 'notifications: [', { mode: 0o600 });
    await shows(/^The configuration has a problem/m);
    rmSync(config);
    await shows(/^Nothing waits for you\.[^]*^Enter go/m);
    type('C-c');
    await shows(/^code 130$/m);
  });

  it('prints the list once with --plain, and in a pipe', async () => {
    type(`PS1='prompt: '; clear; "${process.execPath}" "${BIN}" inbox --plain`, 'Enter');
    await shows(/^Nothing waits for you\.[^]*^prompt:$/m);
    const piped = await steward(['inbox'], { home: home.path });
    expect(piped.stdout).to.match(/^Nothing waits for you\./);
  });
});
