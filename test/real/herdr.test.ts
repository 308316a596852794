import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { findProgram } from '../../src/lib/platform/process/spawn';
import { run } from '../../src/lib/platform/process/process';
import { readPresence } from '../../src/lib/sense/presence';
import { herdrPanes, paneOfHerdr } from '../../src/lib/sessions/herdr';
import { lastTerminalInput } from '../../src/lib/sessions/terminal-input';
import type { SessionTerminal } from '../../src/lib/sessions/work-events';
import { cleanEnv } from '../helpers/cli';
import { until } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';
import { removeFolder } from '../helpers/scratch';
import { closeScreen, openScreen, type Screen } from '../helpers/screens';

/**
 * Answers as herdr 0.8 does: `server` opens the terminals of two panes, without arguments it is a client, and the rest
 * are its commands.
 */
const HERDR = `
import json, os, pty, sys
open('/proc/self/comm', 'w').write('herdr')
home = os.environ['HOME']
args = sys.argv[1:]
def answer(result):
    print(json.dumps({'id': 'cli', 'result': result}))
def shells():
    return json.load(open(home + '/shells.json'))
if not args:
    print('a client', flush=True)
    sys.stdin.read()
elif args == ['server']:
    panes = {}
    for name in ['w1:p1', 'w1:p2']:
        pid, master = pty.fork()
        if pid == 0:
            os.execvp('cat', ['cat'])
        panes[name] = pid
    json.dump(panes, open(home + '/shells.new', 'w'))
    os.rename(home + '/shells.new', home + '/shells.json')
    sys.stdin.read()
elif args == ['pane', 'list']:
    panes = [{'pane_id': name, 'terminal_title': 'a title', 'focused': name == 'w1:p2'} for name in shells()]
    answer({'type': 'pane_list', 'panes': panes + [{'pane_id': 'not an id'}, 5]})
elif args == ['pane', 'current']:
    answer({'type': 'pane', 'pane': {'pane_id': open(home + '/current').read()}})
elif args[:3] == ['pane', 'process-info', '--pane'] and args[3] in shells():
    answer({'type': 'process_info', 'process_info': {'pane_id': args[3], 'shell_pid': shells()[args[3]]}})
else:
    print(json.dumps({'id': 'cli', 'error': {'code': 'pane_not_found'}}))
    sys.exit(1)
`;

describe('a herdr client and its panes', function () {
  this.timeout(60_000);
  let home: string;
  let screens: Screen[];

  before(function () {
    requirePrograms(this, { script: 'bsdutils', python3: 'python3' });
  });
  beforeEach(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'steward-herdr-')));
    screens = [];
    mkdirSync(join(home, 'bin'));
    const program = join(home, 'bin', 'herdr');
    writeFileSync(program, `#!${findProgram('python3') ?? ''}\n${HERDR}`, { mode: 0o755 });
    writeFileSync(join(home, 'current'), 'w1:p2');
    screens.push(await openScreen('exec herdr server', env()));
    await until('the panes', () => existsSync(join(home, 'shells.json')));
  });
  afterEach(async () => {
    for (const screen of screens) await closeScreen(screen);
    removeFolder(home);
  });

  const env = (): NodeJS.ProcessEnv => ({
    ...cleanEnv(home, { TMUX_TMPDIR: home, TERM: 'xterm', SHELL: '/bin/sh' }),
    PATH: `${join(home, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`,
  });
  const deps = () => ({ run, env: env() });
  const shells = (): Record<string, number> =>
    JSON.parse(readFileSync(join(home, 'shells.json'), 'utf8')) as Record<string, number>;
  const ttyOf = (pid: number): string =>
    `/dev/${execFileSync('ps', ['-o', 'tty=', '-p', String(pid)], { encoding: 'utf8' }).trim()}`;
  const paneTty = (pane: string): string => ttyOf(shells()[pane] ?? 0);

  /** Opens a terminal with a client and returns the terminal and the client's process. */
  async function openClient(): Promise<{ tty: string; pid: number }> {
    const screen = await openScreen('tty; echo $$; exec herdr', env());
    screens.push(screen);
    await until('the client', () => screen.text().includes('a client'));
    const [tty = '', pid] = screen.text().split('\r\n');
    return { tty, pid: Number(pid) };
  }

  it('are listed with their processes, without what is no pane', async () => {
    const listed = Object.entries(shells()).map(([id, shell]) => ({ id, shell }));
    expect(await herdrPanes(deps(), undefined, undefined)).to.deep.equal(listed);
    expect(await herdrPanes(deps(), undefined, 'w1:p2')).to.deep.equal(listed.slice(1));
    expect(await herdrPanes(deps(), undefined, 'w1:p9')).to.deep.equal([]);
    expect(await herdrPanes(deps(), undefined, '--help')).to.deep.equal([]);
  });

  it('count as typed on through the client, in the pane that it shows', async () => {
    const client = await openClient();
    for (const pane of ['w1:p2', 'w1:p1']) {
      writeFileSync(join(home, 'current'), pane);
      const shown = { tty: paneTty(pane), pid: shells()[pane] };
      expect(await paneOfHerdr(deps(), client.pid)).to.deep.equal(shown);
      const input = await lastTerminalInput(deps());
      expect(input).to.include({ tty: client.tty, pane: shown.tty, pid: shown.pid });
    }
    writeFileSync(join(home, 'current'), 'w1:p9');
    expect(await lastTerminalInput(deps())).to.include({ tty: client.tty, pane: client.tty });
  });

  it('tell whether you see a session', async () => {
    await openClient();
    const look = (pane: string, laterMs = 0): Promise<string> =>
      readPresence(
        { platform: 'linux', env: env(), run },
        { tty: paneTty(pane), pid: null, program: null } as SessionTerminal,
        Date.now() + laterMs,
      );
    expect([await look('w1:p2'), await look('w1:p1')]).to.deep.equal(['front', 'desk']);
    expect(await look('w1:p2', 120_000)).to.equal('away');
  });
});
