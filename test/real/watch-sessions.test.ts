import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';

describe('steward sessions --watch', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  before(function () {
    requirePrograms(this, { tmux: 'tmux' });
  });
  beforeEach(() => {
    home = emptyHome();
  });
  afterEach(() => {
    try {
      tmux('kill-server');
    } catch {
      // It ended with its last session.
    }
    home.remove();
  });

  const at = (name: string): string => join(home.path, name);
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', at('tmux.sock'), '-f', '/dev/null', ...args], {
      env: cleanEnv(home.path, { TERM: 'screen', SHELL: '/bin/sh', LANG: 'C.UTF-8' }),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const shows = async (what: RegExp): Promise<string> => {
    let screen = '';
    for (let tries = 0; tries < 600; tries += 1) {
      screen = tmux('capture-pane', '-p', '-t', 'watch:0');
      if (what.test(screen)) return screen;
      await delay(100);
    }
    throw new Error(`${String(what)} is not on the screen:\n${screen}`);
  };
  const type = (...keys: string[]): string => tmux('send-keys', '-t', 'watch:0', ...keys);
  /** What is typed before the shell has cleared the screen is echoed and cleared with it. */
  const prompted = async (): Promise<void> => {
    type(`PS1='prompt: '; clear`, 'Enter');
    await shows(/^prompt:$/m);
  };

  /** A pane in which a session works on a branch until its process ends. */
  function assistant(branch: string): string {
    const repo = at(`shop-${branch}`);
    execFileSync('git', ['init', '-q', '-b', branch, repo]);
    const hooks = (['session-start', 'prompt', 'tool-before'] as const).map((event) => {
      writeFileSync(at(`${branch}-${event}.json`), hookJson(event, { cwd: repo, session_id: branch, tool_name: 'Edit' })); // prettier-ignore
      const verb = event === 'tool-before' ? 'tool' : event;
      // The shell of the hook has the same terminal, and ends before the list is drawn.
      return `sh -c ': steward-hook; "${process.execPath}" "${BIN}" hook ${verb}; :' < "${at(`${branch}-${event}.json`)}" > /dev/null`;
    });
    writeFileSync(at(`${branch}.sh`), `${hooks.join('\n')}\ncat\n`);
    const line = `exec sh "${at(`${branch}.sh`)}"`;
    return tmux('new-window', '-d', '-P', '-F', '#{pane_pid}', '-t', 'watch', line);
  }

  it('shows changes, jumps to a session, and restores the terminal', async () => {
    tmux('new-session', '-d', '-s', 'watch', '-x', '80', '-y', '24', 'sh');
    tmux('set-option', '-g', 'status', 'off');
    await prompted();
    type(`"${process.execPath}" "${BIN}" sessions --watch`, 'Enter');
    await shows(/^No sessions are running\.$/m);
    const pid = Number(assistant('login'));
    await shows(/^> shop-login·login +working +editing +\d+ m +watch:1$/m);
    assistant('cart');
    await shows(/^ {2}shop-cart·cart +working +editing/m);
    const input = hookJson('permission', { cwd: at('shop-cart'), session_id: 'cart' });
    await steward(['hook', 'notification'], { home: home.path, input });
    await shows(/^1 waiting · 1 working .*\n\n {2}shop-cart·cart +waiting 0 m +asks to run Bash/m);
    process.kill(pid, 'SIGKILL');
    await shows(/^> shop-login·login +ended unexpectedly/m);
    type('k');
    await shows(/^> shop-cart·cart/m);
    tmux('resize-window', '-t', 'watch:0', '-x', '40', '-y', '12');
    const narrow = await shows(/^> shop-cart·cart$/m);
    for (const line of narrow.split('\n')) expect(line.length).to.be.at.most(40);
    type('Enter');
    await shows(/^The session is running in tmux/m);
    type('q');
    await shows(/^prompt:$/m);
    expect(tmux('capture-pane', '-p', '-t', 'watch:0')).not.to.include('shop-cart');
    expect(tmux('display-message', '-p', '-t', 'watch:0', '#{cursor_flag} #{alternate_on} #{wrap_flag}')).to.equal('1 0 1'); // prettier-ignore
  });

  it('lets you choose by number where several sessions match', async () => {
    tmux('new-session', '-d', '-s', 'watch', '-x', '80', '-y', '24', 'sh');
    assistant('login');
    assistant('cart');
    await prompted();
    type(
      `until "${process.execPath}" "${BIN}" go 2 2>&1 | grep tmux; do sleep 0.1; done; clear; echo both`,
      'Enter',
    );
    await shows(/^both\nprompt:$/m);
    type(`"${process.execPath}" "${BIN}" go shop`, 'Enter');
    await shows(/^[12] {2}shop-login·login +working .* watch:1$/m);
    await shows(/^[12] {2}shop-cart·cart +working .* watch:2$/m);
    await shows(/^Session \(1 to 2\):/m);
    type('3', 'Enter', '2', 'Enter');
    await shows(/^Session \(1 to 2\): The session is running in tmux/m);
  });

  it('prints the plain list without a terminal', async () => {
    const plain = await steward(['sessions', '--watch'], { home: home.path });
    expect(plain).to.include({ code: 0 });
    expect(plain.stdout).to.match(/^No sessions yet\. Run "steward install hooks"/);
  });
});
