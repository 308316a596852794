import { spawn, spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { DailyRecord } from '../../src/lib/sense/record';
import { BIN, cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { ask, startDaemon, until } from '../helpers/daemon';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { notifyServer, type NotifyServer } from '../helpers/notify-server';
import { issuesOf } from '../helpers/work-kill';

const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (name) => `/usr/lib/${name}/faketime/libfaketime.so.1`,
);
const ZONE = 'Europe/Berlin';
/** Local midnight of Thursday, 22 October 2026; on the Sunday the clocks go back, so the week has 169 hours. */
const START = Date.parse('2026-10-21T22:00:00Z');
const HOURS = 169;
/** Hours between two captures. */
const STEP_HOURS = 6;
const STEPS = Math.ceil(HOURS / STEP_HOURS);
const MINUTE = 60_000;

/** A week in a home, told by the clock of libfaketime: what was done is counted here and compared at its end. */
describe('a whole week (built)', function () {
  this.timeout(600_000);
  const library = LIBRARIES.find((path) => existsSync(path));
  let home: ReturnType<typeof emptyHome>;
  let github: GitHub;
  let chat: NotifyServer;
  const expected = new Map<string, { commits: number; sessions: Set<string> }>();
  let notified = 0;

  before(function () {
    if (library !== undefined) return;
    const message = 'libfaketime not installed: apt-get install libfaketime';
    if ((process.env['CI'] ?? '') !== '') throw new Error(message);
    console.log(`      skipped: ${message}`);
    this.skip();
  });
  beforeEach(async () => {
    home = emptyHome();
    github = await startGitHub();
    chat = await notifyServer(() => ({ status: 200 }));
  });
  afterEach(async () => {
    await github.close();
    await chat.close();
    home.remove();
  });

  const at = (ms: number): Record<string, string> => ({
    LD_PRELOAD: library ?? '',
    FAKETIME: `@${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
    GITHUB_API_URL: github.url,
    GH_TOKEN: github.token,
  });
  const dayOf = (ms: number): string => new Intl.DateTimeFormat('sv-SE', { timeZone: ZONE }).format(ms);
  const run = async (ms: number, args: string[], input = ''): Promise<unknown> => {
    const done = await steward([...args, '--json'], { home: home.path, env: at(ms), input });
    expect(done.code, `${new Date(ms).toISOString()} ${args.join(' ')}: ${done.stderr}`).to.equal(0);
    return done.stdout === '' ? undefined : jsonOf(done);
  };
  const repo = (): string => join(home.path, 'repo');
  const git = (ms: number, ...args: string[]): void => {
    const date = new Date(ms).toISOString();
    const env = cleanEnv(home.path, { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date });
    const { status, stderr } = spawnSync('git', args, { cwd: repo(), env, encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
  };
  /** The power goes while a capture is at work. */
  const cutPower = async (ms: number, afterMs: number): Promise<void> => {
    const child = spawn(process.execPath, [BIN, 'sense', 'capture'], {
      env: cleanEnv(home.path, at(ms)),
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
    await ended;
    clearTimeout(timer);
  };

  it('counts every commit, session, notification and issue of it, over midnights, a change of the clocks, restarts and power cuts', async () => {
    mkdirSync(repo());
    git(START, 'init', '-q');
    git(START, 'config', 'user.email', 'me@example.org');
    git(START, 'config', 'user.name', 'Me');
    for (const [key, value] of [
      ['timezone', ZONE],
      ['sense.repos', repo()],
      ['sense.sources.appFocus', 'false'],
      ['notify.voice.engine', 'none'],
      ['notifications.push.enabled', 'false'],
      ['notifications.chat.webhook', `${chat.url}/hook`],
      ['notifications.chat.enabled', 'true'],
    ] as const)
      await run(START, ['config', 'set', key, value]);
    await run(START, ['work', 'setup', 'ann/work']);

    for (let step = 0; step < STEPS; step += 1) {
      const now = START + step * STEP_HOURS * 60 * MINUTE;
      await live(now, step);
      if (step % (24 / STEP_HOURS) === 3) {
        // Once a day a notification and the sweep.
        await run(now, [
          'notify',
          'send',
          `Day ${dayOf(now)}`,
          '--event',
          'security',
          '--no-voice',
          '--wait',
        ]);
        notified += 1;
        await run(now, ['work', 'sweep']);
      }
      if (step === Math.round(STEPS * 0.3) || step === Math.round(STEPS * 0.7))
        await serve(now + MINUTE / 2, step);
    }

    // The week is over: the next capture records its last day.
    const end = START + (HOURS + 2) * 60 * MINUTE;
    await run(end, ['sense', 'capture']);
    const records = (await run(end, ['sense', 'recent', '--days', '30'])) as DailyRecord[];
    expect(records.map(({ date }) => date).sort()).to.deep.equal([...expected.keys()].sort());
    for (const record of records) {
      const wanted = expected.get(record.date);
      expect(
        { commits: record.commits.count, sessions: record.sessions.count, final: record.final },
        record.date,
      ).to.deep.equal({ commits: wanted?.commits, sessions: wanted?.sessions.size, final: true });
    }
    expect(records.find(({ date }) => date === '2026-10-25')?.hours).to.have.length(25);
    expect(expected.size).to.equal(7);
    const told = chat.got.map(({ text }) => text);
    expect(told, told.join('\n')).to.have.length(notified);
    expect(await run(end, ['sense', 'status'])).to.deep.include({ quarantined: 0 });
    // Nothing that was done twice made a second issue.
    const titles = (await issuesOf(github, 'ann/work')).map(({ title }) => title);
    expect(new Set(titles).size).to.equal(titles.length);
  });

  /** One interval: a commit, a turn of the day's session, a capture. At two of them the power goes in between. */
  async function live(now: number, step: number): Promise<void> {
    const day = dayOf(now);
    const session = `0f0e9d1c-8a7b-4c6d-9e5f-${day.replaceAll('-', '').padStart(12, '0')}`;
    const known = expected.get(day) ?? { commits: 0, sessions: new Set<string>() };
    expected.set(day, known);
    appendFileSync(join(repo(), 'file'), `${step}\n`);
    git(now + MINUTE, 'add', '.');
    git(now + MINUTE, 'commit', '-q', '-m', `Step ${step}`);
    known.commits += 1;
    await run(
      now + MINUTE,
      ['hook', 'tool', '--no-tab'],
      hookJson('tool', { session_id: session, cwd: repo() }),
    );
    known.sessions.add(session);
    if (step === Math.round(STEPS * 0.4))
      for (const ms of [30, 80, 130, 180]) await cutPower(now + 2 * MINUTE, ms);
    await run(now + 2 * MINUTE, ['sense', 'capture']);
  }

  /** The daemon runs for a while, takes a notification, and is killed. */
  async function serve(now: number, step: number): Promise<void> {
    const daemon = await startDaemon({ home: home.path, env: at(now + 2 * MINUTE) });
    const body = JSON.stringify({
      message: `From the daemon ${step}`,
      event: 'security',
      voice_enabled: false,
    });
    expect((await ask(`${daemon.url}/notify`, { method: 'POST', body })).status).to.equal(202);
    notified += 1;
    await until('the notification', () => chat.got.some(({ text }) => text.includes(`daemon ${step}`)));
    await until('a capture', async () => {
      const { jobs } = JSON.parse((await ask(`${daemon.url}/api/status`)).text) as {
        jobs: { id: string; lastOk: boolean | null }[];
      };
      return jobs.some(({ id, lastOk }) => id === 'capture' && lastOk === true);
    });
    await daemon.stop('SIGKILL');
  }
});
