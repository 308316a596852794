import { expect } from 'chai';
import { writeFileSync } from 'node:fs';

import { closeIssue, showIssue, textOrFile } from '../../../src/lib/work/actions';
import { create, createOrQueue, newIssue, newReminder } from '../../../src/lib/work/add';
import { drainCaptures } from '../../../src/lib/work/capture/deliver';
import { waitingCaptures } from '../../../src/lib/work/capture/waiting';
import { workStatus } from '../../../src/lib/work/status';
import { refresh } from '../../../src/lib/work/poll';
import { claimIssue } from '../../../src/lib/work/claim';
import type { OpenRepo } from '../../../src/lib/work/deps';
import { moveIssue, setStatus } from '../../../src/lib/work/edit';
import type { Host } from '../../../src/lib/work/host';
import { startGitHub, type GitHub } from '../../helpers/github';
import { rejection, thrown } from '../../helpers/errors';
import { scratch } from '../../helpers/scratch';
import { captureOf, opened, readyWorld, type WorkWorld } from '../../helpers/work';
import { issuesOf } from '../../helpers/work-kill';

describe('work: add, remind, close, show', function () {
  this.timeout(60_000);
  const box = scratch();
  let github: GitHub;
  let world: WorkWorld;
  before(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }] });
    world = await readyWorld(github);
  });
  after(async () => {
    world.remove();
    await github.close();
  });
  beforeEach(() => {
    github.fault = () => undefined;
  });
  const row = async (number: number) =>
    (await issuesOf(github, 'ann/work')).find((one) => one.number === number);

  it('adds an issue with labels', async () => {
    const added = await create(world.deps, newIssue({ title: 'Do it', type: 'problem', priority: 'p1', property: 'nowhere', body: 'Why' })); // prettier-ignore
    expect(added).to.deep.include({ type: 'problem', priority: 'P1', status: 'queued', missingLabels: ['Property:nowhere'], source: 'manual' }); // prettier-ignore
    const made = await row(added.number);
    expect(made?.title).to.equal('Do it');
    expect(made?.body).to.match(/^Why\n\n<!-- steward id=[0-9a-f]{16} -->$/);
    expect(() => newIssue({ title: '  ' })).to.throw('The title is empty.');
  });

  it('creates one issue even if the response is lost', async () => {
    const before = (await issuesOf(github, 'ann/work')).length;
    github.fault = ({ method, path }) => (method === 'POST' && path.endsWith('/issues') ? 'drop' : undefined);
    await create(world.deps, newIssue({ title: 'Only once' }));
    expect(await issuesOf(github, 'ann/work')).to.have.length(before + 1);
  });

  it('stores the time of a reminder in the marker', async () => {
    const added = await create(world.deps, await newReminder(world.deps, { text: 'call Ann tomorrow at 9' }));
    expect(added).to.deep.include({ title: '[Reminder] call Ann', type: 'reminder', source: 'reminder' });
    expect(added.due).to.match(/T0[78]:00:00\.000Z$/);
    expect((await row(added.number))?.body).to.include(`due=${added.due} -->`);
    await refresh(world.deps);
    const kept = world.deps.cache('ann/work').issues.find(({ number }) => number === added.number);
    expect(kept?.due).to.equal(added.due);
    expect((await create(world.deps, await newReminder(world.deps, { text: 'some day' }))).due).to.equal(
      null,
    );
    expect((await rejection(newReminder(world.deps, { text: 'x', at: 'banana' }))).kind).to.equal('usage');
  });

  it('puts the typed text into the body if the title is shorter', async () => {
    const bodyOf = async (text: string): Promise<string | null | undefined> =>
      (await row((await create(world.deps, await newReminder(world.deps, { text }))).number))?.body;
    expect(await bodyOf('read chapter 10 tomorrow')).to.match(
      /^Due .*, 09:00 \(.*\)\.\n\n```text\nread chapter 10 tomorrow\n```\n\n<!-- /,
    );
    expect(await bodyOf('email Sun Microsystems')).to.match(/^<!-- /);
    const long = `${'word '.repeat(60)}end`;
    expect(await bodyOf(long)).to.include(`\`\`\`text\n${long}\n`);
    const { number } = await create(world.deps, newIssue({ title: long, body: 'Why' }));
    expect((await row(number))?.body).to.include(`Why\n\n\`\`\`text\n${long}\n`);
  });

  it('closes with the evidence as one comment, from a text or a file', async () => {
    const { number } = await create(world.deps, newIssue({ title: 'To close' }));
    writeFileSync(box.path('proof.txt'), 'All 12 tests pass\n');
    const evidence = textOrFile(`@${box.path('proof.txt')}`, 'evidence');
    // The close is lost after the comment: the same command again completes it.
    github.fault = ({ method }) =>
      method === 'PATCH' ? { status: 422, body: { message: 'no' } } : undefined;
    await rejection(closeIssue(world.deps, { number, evidence }));
    github.fault = () => undefined;
    const closed = await closeIssue(world.deps, { number, evidence });
    expect(closed).to.include({ state: 'closed', lane: 'Complete' });
    const shown = await showIssue(world.deps, number);
    expect(shown.comments?.map(({ body }) => body)).to.deep.equal(['All 12 tests pass']);
    expect(await github.api('GET', `/repos/ann/work/issues/${number}`)).to.include({
      state_reason: 'completed',
    });
    expect((await rejection(closeIssue(world.deps, { number, evidence: 'x' }))).kind).to.equal('conflict');
  });

  it('rejects evidence that is empty, too long or a missing file', async () => {
    const { number } = await create(world.deps, newIssue({ title: 'Stays open' }));
    for (const [evidence, kind] of [
      ['  ', 'usage'],
      ['x'.repeat(65_537), 'usage'],
    ] as const)
      expect((await rejection(closeIssue(world.deps, { number, evidence }))).kind).to.equal(kind);
    const read = (path: string) => () => textOrFile(`@${box.path(path)}`, 'evidence');
    expect(thrown(read('nope')).kind).to.equal('not_found');
    const folder = thrown(read('.'));
    expect(folder.kind).to.equal('usage');
    expect(`${folder.message} ${folder.hint}`).to.match(
      /is not a regular file\. Use a text file of up to 256 KiB; or pass the evidence itself, without the @\.$/,
    );
    expect(await showIssue(world.deps, number)).to.deep.include({
      state: 'open',
      comments: [],
      fromCache: false,
    });
  });

  it('queues an issue and a reminder without a network; each becomes one issue later', async () => {
    const before = (await issuesOf(github, 'ann/work')).length;
    github.fault = () => 'reset';
    const queued = await createOrQueue(world.deps, newIssue({ title: 'Later', labels: ['Priority:P2'] }));
    expect(queued).to.deep.include({ queued: true, title: 'Later', due: null });
    const reminder = await newReminder(world.deps, { text: 'call Ann tomorrow at 9' });
    expect(await createOrQueue(world.deps, reminder)).to.deep.include({
      queued: true,
      title: '[Reminder] call Ann',
      due: reminder.due,
    });
    expect(waitingCaptures(world.deps.area).map(({ count }) => count)).to.deep.equal([2]);
    github.fault = () => undefined;
    await drainCaptures(captureOf(world, {}));
    await drainCaptures(captureOf(world, {}));
    const issues = (await issuesOf(github, 'ann/work')).slice(0, -before);
    expect(issues.map(({ title }) => title)).to.have.members(['Later', '[Reminder] call Ann']);
    expect(waitingCaptures(world.deps.area)).to.deep.equal([]);
  });

  it('queues an issue once whose answer was lost with the network', async () => {
    const before = (await issuesOf(github, 'ann/work')).length;
    let posted = false;
    github.fault = ({ method, path }) => {
      if (posted) return 'reset';
      posted = method === 'POST' && path.endsWith('/issues');
      return posted ? 'drop' : undefined;
    };
    expect(await createOrQueue(world.deps, newIssue({ title: 'Half sent' }))).to.include({ queued: true });
    expect(workStatus(world.deps).unfinished).to.equal(1);
    github.fault = () => undefined;
    await refresh(world.deps);
    expect(workStatus(world.deps).unfinished).to.equal(0);
    await drainCaptures(captureOf(world, {}));
    expect((await issuesOf(github, 'ann/work')).slice(0, -before).map(({ title }) => title)).to.deep.equal([
      'Half sent',
    ]);
  });

  it('does not count a request as unconfirmed that a later fetch does not show', async () => {
    github.fault = ({ method }) => (method === 'POST' ? 'reset' : undefined);
    await createOrQueue(world.deps, newIssue({ title: 'Never there' }));
    github.fault = () => undefined;
    await refresh(world.deps);
    const { unfinished, waiting } = workStatus(world.deps);
    expect([unfinished, waiting.map(({ count }) => count)]).to.deep.equal([0, [1]]);
    await drainCaptures(captureOf(world, {}));
    expect(workStatus(world.deps)).to.deep.include({ unfinished: 0, waiting: [] });
  });

  it('queues a rejected issue no longer, unless an earlier command has queued it', async () => {
    const issue = newIssue({ title: 'Rejected' });
    const kinds = async (): Promise<string> => (await rejection(createOrQueue(world.deps, newIssue({ title: 'Rejected' })))).kind; // prettier-ignore
    github.fault = ({ method }) => (method === 'POST' ? { status: 422 } : undefined);
    expect([await kinds(), waitingCaptures(world.deps.area)]).to.deep.equal(['conflict', []]);
    github.fault = () => 'reset';
    await createOrQueue(world.deps, issue);
    github.fault = ({ method }) => (method === 'POST' ? { status: 422 } : undefined);
    expect([await kinds(), waitingCaptures(world.deps.area)[0]?.count]).to.deep.equal(['conflict', 1]);
    github.fault = () => undefined;
    expect(await createOrQueue(world.deps, newIssue({ title: 'Rejected' }))).to.include({ resumed: true });
    expect(waitingCaptures(world.deps.area)).to.deep.equal([]);
  });

  it('queues an issue whose body has the greatest length', async () => {
    github.fault = () => 'reset';
    await createOrQueue(world.deps, newIssue({ title: 'Long', body: '\u0416"'.repeat(32_000) }));
    github.fault = () => undefined;
    expect(await drainCaptures(captureOf(world, {}))).to.include({ done: 1, dead: 0 });
    expect(waitingCaptures(world.deps.area)).to.deep.equal([]);
  });

  it('shows cached data when the service is unavailable, and refuses to write', async () => {
    const { number } = await create(world.deps, newIssue({ title: 'Kept' }));
    github.fault = () => 'reset';
    const shown = await showIssue(world.deps, number);
    expect(shown).to.deep.include({ title: 'Kept', fromCache: true, body: null, comments: null });
    expect(shown.staleReason).to.match(/connection .* was lost/);
    expect((await rejection(showIssue(world.deps, 99_999))).kind).to.equal('unavailable');
    expect((await rejection(create(world.deps, newIssue({ title: 'x' })))).kind).to.equal('unavailable');
    github.fault = () => undefined;
    expect((await rejection(showIssue(world.deps, 99_999))).kind).to.equal('not_found');
  });

  it('replaces only the Status label of open issues', async () => {
    const labels = ['Status:queued', 'Status:blocked', 'Type:feature', 'wip', 'mine'];
    const { number } = (await github.api('POST', '/repos/ann/work/issues', { title: 'x', labels })) as { number: number }; // prettier-ignore
    const open = await opened(world);
    const edit = (status: 'in-review' | 'done') => setStatus(open, { number, status });
    expect(await edit('in-review')).to.deep.equal([]);
    const { labels: after } = await open.host.issue('ann/work', number);
    expect(after).to.have.members(['Status:in-review', 'Type:feature', 'wip', 'mine']);
    github.seen.length = 0;
    expect(await edit('in-review')).to.deep.equal([]);
    expect(github.seen).to.have.length(1);
    await github.api('DELETE', '/repos/ann/work/labels/Status:done');
    expect(await edit('done')).to.deep.equal(['Status:done']);
    expect((await open.host.issue('ann/work', number)).labels).to.have.members(after);
    await github.api('PATCH', `/repos/ann/work/issues/${number}`, { state: 'closed' });
    github.seen.length = 0;
    expect(await edit('done')).to.deep.equal([]);
    expect(github.seen.map(({ method }) => method)).to.deep.equal(['GET']);
  });

  /** Runs something in the middle of a change, before one of its requests. */
  const pausedAt = (
    host: Host,
    at: number | string,
    meanwhile: () => Promise<unknown>,
  ): { host: Host; calls: number } => {
    const paused = { host, calls: 0 };
    const calls = Object.entries(host).map(([name, call]) => [
      name,
      async (...args: never[]): Promise<unknown> => {
        if ([name, paused.calls++].includes(at)) await meanwhile();
        return (call as (...args: never[]) => Promise<unknown>)(...args);
      },
    ]);
    paused.host = Object.fromEntries(calls) as Host;
    return paused;
  };

  it('leaves one Status, the last one set, when a move and a claim overlap', async () => {
    const other = await readyWorld(github);
    const issue = async (): Promise<number> => (await create(world.deps, newIssue({ title: 'Both' }))).number;
    const move = (open: OpenRepo, number: number) => setStatus(open, { number, status: 'in-review' });
    const claim = async (number: number, host: Host): Promise<unknown> =>
      claimIssue({ ...other.deps, host: () => Promise.resolve(host) }, { number, agent: 'kai' }).catch(
        (error: unknown) => expect(error).to.have.property('kind', 'conflict'),
      );
    const left: string[] = [];
    const check = async (number: number, open: OpenRepo, at: string): Promise<void> => {
      const { labels } = await open.host.issue('ann/work', number);
      const events = await open.host.labelEvents('ann/work', number);
      const last = events.findLast(({ event, label }) => event === 'labeled' && label.startsWith('Status:'));
      expect(labels.filter((label) => label.startsWith('Status:')), at).to.deep.equal([last?.label]); // prettier-ignore
      left.push(String(last?.label));
    };
    try {
      const open = await opened(world);
      const otherHost = (await opened(other)).host;
      for (let at = -1, calls = 0; at < calls; at += 1) {
        const number = await issue();
        const slow = pausedAt(open.host, at, () => claim(number, otherHost));
        await move({ ...open, host: slow.host }, number);
        calls = Math.max(calls, slow.calls);
        await check(number, open, `claim before request ${at} of a move`);
      }
      for (let at = -1, calls = 0; at < calls; at += 1) {
        const number = await issue();
        const slow = pausedAt(otherHost, at, () => move(open, number));
        await claim(number, slow.host);
        calls = Math.max(calls, slow.calls);
        await check(number, open, `move before request ${at} of a claim`);
      }
      expect(new Set(left)).to.have.all.keys('Status:in-progress', 'Status:in-review');
    } finally {
      other.remove();
    }
  });

  it('refuses a move that another one has overtaken', async () => {
    const { number } = await create(world.deps, newIssue({ title: 'Overtaken' }));
    const open = await opened(world);
    const slow = pausedAt(open.host, 'removeLabel', () => setStatus(open, { number, status: 'ready' }));
    const deps = { ...world.deps, host: () => Promise.resolve(slow.host) };
    const refused = await rejection(moveIssue(deps, { number, status: 'in-review' }));
    expect(refused).to.include({ kind: 'conflict', message: `#${number} is ready now, not in-review.` });
  });

  it('moves an issue only from the expected Status', async () => {
    const { number } = await create(world.deps, newIssue({ title: 'Move me' }));
    await moveIssue(world.deps, { number, status: 'ready', from: 'queued' });
    const refused = await rejection(moveIssue(world.deps, { number, status: 'queued', from: 'blocked' }));
    expect(refused).to.deep.include({ kind: 'conflict' });
    expect(refused.message).to.equal(`#${number} is ready now, not blocked.`);
    const { labels } = await (await opened(world)).host.issue('ann/work', number);
    expect(labels).to.include('Status:ready').and.not.include('Status:queued');
  });
});
