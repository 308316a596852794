import { expect } from 'chai';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import type { DailyRecord } from '../../src/lib/time/record';
import { ask, startDaemon, until } from '../helpers/daemon';
import { requireFaketime } from '../helpers/faketime';
import { hookJson } from '../helpers/hooks';
import { beginWeek, dayOf, HOURS, MINUTE, openWeek, sessionOf, START, type Week } from '../helpers/week';
import { issuesOf } from '../helpers/work-kill';

/** Hours between two captures. The soak has one every two minutes. */
const STEP_HOURS = 6;
const STEPS = Math.ceil(HOURS / STEP_HOURS);

/** A week in a home, told by the clock of libfaketime: what was done is counted here and compared at its end. */
describe('a whole week (built)', function () {
  this.timeout(600_000);
  let week: Week;
  const expected = new Map<string, { commits: number; sessions: Set<string> }>();
  let notified = 0;

  before(function () {
    requireFaketime(this);
  });
  beforeEach(async () => void (week = await openWeek()));
  afterEach(() => week.close());

  it('counts every commit, session, notification and issue across midnight, DST changes, restarts and power cuts', async () => {
    const { run, chat, github } = week;
    await beginWeek(week, [['sense.sources.appFocus', 'false']]);

    for (let step = 0; step < STEPS; step += 1) {
      const now = START + step * STEP_HOURS * 60 * MINUTE;
      await live(now, step);
      if (step % (24 / STEP_HOURS) === 3) {
        // Once a day a notification and the sweep.
        const text = `Day ${dayOf(now)}`;
        await run(now, ['notify', 'send', text, '--event', 'security', '--no-voice', '--wait']);
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
    const { run, git, repo } = week;
    const day = dayOf(now);
    const known = expected.get(day) ?? { commits: 0, sessions: new Set<string>() };
    expected.set(day, known);
    appendFileSync(join(repo, 'file'), `${step}\n`);
    git(now + MINUTE, 'add', '.');
    git(now + MINUTE, 'commit', '-q', '-m', `Step ${step}`);
    known.commits += 1;
    const session = sessionOf(day);
    const turn = hookJson('tool', { session_id: session, cwd: repo });
    await run(now + MINUTE, ['hook', 'tool', '--no-tab'], turn);
    known.sessions.add(session);
    if (step === Math.round(STEPS * 0.4))
      for (const ms of [30, 80, 130, 180])
        await week.cutPower(now + 2 * MINUTE, ms, [[['sense', 'capture']]]);
    await run(now + 2 * MINUTE, ['sense', 'capture']);
  }

  /** The daemon runs for a while, takes a notification, and is killed. */
  async function serve(now: number, step: number): Promise<void> {
    const { home, at, chat } = week;
    const daemon = await startDaemon({ home, env: at(now + 2 * MINUTE) });
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
