import { expect } from 'chai';
import { appendFileSync, mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { DailyRecord } from '../../src/lib/time/record';
import type { SenseEvent } from '../../src/lib/time/event';
import type { HistoryEntry } from '../../src/lib/notify/history';
import { ask, startDaemon, until } from '../helpers/daemon';
import { requireFaketime } from '../helpers/faketime';
import { hookJson } from '../helpers/hooks';
import { beginWeek, dayOf, HOURS, MINUTE, openWeek, sessionOf, START, type Week } from '../helpers/week';
import { issuesOf } from '../helpers/work-kill';

/** Days of it, for a shorter run. */
const DAYS = Number(process.env['STEWARD_SOAK_DAYS'] ?? '7');
const STEP = 2 * MINUTE;
const STEPS = DAYS === 7 ? (HOURS * 60 * MINUTE) / STEP : (DAYS * 24 * 60 * MINUTE) / STEP;
const CUTS = [Math.round(STEPS * 0.36), Math.round(STEPS * 0.81)];
const APPS = ['Editor', 'Browser', 'Chat', 'Terminal'];

interface Day {
  captures: number;
  apps: Map<string, number>;
  commits: number;
  sessions: Set<string>;
}

/**
 * The week with a capture every two minutes of it, in the order of a real one: an application in front that changes,
 * commits, turns and prompts of a session, sweeps, notifications, a daemon that is started and killed, and two power cuts in
 * which everything dies at once. Its clock stands still within a step, so every figure is known to the second.
 */
describe('soak: a whole week, every two minutes', () => {
  let week: Week;
  const days = new Map<string, Day>();
  const told = new Map<string, number>();
  /** Those whose daemon was killed, it may be before it had noted that they were sent: they may come once more. */
  const killed = new Set<string>();
  const reminded: string[] = [];
  const worked: string[] = [];

  before(function () {
    requireFaketime(this);
  });
  before(async () => void (week = await openWeek()));
  after(() => week.close());

  it('counts every minute, commit, session, notification and issue of it', async () => {
    await beginWeek(week, []);
    for (let step = 0; step < STEPS; step += 1) {
      const now = START + step * STEP;
      await live(now, step);
      if (step % 180 === 100) await notify(now, step);
      if (step % 30 === 29) await week.run(now, ['work', 'sweep']);
      if (step % 360 === 200) await serve(now, step);
      if (step % 720 === 0) console.log(`      ${dayOf(now)} ${new Date().toISOString()}`);
    }
    const end = Math.max(START + STEPS * STEP, START + Math.ceil(DAYS) * 24 * 60 * MINUTE) + 60 * MINUTE;
    week.front('Editor');
    await week.run(end, ['work', 'deliver']);
    await week.run(end, ['work', 'sweep']);
    await week.run(end, ['sense', 'capture']);
    await compare(end);
  }).timeout(0);

  async function live(now: number, step: number): Promise<void> {
    const { run, git, repo } = week;
    const date = dayOf(now);
    const isNew = !days.has(date);
    const day = days.get(date) ?? { captures: 0, apps: new Map(), commits: 0, sessions: new Set() };
    days.set(date, day);
    const app = APPS[Math.floor(step / 30) % APPS.length] ?? '';
    week.front(app);
    if (isNew) artifact(now, date);
    if (step % 90 === 10) {
      appendFileSync(join(repo, 'file'), `${step}\n`);
      git(now, 'add', '.');
      git(now, 'commit', '-q', '-m', `Step ${step}`);
      day.commits += 1;
    }
    if (step % 40 === 20) {
      const turn = hookJson('tool', { session_id: sessionOf(date), cwd: repo });
      await run(now, ['hook', 'tool', '--no-tab'], turn);
      day.sessions.add(sessionOf(date));
    }
    const text = `water the plants of step ${step}`;
    const prompt = hookJson('prompt', {
      session_id: sessionOf(date),
      cwd: repo,
      prompt: `please remind me to ${text}`,
    });
    if (CUTS.includes(step)) {
      // Everything at once, at several points of it; what was asked is asked again after the start.
      for (const ms of [40, 90, 150, 230, 330, 500, 800])
        await week.cutPower(now, ms, [
          [['sense', 'capture']],
          [['hook', 'prompt', '--no-tab'], prompt],
          [['notify', 'send', `Cut ${step}`, '--event', 'security', '--no-voice', '--wait']],
          [['work', 'sweep']],
          [['daemon', 'serve', '--port', '0', '--json']],
        ]);
    }
    if (step % 240 === 60 || CUTS.includes(step)) {
      await run(now, ['hook', 'prompt', '--no-tab'], prompt);
      day.sessions.add(sessionOf(date));
      await run(now, ['work', 'deliver']);
      reminded.push(text);
    }
    await run(now, ['sense', 'capture']);
    day.captures += 1;
    day.apps.set(app, (day.apps.get(app) ?? 0) + 2);
  }

  /** A session that no hook has seen: the sweep finds it. */
  function artifact(now: number, date: string): void {
    const slug = `work-of-${date}`;
    const folder = join(week.home, '.steward', 'sessions', slug);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'ISA.md');
    const at = new Date(now).toISOString();
    writeFileSync(
      path,
      `---\nslug: ${slug}\ntask: Work of ${date}\nmode: algorithm\nphase: execute\nstarted: ${at}\nupdated: ${at}\n---\n\nText.\n`,
    );
    utimesSync(path, now / 1000, now / 1000);
    worked.push(slug);
  }

  async function notify(now: number, step: number): Promise<void> {
    const text = `Step ${step}.`;
    await week.run(now, ['notify', 'send', text, '--event', 'security', '--no-voice', '--wait']);
    told.set(text, 1);
  }

  /** The daemon runs for a while, takes a notification, and ends: politely, or killed. */
  async function serve(now: number, step: number): Promise<void> {
    const daemon = await startDaemon({ home: week.home, env: week.at(now + 1000) });
    const message = `From the daemon at ${step}.`;
    const body = JSON.stringify({ message, event: 'security', voice_enabled: false });
    expect((await ask(`${daemon.url}/notify`, { method: 'POST', body })).status).to.equal(202);
    told.set(message, 1);
    await until('the notification', () => week.chat.got.some(({ text }) => text.includes(message)), 120_000);
    const isKilled = step % 720 !== 200;
    if (isKilled) killed.add(message);
    const how = await daemon.stop(isKilled ? 'SIGKILL' : 'SIGTERM');
    expect(how).to.equal(isKilled ? 'SIGKILL' : 0);
  }

  async function compare(end: number): Promise<void> {
    const records = (await week.run(end, ['sense', 'recent', '--days', '30'])) as DailyRecord[];
    const recorded = records
      .map(({ date, totalMinutes, apps, commits, sessions, final }) => ({
        date,
        totalMinutes,
        apps: Object.fromEntries(apps.map(({ app, minutes }) => [app, minutes])),
        commits: commits.count,
        sessions: sessions.count,
        final,
      }))
      .sort((a, b) => (a.date < b.date ? -1 : 1));
    expect(recorded).to.deep.equal(
      [...days].map(([date, day]) => ({
        date,
        totalMinutes: day.captures * 2,
        apps: Object.fromEntries(day.apps),
        commits: day.commits,
        sessions: day.sessions.size,
        final: true,
      })),
    );
    if (DAYS === 7) {
      expect(days.size).to.equal(7);
      expect([...days.values()].map(({ captures }) => captures)).to.deep.equal([
        720, 720, 720, 750, 720, 720, 720,
      ]);
      expect(records.find(({ date }) => date === '2026-10-25')?.hours).to.have.length(25);
    }
    const total = [...days.values()].reduce((sum, { captures }) => sum + captures, 0);
    expect(secondsSeen()).to.equal(total * 120 + 120);
    expect(await week.run(end, ['sense', 'status'])).to.deep.include({ quarantined: 0 });
    const texts = week.chat.got.map(({ text }) => text);
    for (const [text, times] of told)
      expect(texts.filter((got) => got.includes(text)).length, text).to.be.within(
        times,
        killed.has(text) ? times + 1 : times,
      );
    // What came twice is what the history says may have come twice.
    const twice = [...killed].filter((text) => texts.filter((got) => got.includes(text)).length > 1);
    const history = (await week.run(end, ['notify', 'history', '--limit', '1000'])) as HistoryEntry[];
    const toChat = history.flatMap(({ text, channels }) =>
      channels.flatMap(({ channel, maybeTwice }) => (channel === 'chat' && maybeTwice ? [text] : [])),
    );
    for (const text of twice) expect(toChat, 'told of in the history').to.include(text);
    // What was being sent when the power went is sent once more at most.
    const cut = texts.filter((text) => text.includes('Cut '));
    expect(texts.length - cut.length, texts.join('\n')).to.be.within(told.size, told.size + killed.size);
    const titles = (await issuesOf(week.github, 'ann/work')).map(({ title }) => title).sort();
    const unmarked = titles.map((title) => title.replace(/ \[[a-z]+:.*$/, ''));
    expect(unmarked).to.deep.equal(
      [
        ...reminded.map((text) => `[Reminder] ${text}`),
        ...worked.map((slug) => `[Sweep] Work of ${slug.slice('work-of-'.length)}`),
      ].sort(),
    );
  }

  function secondsSeen(): number {
    const events = join(week.home, '.steward', 'sense', 'events');
    return readdirSync(events)
      .flatMap((name) => readFileSync(join(events, name), 'utf8').trimEnd().split('\n'))
      .map((line) => JSON.parse(line) as SenseEvent)
      .filter(({ type }) => type === 'app-focus')
      .reduce((sum, { detail }) => sum + Number(detail?.['intervalSec']), 0);
  }
});
