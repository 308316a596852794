import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import type { SenseEvent } from '../../src/lib/time/event';
import { BIN, cleanEnv } from '../helpers/cli';
import { machineFolder } from '../helpers/daemon';
import { until } from '../helpers/desktop-kit';
import { requireNamespace } from '../helpers/namespace';
import { requirePrograms } from '../helpers/real-part';
import { startTerminals, type Terminals } from '../helpers/terminals';

describe('your time on a machine without a desktop (built steward, real tmux)', function () {
  this.timeout(180_000);
  let home: string;
  let env: NodeJS.ProcessEnv;
  let terminals: Terminals;

  beforeEach(async function () {
    requirePrograms(this, { tmux: 'tmux', python3: 'python3', Xvfb: 'xvfb' });
    requireNamespace(this);
    home = realpathSync(mkdtempSync(join(tmpdir(), 'steward-server-')));
    env = cleanEnv(home, { TMUX_TMPDIR: home, SHELL: '/bin/sh' });
    for (const name of ['site', 'elsewhere']) mkdirSync(join(home, name));
    const git = ['-c', 'user.name=A', '-c', 'user.email=a@b.c'];
    execFileSync('git', [...git, 'init', '-q', '-b', 'main', join(home, 'site')]);
    execFileSync('git', [...git, '-C', join(home, 'site'), 'commit', '-q', '--allow-empty', '-m', 'first']);
    terminals = await startTerminals(join(home, 'terminals'), env);
    await steward('config', 'add', 'sense.repos', join(home, 'site'));
    await steward('config', 'set', 'sense.pollIntervalSec', '10');
  });

  afterEach(async () => {
    await terminals?.stop();
    if (home !== undefined) rmSync(home, { recursive: true, force: true });
  });

  async function steward(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await terminals.exec(process.execPath, [BIN, ...args], env);
    expect(code, stderr).to.equal(0);
    return stdout;
  }

  function events(): SenseEvent[] {
    const folder = join(home, '.steward', 'sense', 'events');
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
      .map((line) => JSON.parse(line) as SenseEvent);
  }

  const focuses = (): SenseEvent[] => events().filter(({ type }) => type === 'app-focus');

  /** Types and captures, until the captures saw the terminal typed on. */
  const typed = (index: number, found: (event: SenseEvent) => boolean): Promise<SenseEvent> =>
    until('a capture of the terminal', async () => {
      terminals.type(index, ':\n');
      await steward('sense', 'capture');
      return focuses().find(found);
    });

  it('is captured with the pane, its repository and branch, and counts', async () => {
    terminals.open(join(home, 'site'), 'tmux', 'new', 'sh');
    const inTmux = await typed(0, ({ app }) => app === 'tmux');
    expect(inTmux).to.deep.include({ source: 'appFocus', repo: 'site' });
    expect(inTmux.detail).to.include({ via: 'terminal', branch: 'main', path: join(home, 'site') });

    await terminals.exec('tmux', ['split-window', '-c', join(home, 'elsewhere'), 'sh'], env);
    const other = await typed(0, ({ detail }) => detail?.['otherFolder'] === true);
    expect(other).to.include({ app: 'tmux' }).and.not.to.have.property('repo');

    terminals.open(join(home, 'site'), 'sh');
    await typed(1, ({ app, repo }) => app === 'terminal' && repo === 'site');

    // Captures that follow each other at once may add up to no minute.
    await until('time in the repository', async () => {
      await typed(1, ({ repo }) => repo === 'site');
      return (await steward('time', '--json')).includes('"site"');
    });
    const today = JSON.parse(await steward('sense', 'today', '--json')) as { totalMinutes: number };
    expect(today.totalMinutes).to.be.above(0);
  });

  it('is watched by the daemon, and belongs to nobody after the idle limit', async () => {
    await steward('config', 'set', 'sense.idleAfterSec', '20');
    await steward('sense', 'capture');
    const serve = `exec ${process.execPath} ${BIN} daemon serve --port 0 >/dev/null 2>&1 &`;
    await terminals.exec('sh', ['-c', serve], env);
    await until('the daemon watches', () => existsSync(join(machineFolder(home), 'focus.lock')));
    terminals.open(join(home, 'site'), 'tmux', 'new', 'sh');
    const watched = await until('an interval', () => {
      terminals.type(0, ':\n');
      // tmux takes the terminal a moment after it is opened.
      return focuses().find(({ app, detail }) => app === 'tmux' && detail?.['via'] === 'terminal-events');
    });
    expect(watched).to.include({ repo: 'site' });
    await until('time away', () => events().some(({ type }) => type === 'away'), 90_000);
  });

  it('is not captured where there is a desktop that this process cannot reach', async () => {
    terminals.open(join(home, 'site'), 'tmux', 'new', 'sh');
    await typed(0, ({ app }) => app === 'tmux');
    const display = freeDisplay();
    const lock = `/tmp/.X${display}-lock`;
    const listen = `import os, socket, time
socket.socket(socket.AF_UNIX).bind("/tmp/.X11-unix/X${display}")
open("${lock}", "w").write("%10d\\n" % os.getpid())
time.sleep(600)`;
    try {
      const { stdout } = await terminals.exec(
        'sh',
        ['-c', 'python3 -c "$0" >/dev/null 2>&1 & echo $!', listen],
        env,
      );
      await until('the desktop', () => existsSync(lock) && readFileSync(lock, 'utf8').endsWith('\n'));
      const count = focuses().length;
      terminals.type(0, ':\n');
      const { sources } = JSON.parse(await steward('sense', 'capture', '--json')) as {
        sources: { id: string; state: string }[];
      };
      expect(sources[0]).to.include({ id: 'appFocus', state: 'unsupported' });
      expect(focuses()).to.have.length(count);
      // Its socket and lock stay behind.
      await terminals.exec('kill', ['-9', stdout.trim()], env);
      await typed(0, () => focuses().length > count);
    } finally {
      rmSync(lock, { force: true });
    }
  });

  it('is captured beside a display that nobody sees', async () => {
    const display = freeDisplay();
    const serve = `exec Xvfb :${display} -nolisten tcp >/dev/null 2>&1 &`;
    await terminals.exec('sh', ['-c', serve], env);
    await until('the display', () => existsSync(`/tmp/.X${display}-lock`));
    terminals.open(join(home, 'site'), 'tmux', 'new', 'sh');
    await typed(0, ({ app }) => app === 'tmux');
  });
});

/** Returns the number of an X display without a lock. */
function freeDisplay(): number {
  let display = 977;
  while (existsSync(`/tmp/.X${display}-lock`)) display += 1;
  return display;
}
