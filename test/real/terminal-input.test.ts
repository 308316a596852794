import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

import type { TerminalInput } from '../../src/lib/sessions/terminal-input';
import { until } from '../helpers/desktop-kit';
import { requireNamespace } from '../helpers/namespace';
import { requirePrograms } from '../helpers/real-part';
import { startTerminals, type Terminals } from '../helpers/terminals';

const TSX = require.resolve('tsx');
const CHILD = resolve(__dirname, '..', 'helpers', 'children', 'terminal-input.ts');

describe('the last input at real terminals', function () {
  this.timeout(120_000);
  let folder: string;
  let terminals: Terminals;

  beforeEach(async function () {
    requirePrograms(this, { tmux: 'tmux', python3: 'python3' });
    requireNamespace(this);
    folder = mkdtempSync(join(tmpdir(), 'steward-terminals-'));
    terminals = await startTerminals(folder, { ...process.env, TMUX_TMPDIR: folder, TMUX: undefined });
  });

  afterEach(async () => {
    await terminals?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  async function last(): Promise<TerminalInput | undefined> {
    const { stdout, stderr } = await terminals.exec(process.execPath, ['--import', TSX, CHILD], {
      ...process.env,
      TMUX_TMPDIR: folder,
      TMUX: undefined,
    });
    expect(stderr).to.equal('');
    return (JSON.parse(stdout) as TerminalInput | null) ?? undefined;
  }

  /** Types until the input is seen, since the system reports a terminal's input in steps of 8 s. */
  const typed = (index: number, tty: string, pane: string): Promise<TerminalInput> =>
    until(`input at ${tty}`, async () => {
      terminals.type(index, ':\n');
      const input = await last();
      return input?.tty === tty && input.pane === pane && input;
    });

  it('is where you typed: an ssh login, or the active pane of a tmux client', async () => {
    expect(await last()).to.equal(undefined);
    terminals.open(folder, 'sh');
    expect((await typed(0, '/dev/pts/0', '/dev/pts/0')).atMs).to.be.closeTo(Date.now(), 60_000);
    terminals.open(folder, 'tmux', 'new', 'sh');
    await typed(1, '/dev/pts/1', '/dev/pts/2');
    await terminals.exec('tmux', ['split-window', 'sh'], { TMUX_TMPDIR: folder });
    await typed(1, '/dev/pts/1', '/dev/pts/3');
    await typed(0, '/dev/pts/0', '/dev/pts/0');
  });

  it('is not where a program types: a pane without you, or a terminal that an assistant opened', async () => {
    terminals.open(folder, 'tmux', 'new', 'sh');
    await typed(0, '/dev/pts/0', '/dev/pts/1');
    await terminals.exec('tmux', ['new', '-d', '-s', 'agent', 'sh'], { TMUX_TMPDIR: folder });
    const before = await last();
    const line = 'import os, pty, time; pid, fd = pty.fork(); pid or os.execvp("sh", ["sh"])';
    const types = `${line}; [(os.write(fd, b"echo\\n"), time.sleep(0.2)) for n in range(100)]`;
    terminals.open(folder, 'python3', '-c', types);
    await until('input in the pane and in the inner terminal', async () => {
      await terminals.exec('tmux', ['send-keys', '-t', 'agent', ':', 'Enter'], { TMUX_TMPDIR: folder });
      const { stdout } = await terminals.exec('stat', ['-c', '%n %X', '/dev/pts/2', '/dev/pts/4']);
      const times = stdout
        .trim()
        .split('\n')
        .map((row) => Number(row.split(' ')[1]) * 1000);
      return times.length === 2 && times.every((ms) => ms > (before?.atMs ?? 0) + 8_000);
    });
    expect((await last())?.tty).to.be.oneOf(['/dev/pts/0', '/dev/pts/3']);
  });
});
