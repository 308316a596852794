import { expect } from 'chai';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { until } from '../helpers/daemon';
import { requirePrograms } from '../helpers/real-part';

const DOCUMENT = readFileSync(resolve(__dirname, '..', '..', 'docs', 'bars.md'), 'utf8');

/** Returns the first block after this word in the document, which is what people paste. */
function pasted(word: string): string {
  const after = DOCUMENT.slice(DOCUMENT.indexOf(`\n${word}`));
  return /```\w+\n([^]*?)```/.exec(after)?.[1] ?? '';
}

describe('a line in a bar', function () {
  this.timeout(60_000);
  let home: ReturnType<typeof emptyHome>;
  let env: NodeJS.ProcessEnv;
  let calls: string;
  const running: ChildProcess[] = [];
  beforeEach(async () => {
    home = emptyHome();
    const bin = join(home.path, 'bin');
    calls = join(home.path, 'calls');
    mkdirSync(bin);
    // `open` is only noted, because it would start a browser.
    const script = `#!/bin/sh\necho "$*" >>'${calls}'\n[ "$1" = open ] || exec '${process.execPath}' '${BIN}' "$@"\n`;
    writeFileSync(join(bin, 'steward'), script);
    chmodSync(join(bin, 'steward'), 0o755);
    env = cleanEnv(home.path, { PATH: `${bin}:${process.env['PATH'] ?? ''}`, TERM: 'xterm-256color' });
    const limit = { used_percentage: 85, resets_at: Math.floor(Date.now() / 1000) + 3600 };
    const input = JSON.stringify({ rate_limits: { five_hour: limit, seven_day: limit } });
    await steward(['statusline'], { home: home.path, input });
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    home.remove();
  });
  const hasOpened = (): boolean =>
    existsSync(calls) && readFileSync(calls, 'utf8').split('\n').includes('open');

  it('shows in i3blocks, which opens the pages at a click', async function () {
    requirePrograms(this, { i3blocks: 'i3blocks' });
    const config = join(home.path, 'i3blocks.conf');
    writeFileSync(config, pasted('i3blocks'));
    const bar = spawn('i3blocks', ['-c', config], { env, stdio: 'pipe' });
    running.push(bar);
    let shown = '';
    bar.stdout.on('data', (data: Buffer) => (shown += data.toString()));
    await until('the line is shown', () =>
      Promise.resolve(shown.includes('"full_text":"5 h 85% · week 85%"')),
    );
    expect(hasOpened()).to.equal(false);
    bar.stdin.write('[{"name":"steward","button":1}\n');
    await until('the pages are opened', () => Promise.resolve(hasOpened()));
  });

  it('shows in tmux', async function () {
    requirePrograms(this, { tmux: 'tmux' });
    const config = join(home.path, 'tmux.conf');
    writeFileSync(config, pasted('tmux').replace('status-interval 10', 'status-interval 1'));
    const tmux = (...args: string[]): string =>
      spawnSync('tmux', ['-S', join(home.path, 'tmux'), '-f', config, ...args], { env, encoding: 'utf8' })
        .stdout;
    try {
      // The outer terminal's screen contains the inner one's bar.
      const inner = `tmux -S '${join(home.path, 'inner')}' -f '${config}' new-session 'sleep 60'`;
      tmux('new-session', '-d', '-x', '120', '-y', '20', '-e', 'TMUX=', `env -u TMUX ${inner}`);
      tmux('set', '-g', 'status', 'off');
      await until('the line is shown', () =>
        Promise.resolve(tmux('capture-pane', '-p').includes('5 h 85% · week 85%')),
      );
      expect(tmux('list-keys', '-T', 'root')).to.match(/MouseDown1StatusRight +run-shell -b "steward open"/);
    } finally {
      tmux('kill-server');
      spawnSync('tmux', ['-S', join(home.path, 'inner'), 'kill-server'], { env });
    }
  });
});
