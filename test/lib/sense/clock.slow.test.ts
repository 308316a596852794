import { expect } from 'chai';
import fc from 'fast-check';

import { run } from '../../../src/lib/platform/process/process';
import { addDays } from '../../../src/lib/platform/time/time';
import { agentSessionSource } from '../../../src/lib/sense/agent-session';
import { gitSource } from '../../../src/lib/sense/git';
import { rollup } from '../../../src/lib/sense/roll';
import type { SenseSource } from '../../../src/lib/sense/source';
import { gitBox, type GitBox } from '../../helpers/git';
import { commit, senseBox, sourceOf, type SenseBox } from '../../helpers/sense';
import { thrown } from '../../helpers/errors';

const DAY = '2026-11-20';
const HOUR = 3_600_000;
const noonOf = (day: string): string => `${day}T12:00:00.000Z`;

describe('sense: a changed clock', () => {
  let box: SenseBox;
  let git: GitBox;
  beforeEach(() => {
    box = senseBox(noonOf(DAY));
    git = gitBox();
  });
  afterEach(() => {
    box.remove();
    git.remove();
  });

  let number = 0;
  const commits = (count: number, day = DAY): SenseSource => {
    const events = Array.from({ length: count }, () => commit(noonOf(day), 'site', `c${(number += 1)}`));
    return sourceOf('git', () => Promise.resolve({ events, cursor: number, state: 'ok' }));
  };
  const captured = async (iso: string, from: SenseSource): Promise<string[]> => {
    box.at(iso);
    return (await box.capture({ sources: [from] })).problems;
  };
  const boot = (upMs: number): void => {
    box.deps.clock.boot = () => ({ id: 'a', upMs });
  };

  it("counts today's commits after a first capture with a clock that was ahead", async () => {
    const repo = git.init('app');
    const sense = gitSource({
      run,
      machineId: 'm',
      config: { repos: [repo], git: { authors: 'mine' } },
      env: git.env,
    });
    const at = Date.parse(noonOf(DAY)) / 1000;
    git.commit(repo, { at: at - 60, subject: 'before' });
    await captured(noonOf(addDays(DAY, 5)), sense);
    expect(box.store.readLog(DAY).events).to.deep.equal([]);
    git.commit(repo, { at: at + 60, subject: 'after' });
    await captured(`${DAY}T13:00:00.000Z`, sense);
    git.commit(repo, { at: at + 7200, subject: 'on' });
    await captured(`${DAY}T15:00:00.000Z`, sense);
    const subjects = box.store.readLog(DAY).events.map(({ detail }) => detail?.['subject']);
    expect(subjects).to.deep.equal(['before', 'after', 'on']);
  });

  it('counts no commit twice that it counted while the clock was ahead', async () => {
    const repo = git.init('app');
    const sense = gitSource({
      run,
      machineId: 'm',
      config: { repos: [repo], git: { authors: 'mine' } },
      env: git.env,
    });
    const day = addDays(DAY, 1);
    git.commit(repo, { at: Date.parse(noonOf(day)) / 1000, subject: 'ahead' });
    await captured(`${day}T13:00:00.000Z`, sense);
    await captured(`${DAY}T13:00:00.000Z`, sense);
    expect(box.store.readLog(day).events).to.have.length(1);
    expect(box.store.readLog(DAY).events).to.have.length(0);
  });

  it('loses no commit of a killed capture before midnight, with a clock before the first capture', async () => {
    const repo = git.init('app');
    const sense = gitSource({
      run,
      machineId: 'm',
      config: { repos: [repo], git: { authors: 'mine' } },
      env: git.env,
    });
    git.commit(repo, { at: Date.parse(`${addDays(DAY, -9)}T12:00:00Z`) / 1000, subject: 'old' });
    await captured(noonOf(DAY), sense);
    const before = addDays(DAY, -5);
    git.commit(repo, { at: Date.parse(`${before}T23:58:00Z`) / 1000, subject: 'late' });
    await captured(`${addDays(before, 1)}T00:02:00.000Z`, sense);
    await captured(`${addDays(before, 1)}T00:04:00.000Z`, sense);
    await captured(noonOf(addDays(DAY, 1)), sense);
    const subjects = box.store
      .loggedDays()
      .flatMap((day) => box.store.readLog(day).events.map(({ detail }) => detail?.['subject']));
    expect(subjects).to.deep.equal(['late']);
  });

  for (const behind of [3, 120]) {
    it(`loses no commit and counts no old work after a capture ${behind} days behind`, async () => {
      box.deps.config.retentionDays = 1000;
      const repo = git.init('app');
      const sense = gitSource({
        run,
        machineId: 'm',
        config: { repos: [repo], git: { authors: 'mine' } },
        env: git.env,
      });
      const at = Date.parse(noonOf(DAY)) / 1000;
      const past = addDays(DAY, -behind);
      git.commit(repo, { at: at + 60, subject: 'one' });
      await captured(`${DAY}T13:00:00.000Z`, sense);
      git.commit(repo, { at: at + 4000, subject: 'two' });
      await captured(`${past}T12:00:00.000Z`, sense);
      git.commit(repo, { at: Date.parse(noonOf(past)) / 1000 + 60, subject: 'behind' });
      await captured(`${past}T13:00:00.000Z`, sense);
      await captured(`${DAY}T14:00:00.000Z`, sense);
      git.git(repo, ['checkout', '-q', '--orphan', 'imported']);
      for (const days of [100, 40]) git.commit(repo, { at: at - days * 86_400, subject: `${days} days ago` });
      await captured(`${DAY}T15:00:00.000Z`, sense);
      git.git(repo, ['checkout', '-q', 'main']);
      git.commit(repo, { at: at + 12_000, subject: 'three' });
      await captured(`${DAY}T16:00:00.000Z`, sense);
      const subjects = box.store
        .loggedDays()
        .flatMap((day) => box.store.readLog(day).events.map(({ detail }) => detail?.['subject']));
      expect(subjects).to.have.members(['one', 'behind', 'two', 'three']);
    });
  }

  it('counts sessions after a first capture that was ahead', async () => {
    const path = box.area.workEvents;
    const sessions = agentSessionSource({ path, timezone: 'UTC', machineId: 'm', config: { repos: [] } });
    await captured(noonOf(addDays(DAY, 5)), sessions);
    const event = { ts: `${DAY}T12:30:00.000Z`, type: 'subagent-stop', session: 's' };
    box.write('state/work-events.jsonl', `${JSON.stringify(event)}\n`);
    await captured(`${DAY}T13:00:00.000Z`, sessions);
    expect(box.store.readLog(DAY).events.map(({ detail }) => detail?.['session'])).to.deep.equal(['s']);
  });

  it('keeps the record of a day without its log when the clock returns to it', async () => {
    await captured(noonOf(DAY), commits(5));
    await captured(noonOf(addDays(DAY, 40)), commits(0));
    expect(box.store.logBytes(DAY)).to.equal(undefined);
    const problems = await captured(`${DAY}T13:00:00.000Z`, commits(1));
    expect(problems).to.deep.equal([
      `The event log for ${DAY} was deleted, so new events were stored in quarantine/late.jsonl. The record is unchanged.`,
    ]);
    expect(thrown(() => rollup(box.deps))).to.include({ kind: 'not_found' });
    await captured(noonOf(addDays(DAY, 1)), commits(0));
    expect(box.record(DAY).commits.count).to.equal(5);
    expect(box.store.readLog('late').events).to.have.length(1);
  });

  it('notices a jump by the time since boot, and deletes no log for a day', async () => {
    boot(HOUR);
    await captured(noonOf(DAY), commits(5));
    boot(2 * HOUR);
    await captured(noonOf(addDays(DAY, 40)), commits(0));
    expect(box.store.logBytes(DAY)).to.be.greaterThan(0);
    boot(3 * HOUR);
    await captured(`${DAY}T14:00:00.000Z`, commits(1));
    expect(box.store.readState().state.jumps).to.deep.equal([
      { at: noonOf(addDays(DAY, 40)), byMs: 40 * 24 * HOUR - HOUR },
      { at: `${DAY}T14:00:00.000Z`, byMs: -40 * 24 * HOUR + HOUR },
    ]);
    expect(box.store.recordedDays(), 'days to come').to.deep.equal([DAY]);
    boot(27 * HOUR);
    await captured(`${addDays(DAY, 1)}T14:00:00.000Z`, commits(0));
    expect(box.record(DAY).commits.count).to.equal(6);
    expect(box.store.readState().state.jumps).to.have.length(2);
  });

  it('ignores sleep and reboots; without a boot time it notices only a step back', async () => {
    boot(HOUR);
    await captured(noonOf(DAY), commits(0));
    boot(HOUR + 3 * 24 * HOUR);
    await captured(noonOf(addDays(DAY, 3)), commits(0));
    box.deps.clock.boot = () => ({ id: 'b', upMs: HOUR });
    await captured(noonOf(addDays(DAY, 9)), commits(0));
    delete box.deps.clock.boot;
    await captured(noonOf(addDays(DAY, 12)), commits(0));
    expect(box.store.readState().state.jumps).to.deep.equal([]);
    await captured(noonOf(addDays(DAY, 11)), commits(0));
    expect(box.store.readState().state.jumps).to.deep.equal([
      { at: noonOf(addDays(DAY, 11)), byMs: -24 * HOUR },
    ]);
  });

  it('never loses recorded commits for any clock changes', async () => {
    const step = fc.record({
      days: fc.integer({ min: -8, max: 8 }),
      commits: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const world = senseBox(noonOf(DAY));
        try {
          world.deps.config.retentionDays = 3;
          const had = new Map<string, number>();
          let seen = 0;
          for (const { days, commits: count } of steps) {
            const day = addDays(DAY, days);
            world.at(noonOf(day));
            seen += count;
            await world.capture({ sources: [commits(count, day)] });
            for (const recorded of world.store.recordedDays()) {
              const { count: now } = world.record(recorded).commits;
              expect(now).to.be.at.least(had.get(recorded) ?? 0);
              had.set(recorded, now);
            }
          }
          const logged = [...world.store.loggedDays(), 'late' as const].map(
            (day) => world.store.readLog(day).events,
          );
          const gone = [...had].filter(([day]) => world.store.logBytes(day) === undefined);
          const kept = gone.reduce((sum, [, count]) => sum + count, 0) + logged.flat().length;
          expect(kept).to.equal(seen);
        } finally {
          world.remove();
        }
      }),
      { numRuns: 8 },
    );
  });
});
