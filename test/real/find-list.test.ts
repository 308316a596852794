import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { BIN, cleanEnv, emptyHome } from '../helpers/cli';
import { converse } from '../helpers/on-terminal';
import { requirePrograms, requireTerminal } from '../helpers/real-part';

describe('steward find on a terminal', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => {
    home = emptyHome();
    const projects = at('.claude/projects/shop');
    mkdirSync(projects, { recursive: true });
    mkdirSync(at('shop it'));
    for (const [session, text] of [
      ['s1', 'We chose the Zebrafish \u001b[31mas a name'],
      ['s2', 'no Zebrafish here'],
    ] as const) {
      const line = {
        ...{ type: 'user', timestamp: `2026-11-2${session.slice(1)}T10:00:00.000Z`, sessionId: session },
        ...{ cwd: at('shop it'), message: { content: text } },
      };
      writeFileSync(join(projects, `${session}.jsonl`), `${JSON.stringify(line)}\n`);
    }
    mkdirSync(at('bin'));
    writeFileSync(at('bin/claude'), '#!/bin/sh\necho "assistant $* in $(pwd)"\n');
    chmodSync(at('bin/claude'), 0o755);
  });
  afterEach(() => home.remove());

  const at = (name: string): string => join(home.path, name);
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', at('tmux.sock'), '-f', '/dev/null', ...args], {
      env: cleanEnv(home.path, { TERM: 'screen', SHELL: '/bin/sh', LANG: 'C.UTF-8' }),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const shows = async (window: string, what: RegExp): Promise<string> => {
    let screen = '';
    for (let tries = 0; tries < 600; tries += 1) {
      screen = tmux('capture-pane', '-p', '-t', `find:${window}`);
      if (what.test(screen)) return screen;
      await delay(100);
    }
    throw new Error(`${String(what)} is not on the screen:\n${screen}`);
  };

  it('resumes the chosen session in a new tmux window, with the PATH of your shell', async function () {
    requirePrograms(this, { tmux: 'tmux' });
    tmux('new-session', '-d', '-s', 'find', '-x', '60', '-y', '12', 'sh');
    tmux('set-option', '-g', 'status', 'off');
    try {
      const type = (...keys: string[]): string => tmux('send-keys', '-t', 'find:0', ...keys);
      type(`PATH="${at('bin')}:$PATH" "${process.execPath}" "${BIN}" find zebrafish`, 'Enter');
      const list = await shows('0', /^2 sessions found$/m);
      for (const line of list.split('\n')) expect(line.length).to.be.at.most(60);
      expect(list).to.match(/^> .* · no repository · Claude Code\n +you: (We chose|no)/m);
      type('/', 'chose', 'Enter', 'Enter');
      await shows('0', /^Resumed in a new tmux window\.$/m);
      await shows('1', /assistant --resume s1 in [^]*shop it$/m);
      type('q');
      await shows('0', /[$#] ?$/m);
      expect(tmux('display-message', '-p', '-t', 'find:0', '#{alternate_on}')).to.equal('0');
    } finally {
      tmux('kill-server');
    }
  });

  it('prints the command that resumes it outside of tmux', async function () {
    requireTerminal(this);
    const turns = [
      ['2 sessions found', 'j'],
      ['>', '\r'],
    ] as const;
    const { text, code, missed } = await converse(['find', 'zebrafish'], turns, {
      home: home.path,
      columns: 60,
    });
    expect([code, missed]).to.deep.equal([0, []]);
    expect(text).to.match(/cd '[^']*shop it' && claude --resume s[12]\r\n/);
    const quit = await converse(['find', 'zebrafish'], [['2 sessions found', '\x03']], { home: home.path });
    expect(quit.code).to.equal(130);
    expect(quit.text).not.to.include('claude --resume');
  });
});
