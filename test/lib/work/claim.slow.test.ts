import { expect } from 'chai';
import fc from 'fast-check';

import { claimIssue, firstHolder } from '../../../src/lib/work/claim';
import type { LabelEvent } from '../../../src/lib/work/host/github-read';
import { startGitHub, type GitHub } from '../../helpers/github';
import { rejection } from '../../helpers/errors';
import { readyWorld, type WorkWorld } from '../../helpers/work';

const REPO = 'ann/work';

describe('work: claim', function () {
  this.timeout(120_000);
  let github: GitHub;
  let world: WorkWorld;
  /** Another machine: its own user area and locks. */
  let other: WorkWorld;
  before(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }] });
    world = await readyWorld(github);
    other = await readyWorld(github);
  });
  after(async () => {
    world.remove();
    other.remove();
    await github.close();
  });
  beforeEach(() => {
    github.fault = () => undefined;
  });

  const issue = async (...labels: string[]): Promise<number> => {
    const made = (await github.api('POST', `/repos/${REPO}/issues`, { title: 'x', labels })) as {
      number: number;
    };
    return made.number;
  };
  const labelsOf = async (number: number): Promise<string[]> => {
    const path = `/repos/${REPO}/issues/${number}`;
    const { labels } = (await github.api('GET', path)) as { labels: { name: string }[] };
    return labels.map(({ name }) => name).sort();
  };

  it('changes exactly the specified labels', async () => {
    const number = await issue('Status:ready', 'Status:queued', 'Type:feature', 'mine');
    const result = await claimIssue(world.deps, { number, agent: 'kai' });
    expect(result).to.include({ number, agent: 'kai', already: false });
    expect(await labelsOf(number)).to.deep.equal(['Agent:kai', 'Status:in-progress', 'Type:feature', 'mine']);
    expect((await claimIssue(world.deps, { number, agent: 'kai' })).already).to.equal(true);
    const error = await rejection(claimIssue(other.deps, { number, agent: 'bo' }));
    expect([error.kind, error.message]).to.deep.equal(['conflict', `#${number} is claimed by kai.`]);
    expect(await labelsOf(number)).not.to.include('Agent:bo');
  });

  it('grants one of two simultaneous claims', async () => {
    const winners = new Map<string, number>();
    for (let round = 0; round < 12; round += 1) {
      const number = await issue('Status:ready', ...(round % 2 === 0 ? [] : ['Agent:nova']));
      const agents = round % 4 === 1 ? ['nova', 'bo'] : ['kai', 'bo'];
      const [one, two] = await Promise.allSettled([
        claimIssue(world.deps, { number, agent: agents[0] ?? '' }),
        claimIssue(other.deps, { number, agent: agents[1] ?? '' }),
      ]);
      const won = [one, two].filter(({ status }) => status === 'fulfilled');
      expect(won, `round ${round}`).to.have.length(1);
      const winner = one.status === 'fulfilled' ? agents[0] : agents[1];
      const loser = one.status === 'fulfilled' ? two : one;
      const { reason } = loser as PromiseRejectedResult;
      expect(reason).to.include({ kind: 'conflict', message: `#${number} is claimed by ${winner}.` });
      const labels = await labelsOf(number);
      expect(labels).to.include.members([`Agent:${winner}`, 'Status:in-progress']);
      expect(labels).not.to.include('Status:ready');
      expect(labels).not.to.include(`Agent:${winner === agents[0] ? agents[1] : agents[0]}`);
      winners.set(winner ?? '', (winners.get(winner ?? '') ?? 0) + 1);
    }
    expect([...winners.values()].reduce((sum, n) => sum + n, 0)).to.equal(12);
  });

  it('grants one of several simultaneous claims', async () => {
    const agents = ['kai', 'bo', 'cy', 'di', 'ed'];
    const number = await issue('Status:queued');
    const worlds = await Promise.all(agents.map(() => readyWorld(github)));
    try {
      const tries = await Promise.allSettled(
        agents.map((agent, at) => claimIssue((worlds[at] as WorkWorld).deps, { number, agent })),
      );
      expect(tries.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      expect((await labelsOf(number)).filter((name) => name.startsWith('Agent:'))).to.have.length(1);
    } finally {
      for (const one of worlds) one.remove();
    }
  });

  it('completes an interrupted claim', async () => {
    const number = await issue('Status:ready', 'Agent:kai', 'Status:in-progress');
    expect(await claimIssue(world.deps, { number, agent: 'KAI' })).to.include({ already: true });
    expect(await labelsOf(number)).to.deep.equal(['Agent:kai', 'Status:in-progress']);
  });

  it('succeeds despite an old label of another agent', async () => {
    const number = await issue('Status:queued', 'Agent:nova');
    expect(await claimIssue(world.deps, { number, agent: 'kai' })).to.include({ agent: 'kai' });
    expect((await rejection(claimIssue(other.deps, { number, agent: 'nova' }))).message).to.include(
      'claimed by kai',
    );
  });

  it('rejects closed, blocked, in-review and unassigned in-progress issues', async () => {
    for (const [labels, words] of [
      [['Status:blocked'], /is blocked; only ready or queued issues/],
      [['Status:in-review'], /is in-review/],
      [['Status:in-progress'], /already in progress but has no Agent label/],
    ] as const) {
      const error = await rejection(claimIssue(world.deps, { number: await issue(...labels), agent: 'kai' }));
      expect(error.kind).to.equal('conflict');
      expect(error.message).to.match(words);
    }
    const number = await issue('Status:ready');
    await github.api('PATCH', `/repos/${REPO}/issues/${number}`, { state: 'closed' });
    expect((await rejection(claimIssue(world.deps, { number, agent: 'kai' }))).message).to.equal(
      `#${number} is closed.`,
    );
    for (const agent of ['', ' kai', 'a,b', 'x\u001b[2J', 'x'.repeat(41)])
      expect((await rejection(claimIssue(world.deps, { number, agent }))).kind, agent).to.equal('usage');
    expect((await rejection(claimIssue(world.deps, { number: 99_999, agent: 'kai' }))).kind).to.equal(
      'not_found',
    );
  });

  it('waits for lagging events, and withdraws if they never come', async () => {
    const number = await issue('Status:ready');
    let hidden = 2;
    github.fault = ({ path }) =>
      path.includes('/events') && hidden-- > 0 ? { status: 200, body: [] } : undefined;
    expect((await claimIssue(world.deps, { number, agent: 'kai' })).already).to.equal(false);
    const never = await issue('Status:ready');
    github.fault = ({ path }) => (path.includes('/events') ? { status: 200, body: [] } : undefined);
    expect((await rejection(claimIssue(world.deps, { number: never, agent: 'kai' }))).kind).to.equal(
      'unavailable',
    );
    expect(await labelsOf(never)).not.to.include('Agent:kai');
  });

  it('names the same holder in any order of labels', () => {
    const names = ['kai', 'bo', 'cy'];
    const event = fc.record({
      event: fc.constantFrom('labeled' as const, 'unlabeled' as const),
      label: fc.constantFrom('Status:in-progress', 'Status:ready', ...names.map((name) => `Agent:${name}`)),
      second: fc.integer({ min: 0, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(event), fc.subarray(names, { minLength: 1 }), (some, held) => {
        const events: LabelEvent[] = some
          .sort((a, b) => a.second - b.second)
          .map(({ second, ...rest }, id) => ({ ...rest, id: id + 1, at: `2026-11-20T09:00:0${second}Z` }));
        const labels = ['Status:in-progress', ...held.map((name) => `Agent:${name}`)];
        const holder = firstHolder(labels, events);
        expect(held).to.include(holder);
        expect(firstHolder([...labels].reverse(), events)).to.equal(holder);
      }),
    );
  });
});
