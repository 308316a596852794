import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';

import type { SessionsReport } from '../../src/lib/sessions/rows';
import { cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { until } from '../helpers/desktop-kit';
import { modelServer } from '../helpers/model-server';
import { requirePart, requirePrograms } from '../helpers/real-part';

const BIN = resolve(__dirname, '../../node_modules/.cache/steward-assistants/node_modules/.bin');

/** Keys of tmux. */
const [ENTER, ESCAPE, CLEAR, MODE] = ['Enter', 'Escape', 'C-u', 'BTab'];

/** What `steward sessions` says about each session, in its order: status, and what it asks or does. */
const DONE = 'waiting';

describe('an hour with the real assistant in tmux, without a desktop (built)', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let model: Awaited<ReturnType<typeof modelServer>>;
  let tookMs: number[];

  beforeEach(async function () {
    requirePrograms(this, { tmux: 'tmux', git: 'git' });
    requirePart(
      this,
      existsSync(join(BIN, 'claude')),
      'Claude Code is not installed: npm run assistant-parts',
    );
    home = emptyHome();
    model = await modelServer();
    tookMs = [];
  });
  afterEach(() => {
    if (home === undefined) return;
    tmux('kill-server');
    model.close();
    home.remove();
  });

  function tmux(...args: string[]): string {
    const socket = join(home.path, 'tmux');
    // The assistant asks the terminal about its colors; tmux answers only with UTF-8.
    const env = cleanEnv(home.path, { TERM: 'xterm-256color' });
    return spawnSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' })
      .stdout;
  }

  function screen(pane: string): string {
    return tmux('capture-pane', '-p', '-t', pane);
  }

  async function shows(pane: string, text: string | RegExp): Promise<void> {
    const isThere = (): boolean =>
      typeof text === 'string' ? screen(pane).includes(text) : text.test(screen(pane));
    try {
      await until(`${String(text)} in ${pane}`, isThere, 30_000);
    } catch (error) {
      throw new Error(screen(pane), { cause: error });
    }
  }

  /** Starts Claude Code in a folder of its own or of another pane, and waits for its input line. */
  async function start(pane: string, folder: string): Promise<void> {
    const env = {
      PATH: `${BIN}:${process.env['PATH'] ?? ''}`,
      ANTHROPIC_BASE_URL: dirname(model.url),
      ANTHROPIC_AUTH_TOKEN: 'x',
      ANTHROPIC_MODEL: 'claude-sonnet-4-5',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    };
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const command = ['env', ...variables, 'claude'];
    tmux('new-session', '-d', '-s', pane, '-x', '100', '-y', '40', '-c', folder, ...command);
    await shows(pane, 'for shortcuts');
  }

  async function say(pane: string, text: string): Promise<void> {
    tmux('send-keys', '-t', pane, CLEAR);
    tmux('send-keys', '-t', pane, '-l', text);
    // The last prompt on the screen is the input.
    await shows(pane, new RegExp(`❯\\s${text}\\s*\\n[^❯]*$`));
    tmux('send-keys', '-t', pane, ENTER);
  }

  const press = (pane: string, key: string): string => tmux('send-keys', '-t', pane, key);

  async function list(): Promise<string[]> {
    const { sessions } = jsonOf(await steward(['sessions', '--json'], { home: home.path })) as SessionsReport;
    return sessions.map(({ status, waitingFor, activity }) =>
      [status, waitingFor ?? activity].filter((word) => word !== null).join(': '),
    );
  }

  /** Waits for the list, and notes how long it took. */
  async function lists(...expected: string[]): Promise<void> {
    const from = performance.now();
    let last: string[] = [];
    const isRight = async (): Promise<boolean> => {
      last = await list();
      return JSON.stringify(last) === JSON.stringify(expected);
    };
    try {
      await until(`the list says ${expected.join(', ')}`, isRight, 30_000);
    } catch {
      expect(last).to.deep.equal(expected);
    }
    tookMs.push(performance.now() - from);
  }

  it('of Claude Code, gives the right list at every step', async () => {
    const folder = realpathSync(home.path) + '/site';
    mkdirSync(folder);
    spawnSync('git', ['init', '-q', folder]);
    mkdirSync(join(home.path, '.claude'));
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    const settings = { hasCompletedOnboarding: true, theme: 'dark', projects: { [folder]: trusted } };
    writeFileSync(join(home.path, '.claude.json'), JSON.stringify(settings));
    expect(
      (await steward(['hooks', 'install', '--assistant', 'claude-code'], { home: home.path })).code,
    ).to.equal(0);

    await start('one', folder);
    await lists(DONE);

    // A permission, allowed; then one that Esc refuses.
    await say('one', 'RUN-IT');
    await shows('one', 'Do you want to proceed?');
    await lists('waiting: asks to run Bash');
    press('one', ENTER);
    await shows('one', '● Done.');
    await lists(DONE);
    await say('one', 'RUN-IT');
    await shows('one', 'Do you want to proceed?');
    await lists('waiting: asks to run Bash');
    press('one', ESCAPE);
    await lists(DONE);

    // A question, answered; then one that Esc refuses.
    for (const key of [ENTER, ESCAPE]) {
      await say('one', 'ASK-ME');
      await shows('one', 'Which one?');
      await shows('one', 'Enter to select');
      await lists('waiting: asks you a question');
      press('one', key ?? '');
      await lists(DONE);
    }

    // Esc before the first answer leaves no sign in the transcript.
    await say('one', 'WAIT-LONG');
    await shows('one', 'esc to interrupt');
    await lists('working: thinking');
    press('one', ESCAPE);
    await lists(DONE);

    // Two sessions in one repository: a request before a finished turn.
    await start('two', folder);
    await lists(DONE, DONE);
    await say('two', 'RUN-IT');
    await shows('two', 'Do you want to proceed?');
    await lists('waiting: asks to run Bash', DONE);
    press('two', ESCAPE);
    await lists(DONE, DONE);

    // A limit.
    await say('two', 'HIT-LIMIT');
    await shows('two', 'API Error');
    const { sessions } = jsonOf(await steward(['sessions', '--json'], { home: home.path })) as SessionsReport;
    expect(sessions.map(({ waitingFor }) => waitingFor ?? '').join()).to.match(/stopped: rate limit until/);

    // A plan.
    press('one', MODE);
    await shows('one', 'accept edits on');
    press('one', MODE);
    await shows('one', 'plan mode on');
    await say('one', 'PLAN-IT');
    await shows('one', 'Exit plan mode?');
    await until('the plan waits', async () =>
      (await list()).includes('waiting: has a plan for you to approve'),
    );
    press('one', ESCAPE);
    await until(
      'the plan is refused',
      async () => !(await list()).includes('waiting: has a plan for you to approve'),
    );

    // The end: one asks for it, the other is killed.
    await say('one', '/quit');
    await until('the row goes', async () => (await list()).length === 1);
    const pid = tmux('list-panes', '-t', 'two', '-F', '#{pane_pid}').trim();
    process.kill(Number(pid), 'SIGKILL');
    await lists('crashed');

    const slowest = Math.max(...tookMs);
    console.log(`      ${tookMs.length} lists, each right within ${Math.ceil(slowest)} ms`);
  });
});
