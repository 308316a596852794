import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { toIso } from '../../src/lib/platform/time/clock';
import { agentSessionSource } from '../../src/lib/sense/agent-session';
import { appFocusSource } from '../../src/lib/sense/app-focus';
import { watchFocus, type FocusWatch } from '../../src/lib/sense/focus-watch';
import { timeRows } from '../../src/lib/time/ledger/rows';
import { observe } from '../../src/lib/sense/observe';
import { readPlace } from '../../src/lib/sense/pane/place';
import { ledgersOf } from '../../src/lib/sense/ledgers';
import { desktopKit, startManager, startXvfb, until, type DesktopKit } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';
import { senseBox, type SenseBox } from '../helpers/sense';

const PROGRAMS = { Xvfb: 'xvfb', openbox: 'openbox', xterm: 'xterm', xprop: 'x11-utils', wmctrl: 'wmctrl' };
const START = Date.parse('2026-11-20T09:50:00.000Z');
const CONFIG = { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] };

/** A morning of 100 minutes in two terminals with three sessions, by a clock that the script moves. */
describe('a scripted day (real X server and tmux)', function () {
  this.timeout(180_000);
  let kit: DesktopKit;
  let box: SenseBox;
  let watch: FocusWatch | undefined;

  beforeEach(() => {
    kit = desktopKit();
    Object.assign(kit.env, { TMUX_TMPDIR: kit.home, SHELL: '/bin/sh' });
    box = senseBox(toIso(START));
  });

  afterEach(async () => {
    await watch?.close();
    spawnSync('tmux', ['-L', 'day', 'kill-server'], { env: kit.env });
    await kit.stop();
    box.remove();
  });

  const at = (name: string): string => join(realpathSync(kit.home), name);
  const tmux = (...args: string[]): string => kit.tell('tmux', '-L', 'day', ...args).trim();

  it('matches the minutes and waits of the script', async function () {
    requirePrograms(this, { ...PROGRAMS, tmux: 'tmux' });
    let [nowMs, inputMs] = [START, START];
    const sessions = new Map<string, string>();
    const workEvents = at('work-events.jsonl');
    const event = (session: string, type: string, repo: string | null, more: object = {}): void =>
      appendFileSync(
        workEvents,
        `${JSON.stringify({ ts: toIso(nowMs), type, session, slug: null, repo, ...more })}\n`,
      );

    for (const name of ['site', 'notes']) repository(name);
    mkdirSync(at('elsewhere'));
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    const first = ['tmux', '-L', 'day', '-f', '/dev/null', 'new-session', '-c', at('site'), 'cat'];
    kit.start('xterm', ['-class', 'QOne', '-name', 'qone', '-e', ...first], { cwd: at('elsewhere') });
    await until(
      'tmux runs',
      () => spawnSync('tmux', ['-L', 'day', 'list-panes'], { env: kit.env }).status === 0,
    );
    tmux('split-window', '-c', at('notes'), 'cat');
    kit.start('xterm', ['-class', 'QTwo', '-name', 'qtwo', '-e', 'cat'], { cwd: at('elsewhere') });
    for (const [index, session] of ['one', 'two'].entries())
      sessions.set(tmux('display-message', '-p', '-t', `:0.${index}`, '#{pane_tty}'), session);

    const desktop = kit.desktop();
    const placeDeps = {
      desktop,
      repos: [at('site'), at('notes')],
      sessionsOn: (tty: string) => Promise.resolve([sessions.get(tty) ?? 'three']),
    };
    const observeDeps = {
      desktop,
      config: CONFIG,
      place: (app: { app: string }, ms: number | undefined) => readPlace(placeDeps, app, ms),
      idle: () => Promise.resolve({ idleMs: nowMs - inputMs, via: 'x11' }),
    };
    await raise('QTwo');
    await raise('QOne');
    tmux('select-pane', '-t', ':0.0');
    const day = watchFocus({
      clock: { now: () => nowMs, monotonic: () => performance.now() },
      machineId: 'm',
      desktop,
      lease: at('focus.lock'),
      isWanted: () => Promise.resolve(true),
      observe: (last) => observe(observeDeps, nowMs, last),
      onProblem: (problem) => expect.fail(problem),
      tickMs: 3_600_000,
    });
    watch = day;
    await until('the watch is live', () => day.isLive());
    const deps = {
      ...box.deps,
      sources: [
        appFocusSource({ ...observeDeps, config: CONFIG, machineId: 'm', timezone: 'UTC', watch: day }),
        agentSessionSource({
          path: workEvents,
          config: { repos: placeDeps.repos },
          timezone: 'UTC',
          machineId: 'm',
        }),
      ],
    };

    /** Lets minutes pass: an observation each half minute, a capture every two. */
    async function pass(minutes: number, { isIdle = false } = {}): Promise<void> {
      for (let half = 1; half <= minutes * 2; half += 1) {
        nowMs += 30_000;
        if (!isIdle) inputMs = nowMs;
        if ((nowMs - START) % 120_000 !== 0) await day.since(0);
        else {
          box.at(toIso(nowMs));
          await box.capture(deps);
        }
      }
    }
    async function show(app: string, repo?: string): Promise<void> {
      await until(`${app} is in front`, async () => {
        const now = (await day.since(0))?.now;
        return now?.state === 'focus' && now.focus.app === app && now.focus.repo === repo;
      });
    }

    const main = { branch: 'main' };
    const selectPane = async (index: number, repo: string): Promise<void> => {
      tmux('select-pane', '-t', `:0.${index}`);
      await show('QOne', repo);
    };
    await show('QOne', 'site');
    await pass(2);
    event('one', 'prompt', 'site', main);
    await pass(8);
    await selectPane(1, 'notes');
    await pass(2);
    event('two', 'prompt', 'notes', main);
    await selectPane(0, 'site');
    await pass(8);
    event('two', 'notification', 'notes', { ...main, reason: 'permission_prompt' });
    event('one', 'tool-after', 'site', main);
    await pass(6);
    await selectPane(1, 'notes');
    await pass(4);
    event('two', 'prompt', 'notes', main);
    await raise('QTwo');
    await show('QTwo');
    await pass(2);
    event('three', 'prompt', null);
    await pass(8);
    for (const [session, repo] of [
      ['one', 'site'],
      ['two', 'notes'],
      ['three', null],
    ] as const)
      event(session, 'stop', repo, repo === null ? {} : main);
    // Nothing of an hour and five minutes without input counts.
    await pass(65, { isIdle: true });
    inputMs = nowMs;
    await raise('QOne');
    await selectPane(0, 'site');
    await pass(5);

    const { ledgers } = ledgersOf(deps, ['2026-11-20']);
    const names = { session: (id: string) => id, issue: () => undefined, goal: () => undefined };
    const table = timeRows(ledgers, 'repo', names).map(({ key, minutes, working, waiting, heldUp }) => [
      ...[key, minutes, working, waiting, heldUp],
    ]);
    expect(table).to.have.deep.members([
      ['site', 29, 38, 0, 0],
      ['notes', 6, 18, 10, 6],
      ['other folders', 10, 8, 0, 0],
    ]);
    const bySession = timeRows(ledgers, 'session', names).map((row) => [row.key, row.minutes]);
    expect(bySession).to.have.deep.members([
      ['one', 29],
      ['two', 6],
      ['three', 10],
    ]);
    expect(readFileSync(box.store.logOf('2026-11-20'), 'utf8').length).to.be.lessThan(40_000);
  });

  function repository(name: string): void {
    mkdirSync(at(name));
    execFileSync('git', ['-C', at(name), 'init', '-q', '-b', 'main']);
  }

  async function raise(name: string): Promise<void> {
    const args = ['-x', '-a', `${name.toLowerCase()}.${name}`];
    await until(`${name} is raised`, () => spawnSync('wmctrl', args, { env: kit.env }).status === 0);
  }
});
