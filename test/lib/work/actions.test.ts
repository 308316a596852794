import { expect } from 'chai';
import fc from 'fast-check';
import { writeFileSync } from 'node:fs';

import { dayOf, instantOf, timeOf, wallClock } from '../../../src/lib/platform/time';
import { addIssue, addReminder, closeIssue, showIssue } from '../../../src/lib/work/actions';
import { readDue } from '../../../src/lib/work/due';
import { refresh } from '../../../src/lib/work/poll';
import { setStatus } from '../../../src/lib/work/status-edit';
import { startGitHub, type GitHub } from '../../helpers/github';
import { rejection } from '../../helpers/rejection';
import { scratch } from '../../helpers/scratch';
import { readyWorld, type WorkWorld } from '../../helpers/work';
import { issuesOf } from '../../helpers/work-kill';

describe('work: due dates', () => {
  // A Friday, 10:00 in Berlin.
  const nowMs = Date.parse('2026-11-20T09:00:00Z');
  const due = async (text: string, zone = 'Europe/Berlin', now = nowMs): Promise<string> => {
    const read = await readDue(text, { nowMs: now, zone });
    if (read.dueMs === undefined) return `${read.text} | none`;
    return `${read.text} | ${dayOf(read.dueMs, zone)} ${timeOf(read.dueMs, zone)}`;
  };

  it('are read in natural words, in the local zone, and ahead', async () => {
    expect(await due('call Ann tomorrow at 9')).to.equal('call Ann | 2026-11-21 09:00');
    expect(await due('call Ann on friday at 14:30')).to.equal('call Ann | 2026-11-20 14:30');
    expect(await due('call Ann on friday at 8:00')).to.equal('call Ann | 2026-11-27 08:00');
    expect(await due('in 2 hours look at the oven')).to.equal('look at the oven | 2026-11-20 12:00');
    expect(await due('pay the rent by 1 December')).to.equal('pay the rent | 2026-12-01 09:00');
    expect(await due('tonight: water the plants')).to.equal('water the plants | 2026-11-20 22:00');
    expect(await due('lunch tomorrow at noon')).to.equal('lunch | 2026-11-21 12:00');
    expect(await due('write to Bo 2026-12-24 18:00')).to.equal('write to Bo | 2026-12-24 18:00');
    expect(await due('meet 2026-12-24T18:00:00Z')).to.equal('meet | 2026-12-24 19:00');
    expect(await due('meet tomorrow 9am UTC')).to.equal('meet | 2026-11-21 10:00');
    expect(await due('look in 30 minutes')).to.equal('look | 2026-11-20 10:30');
    expect(await due('look in 3 days')).to.equal('look | 2026-11-23 09:00');
    expect(await due('no date in here')).to.equal('no date in here | none');
    // The day of the person, not that of UTC: 00:30 in Berlin on the 21st.
    expect(await due('tomorrow', 'Europe/Berlin', Date.parse('2026-11-20T23:30:00Z'))).to.equal(
      ' | 2026-11-22 09:00',
    );
    expect((await rejection(due('yesterday'))).kind).to.equal('usage');
  }).timeout(60_000);

  it('keep their wall clock over a change to summer time', async () => {
    const before = Date.parse('2026-03-28T11:00:00Z');
    expect(await due('x tomorrow at 9', 'Europe/Berlin', before)).to.equal('x | 2026-03-29 09:00');
    const { dueMs } = await readDue('x tomorrow at 9', { nowMs: before, zone: 'Europe/Berlin' });
    expect(new Date(dueMs ?? 0).toISOString()).to.equal('2026-03-29T07:00:00.000Z');
  }).timeout(60_000);

  it('are the same whatever the zone of the machine is: a weekday or a day of some year is today until it is over', async () => {
    const { TZ } = process.env;
    try {
      for (const machine of [
        'UTC',
        'America/Los_Angeles',
        'America/St_Johns',
        'Europe/Berlin',
        'Pacific/Auckland',
      ]) {
        process.env['TZ'] = machine;
        for (const [text, expected] of [
          ['x on friday at 10:01', '2026-11-20 10:01'],
          ['x on friday at 23:59', '2026-11-20 23:59'],
          ['x on friday at 9:59', '2026-11-27 09:59'],
          ['x on friday at 0:10', '2026-11-27 00:10'],
          ['x on monday at 8', '2026-11-23 08:00'],
          ['x on wednesday at 8', '2026-11-25 08:00'],
          ['x on November 20 at 10:01', '2026-11-20 10:01'],
          ['x on November 20 at 9:59', '2027-11-20 09:59'],
          ['x on November 19 at 18:00', '2027-11-19 18:00'],
          ['x on friday at 8:30 UTC', '2026-11-27 09:30'],
          ['x on friday at 9:30 UTC', '2026-11-20 10:30'],
          ['x at 9:59', '2026-11-21 09:59'],
          ['x at 10:01', '2026-11-20 10:01'],
        ] as const)
          expect(await due(text), `${text}, on a machine in ${machine}`).to.equal(`x | ${expected}`);
      }
    } finally {
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    }
  });

  it('rest on a wall clock that can be turned back into its instant', () => {
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/St_Johns',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'UTC',
    );
    const minute = fc.integer({ min: 0, max: 25_000_000 }).map((n) => Date.UTC(2000, 0, 1) + n * 60_000);
    fc.assert(
      fc.property(minute, zones, (ms, zone) => {
        const back = instantOf(wallClock(ms, zone), zone);
        // The same instant, or the first of the two that show it.
        expect(wallClock(back, zone)).to.deep.equal({ ...wallClock(ms, zone), second: 0 });
        expect(back).to.be.at.most(ms);
        expect(ms - back).to.be.at.most(3_600_000);
      }),
    );
    // 02:30 is skipped: what the clock would have shown.
    const skipped = instantOf({ year: 2026, month: 3, day: 29, hour: 2, minute: 30 }, 'Europe/Berlin');
    expect(new Date(skipped).toISOString()).to.equal('2026-03-29T01:30:00.000Z');
  });
});

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

  it('adds an issue with the labels of its values', async () => {
    const added = await addIssue(world.deps, { title: 'Do it', type: 'problem', priority: 'p1', property: 'nowhere', body: 'Why' }); // prettier-ignore
    expect(added).to.deep.include({ type: 'problem', priority: 'P1', status: 'queued', missingLabels: ['Property:nowhere'], source: 'manual' }); // prettier-ignore
    const made = await row(added.number);
    expect(made?.title).to.equal('Do it');
    expect(made?.body).to.match(/^Why\n\n<!-- steward id=[0-9a-f]{16} -->$/);
    expect((await rejection(addIssue(world.deps, { title: '  ' }))).kind).to.equal('usage');
  });

  it('makes one issue of one add, also when the answer is lost', async () => {
    const before = (await issuesOf(github, 'ann/work')).length;
    github.fault = ({ method, path }) => (method === 'POST' && path.endsWith('/issues') ? 'drop' : undefined);
    await addIssue(world.deps, { title: 'Only once' });
    expect(await issuesOf(github, 'ann/work')).to.have.length(before + 1);
  });

  it('adds a reminder whose time is kept in the marker', async () => {
    const added = await addReminder(world.deps, { text: 'call Ann tomorrow at 9' });
    expect(added).to.deep.include({ title: '[Reminder] call Ann', type: 'reminder', source: 'reminder' });
    expect(added.due).to.match(/T0[78]:00:00\.000Z$/);
    expect((await row(added.number))?.body).to.include(`due=${encodeURIComponent(added.due ?? '').replaceAll('-', '%2D')}`); // prettier-ignore
    await refresh(world.deps);
    const kept = world.deps.cache('ann/work').issues.find(({ number }) => number === added.number);
    expect(kept?.due).to.equal(added.due);
    expect((await addReminder(world.deps, { text: 'some day' })).due).to.equal(null);
    expect((await rejection(addReminder(world.deps, { text: 'x', at: 'banana' }))).kind).to.equal('usage');
  });

  it('closes with the evidence as comment, from a text or a file, and says it once', async () => {
    const { number } = await addIssue(world.deps, { title: 'To close' });
    writeFileSync(box.path('proof.txt'), 'All 12 tests pass\n');
    // The close is lost after the comment: the same command again completes it.
    github.fault = ({ method }) =>
      method === 'PATCH' ? { status: 422, body: { message: 'no' } } : undefined;
    await rejection(closeIssue(world.deps, { number, evidence: `@${box.path('proof.txt')}` }));
    github.fault = () => undefined;
    const closed = await closeIssue(world.deps, { number, evidence: `@${box.path('proof.txt')}` });
    expect(closed).to.include({ state: 'closed', lane: 'Complete' });
    const shown = await showIssue(world.deps, number);
    expect(shown.comments?.map(({ body }) => body)).to.deep.equal(['All 12 tests pass']);
    expect(await github.api('GET', `/repos/ann/work/issues/${number}`)).to.include({
      state_reason: 'completed',
    });
    expect((await rejection(closeIssue(world.deps, { number, evidence: 'x' }))).kind).to.equal('conflict');
  });

  it('refuses evidence that is empty, too long, or a file that is not there', async () => {
    const { number } = await addIssue(world.deps, { title: 'Stays open' });
    for (const [evidence, kind] of [
      ['  ', 'usage'],
      ['x'.repeat(65_537), 'usage'],
      [`@${box.path('nope')}`, 'not_found'],
    ] as const)
      expect((await rejection(closeIssue(world.deps, { number, evidence }))).kind).to.equal(kind);
    const folder = await rejection(closeIssue(world.deps, { number, evidence: `@${box.path('.')}` }));
    expect(folder.kind).to.equal('usage');
    expect(`${folder.message} ${folder.hint}`).to.match(
      /is not a regular file\. Name a file of text of up to 256 KiB; or write the evidence itself, without the @\.$/,
    );
    expect(await showIssue(world.deps, number)).to.deep.include({
      state: 'open',
      comments: [],
      fromCache: false,
    });
  });

  it('shows what was read before when the service is away, and refuses to write', async () => {
    const { number } = await addIssue(world.deps, { title: 'Kept' });
    github.fault = () => 'reset';
    const shown = await showIssue(world.deps, number);
    expect(shown).to.deep.include({ title: 'Kept', fromCache: true, body: null, comments: null });
    expect(shown.staleReason).to.match(/connection .* broke/);
    expect((await rejection(showIssue(world.deps, 99_999))).kind).to.equal('unavailable');
    expect((await rejection(addIssue(world.deps, { title: 'x' }))).kind).to.equal('unavailable');
    github.fault = () => undefined;
    expect((await rejection(showIssue(world.deps, 99_999))).kind).to.equal('not_found');
  });

  it('replaces the Status label only, and nothing of what is closed or unknown', async () => {
    const labels = ['Status:queued', 'Status:blocked', 'Type:feature', 'wip', 'mine'];
    const { number } = (await github.api('POST', '/repos/ann/work/issues', { title: 'x', labels })) as { number: number }; // prettier-ignore
    const host = await world.deps.host();
    const edit = (status: 'in-review' | 'done') =>
      setStatus(world.deps, host, 'ann/work', { number, status });
    const done = await edit('in-review');
    expect([done.changed, done.missingLabels]).to.deep.equal([true, []]);
    expect(done.issue.labels).to.have.members(['Status:in-review', 'Type:feature', 'wip', 'mine']);
    github.seen.length = 0;
    expect((await edit('in-review')).changed).to.equal(false);
    expect(github.seen).to.have.length(1);
    await github.api('DELETE', '/repos/ann/work/labels/Status:done');
    expect(await edit('done')).to.deep.include({ changed: false, missingLabels: ['Status:done'] });
    await github.api('PATCH', `/repos/ann/work/issues/${number}`, { state: 'closed' });
    expect((await edit('done')).changed).to.equal(false);
  });
});
