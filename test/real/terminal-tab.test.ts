import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome } from '../helpers/cli';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';

describe("the tab of a session's terminal", function () {
  this.timeout(180_000);
  /** Runs a shell line on a new pseudo terminal, and gives what came to its screen. */
  async function onTerminal(home: string, line: string): Promise<string> {
    // A shell that stays: it is the process that has the terminal, as the assistant would be.
    const child = spawn('script', ['-qec', `${line}; :`, '/dev/null'], {
      env: cleanEnv(home, { SHELL: '/bin/sh', STEWARD_NODE: process.execPath, STEWARD_BIN: BIN }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
    await once(child, 'close');
    return screen;
  }

  const call = (event: string): string =>
    `setsid -w "$STEWARD_NODE" "$STEWARD_BIN" hook ${event} < "$HOME/${event}.json" > "$HOME/${event}.out"`;

  it('is set on the verified terminal if the assistant does not support the sequence', async function () {
    requirePrograms(this, { script: 'bsdutils', setsid: 'util-linux' });
    const home = emptyHome();
    try {
      for (const event of ['session-start', 'stop'] as const) {
        writeFileSync(join(home.path, `${event}.json`), hookJson(event, { cwd: home.path }));
      }
      const screen = await onTerminal(home.path, `${call('session-start')}; ${call('stop')}`);
      expect(screen).to.equal('\u001b]0;● Native\u0007'.repeat(2));
      expect(readFileSync(join(home.path, 'stop.out'), 'utf8')).to.equal('');
      const first = readFileSync(join(home.path, '.steward', 'state', 'work-events.jsonl'), 'utf8').split(
        '\n',
      )[0];
      expect(JSON.parse(first ?? ''))
        .to.have.nested.property('terminal.tty')
        .that.matches(/^\/dev\/pts\/\d+$/);
      // The shell that had the terminal is gone: another terminal, of whatever name, is left alone.
      expect(await onTerminal(home.path, call('stop'))).to.equal('');
    } finally {
      home.remove();
    }
  });
});
