import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync, rmSync } from 'node:fs';

import { StewardError } from '../../../src/lib/errors';
import { acceptRequest, wasAccepted } from '../../../src/lib/notify/accept';
import { toIso } from '../../../src/lib/platform/time/clock';
import { leave } from '../../../src/lib/sessions/spool';
import { snooze } from '../../../src/lib/work/actions';
import { create, newIssue, newReminder } from '../../../src/lib/work/add';
import { queueIssue } from '../../../src/lib/work/capture/queued';
import { readWhen } from '../../../src/lib/work/due';
import { makeBody, parseBody, withDue } from '../../../src/lib/work/issue';
import { refresh } from '../../../src/lib/work/poll';
import { notifyDue, type Notice, type ReminderDeps } from '../../../src/lib/work/reminders';
import { startGitHub, type GitHub } from '../../helpers/github';
import { notifyWorld, type NotifyWorld } from '../../helpers/notify';
import { rejection } from '../../helpers/errors';
import { readyWorld, type WorkWorld } from '../../helpers/work';
import { issuesOf } from '../../helpers/work-kill';

const HOUR = 3_600_000;
const beforeMarker = (body: string): string => body.slice(0, body.lastIndexOf('<!-- steward'));

describe('reminder notifications', function () {
  this.timeout(60_000);
  let github: GitHub;
  let world: WorkWorld;
  let notify: NotifyWorld;
  let told: Notice[];
  let deps: ReminderDeps;
  beforeEach(async () => {
    github = await startGitHub();
    world = await readyWorld(github);
    notify = notifyWorld();
    told = [];
    deps = {
      work: world.deps,
      wasSent: (key) => wasAccepted(notify.deps, key),
      send: async (notice) => {
        const { title, message, key } = notice;
        const about = { event: 'reminder', voiceEnabled: false, source: 'job' } as const;
        await acceptRequest(notify.deps, { ...about, tags: [], title, message, dedupe: key });
        told.push(notice);
      },
    };
  });
  afterEach(async () => {
    world.remove();
    notify.remove();
    await github.close();
  });

  const later = (ms: number): void => {
    world.ahead(ms);
    notify.nowMs = world.deps.clock.now();
  };
  const messages = (): string[] => told.map(({ message }) => message);

  it('leaves reminders to another machine, and takes those whose turn it is', async () => {
    await create(world.deps, await newReminder(world.deps, { text: 'call Ann in 2 hours' }));
    await create(world.deps, await newReminder(world.deps, { text: 'call Bo in 2 hours' }));
    const noted: string[] = [];
    let turn: (index: number) => 'now' | 'done' | 'later' = () => 'later';
    const others = {
      turns: (due: readonly { key: string; dueMs: number }[]) =>
        new Map(due.map(({ key }, index) => [key, turn(index)])),
      noteTold: (keys: readonly string[]) => void noted.push(...keys),
    };
    later(3 * HOUR);
    expect([await notifyDue({ ...deps, others }), told.length]).to.deep.equal([0, 0]);
    turn = (index) => (index === 0 ? 'now' : 'done');
    expect(await notifyDue({ ...deps, others })).to.equal(1);
    expect(messages()).to.have.length(1);
    expect(noted[0]).to.match(/^reminder ann\/work#1@\d{4}-/);
    turn = () => 'now';
    expect(await notifyDue({ ...deps, others })).to.equal(0);
    expect(await notifyDue(deps)).to.equal(0);
  });

  it('notifies once when due, on desktop and phone, never by voice', async () => {
    await create(world.deps, await newReminder(world.deps, { text: 'call Ann in 2 hours' }));
    await create(world.deps, await newReminder(world.deps, { text: 'no time at all' }));
    expect(await notifyDue(deps)).to.equal(0);
    later(3 * HOUR);
    expect(await notifyDue(deps)).to.equal(1);
    expect(messages()[0]).to.match(/^call Ann \(due (?:.*, )?\d\d:\d\d, #1\)$/);
    expect(told[0]?.url).to.include('/issues/1');
    const [entry] = notify.entries();
    expect(entry).to.include({ event: 'reminder', priority: 4 });
    expect(entry?.channels.map(({ channel }) => channel)).to.have.members(['desktop', 'push']);
    later(40 * HOUR);
    for (let look = 0; look < 3; look += 1) expect(await notifyDue(deps)).to.equal(0);
  });

  it('notifies of a reminder that is not on GitHub yet, and not again once it is', async () => {
    const { deps: work } = world;
    const wanted = await newReminder(work, { text: 'call Ann in 2 hours' });
    queueIssue(work, wanted);
    queueIssue(work, await newReminder(work, { text: 'no time at all' }));
    const capture = { kind: 'reminder', text: 'water the plants in 1 hour', key: 'k1' };
    const prompt = { kind: 'prompt-matched', session: 's', slug: null, transcript: null, capture } as const;
    leave(work, prompt);
    leave({ ...work, machineId: 'another-machine' }, { ...prompt, capture: { ...capture, key: 'k2' } });
    expect(await notifyDue(deps)).to.equal(0);
    later(3 * HOUR);
    expect(await notifyDue(deps)).to.equal(2);
    expect(messages()[0]).to.match(/^call Ann \(due (?:.*, )?\d\d:\d\d, not on GitHub yet\)$/);
    expect(messages()[1]).to.match(/^water the plants \(due/);
    expect(await notifyDue(deps)).to.equal(0);
    await create(work, wanted);
    const noted: string[] = [];
    const others = {
      turns: (due: readonly { key: string }[]) => new Map(due.map(({ key }) => [key, 'now' as const])),
      noteTold: (keys: readonly string[]) => void noted.push(...keys),
    };
    expect([await notifyDue({ ...deps, others }), told.length]).to.deep.equal([0, 2]);
    expect(noted.join()).to.match(/^reminder ann\/work#1@\d{4}-[^,]*$/);
  });

  it('notifies on each machine', async () => {
    await create(world.deps, await newReminder(world.deps, { text: 'call Ann in 2 hours' }));
    later(3 * HOUR);
    expect(await notifyDue(deps)).to.equal(1);
    const other = await readyWorld(github);
    try {
      const its: Notice[] = [];
      const theirs: ReminderDeps = {
        work: other.deps,
        wasSent: () => false,
        send: (notice) => Promise.resolve(its.push(notice)),
      };
      other.ahead(3 * HOUR);
      expect([await notifyDue(theirs), await notifyDue(theirs)]).to.deep.equal([1, 0]);
      expect(its.map(({ url }) => url)).to.deep.equal(told.map(({ url }) => url));
      expect(await notifyDue(deps)).to.equal(0);
    } finally {
      other.remove();
    }
  });

  it('notifies offline from the cache; not for closed issues or a public repository', async () => {
    await create(world.deps, await newReminder(world.deps, { text: 'call Ann in 1 hour' }));
    await create(world.deps, await newReminder(world.deps, { text: 'call Ben in 1 hour' }));
    await github.api('PATCH', '/repos/ann/work/issues/2', { state: 'closed' });
    await refresh(world.deps);
    github.seen.length = 0;
    later(2 * HOUR);
    await world.set('WORK.enabled', false);
    expect(await notifyDue(deps)).to.equal(0);
    await world.set('WORK.enabled', true);
    expect(await notifyDue(deps)).to.equal(1);
    expect(github.seen).to.deep.equal([]);
  });

  it('sends one notification for many due reminders', async () => {
    for (let n = 1; n <= 5; n += 1)
      await create(world.deps, await newReminder(world.deps, { text: `thing ${n} in ${n} hours` }));
    later(30 * HOUR);
    expect(await notifyDue(deps)).to.equal(5);
    expect(told).to.have.length(1);
    expect(told[0]).to.deep.include({
      title: '5 reminders are due',
      message: 'thing 1 (#1); thing 2 (#2); thing 3 (#3); and 2 more: steward work list --type reminder',
    });
    expect(await notifyDue(deps)).to.equal(0);
  });

  it('notifies once despite a crash after sending or a lost file', async () => {
    await create(world.deps, await newReminder(world.deps, { text: 'call Ann in 1 hour' }));
    later(2 * HOUR);
    const { send } = deps;
    const dying: ReminderDeps = Object.create(deps, {
      send: {
        value: async (notice: Notice) => {
          await send(notice);
          throw new StewardError('unavailable', 'killed behind it');
        },
      },
    }) as ReminderDeps;
    expect((await rejection(notifyDue(dying))).message).to.include('killed');
    expect(readFileSync(world.at.area.work.reminders, 'utf8')).to.include('"telling":{"key":');
    later(30 * HOUR);
    expect(await notifyDue(deps)).to.equal(0);
    rmSync(world.at.area.work.reminders);
    await notifyDue(deps);
    expect(messages()).to.have.length(1);
  });

  it('notifies again after a crash before sending', async () => {
    await create(world.deps, await newReminder(world.deps, { text: 'call Ann in 1 hour' }));
    later(2 * HOUR);
    const dying: ReminderDeps = Object.create(deps, {
      send: { value: () => Promise.reject(new StewardError('unavailable', 'killed before it')) },
    }) as ReminderDeps;
    await rejection(notifyDue(dying));
    expect(await notifyDue(deps)).to.equal(1);
    expect(messages()).to.have.length(1);
  });

  it('notifies once from parallel runs', async () => {
    for (const name of ['Ann', 'Ben'])
      await create(world.deps, await newReminder(world.deps, { text: `call ${name} in 1 hour` }));
    later(2 * HOUR);
    await Promise.all([notifyDue(deps), notifyDue(deps), notifyDue(deps)]);
    expect(messages()).to.have.length(2);
  });

  it('notifies again at the snoozed time, and keeps the rest of the text', async () => {
    await create(world.deps, await newReminder(world.deps, { text: 'call Ann in 1 hour' }));
    later(2 * HOUR);
    await notifyDue(deps);
    const before = (await issuesOf(github, 'ann/work'))[0]?.body ?? '';
    await github.api('PATCH', '/repos/ann/work/issues/1', { body: `mine\n\n${before}` });
    const snoozed = await snooze(world.deps, { number: 1, when: '2h' });
    const after = (await issuesOf(github, 'ann/work'))[0]?.body ?? '';
    expect(parseBody(after)).to.deep.equal({ ...parseBody(before), due: snoozed.due });
    expect(after).to.match(
      /^mine\n\nDue .*\)\.\n\n```text\ncall Ann in 1 hour\n```\n\n<!-- steward id=\w+ due=\S+ -->$/,
    );
    expect(after.match(/Due /g)).to.have.length(1);
    expect(await notifyDue(deps)).to.equal(0);
    later(5 * HOUR);
    expect(await notifyDue(deps)).to.equal(1);
    expect(messages()).to.have.length(2);
  });

  it('rejects closed issues, other issues and invalid times', async () => {
    await create(world.deps, newIssue({ title: 'A thing', type: 'feature' }));
    await create(world.deps, await newReminder(world.deps, { text: 'call Ann' }));
    const kind = async (number: number, when: string): Promise<string> =>
      (await rejection(snooze(world.deps, { number, when }))).kind;
    expect(await kind(1, '2h')).to.equal('conflict');
    expect(await kind(2, 'soonish')).to.equal('usage');
    expect(await kind(2, 'yesterday')).to.equal('usage');
    expect(await kind(99, '2h')).to.equal('not_found');
    expect((await snooze(world.deps, { number: 2, when: 'tomorrow 9am' })).due).to.match(/:00\.000Z$/);
    await github.api('PATCH', '/repos/ann/work/issues/2', { state: 'closed' });
    expect(await kind(2, '2h')).to.equal('conflict');
  });

  it('accepts a duration or natural language', async () => {
    const nowMs = Date.parse('2026-11-20T09:00:00Z');
    const at = async (text: string): Promise<string> =>
      toIso(await readWhen(text, { nowMs, zone: 'Europe/Berlin' })).slice(0, 16);
    expect(await at('2h')).to.equal('2026-11-20T11:00');
    expect(await at('1h 30m')).to.equal('2026-11-20T10:30');
    expect(await at('2d')).to.equal('2026-11-22T09:00');
    expect(await at('tomorrow 9am')).to.equal('2026-11-21T08:00');
    expect(await at('in 2 hours')).to.equal('2026-11-20T11:00');
  });

  it('changes no other byte of a body', () => {
    const due = '2026-11-20T09:00:00.000Z';
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isOurs) => {
        const identity = { kind: 'id', value: 'abc' } as const;
        const body = isOurs ? makeBody(text, identity, { due: '2020-01-01T00:00:00.000Z' }) : text;
        const next = withDue(body, due, 'Due x, 09:00 (UTC).');
        expect(parseBody(next)).to.deep.equal({ identity: parseBody(body).identity, due });
        expect(withDue(next, due, 'Due x, 09:00 (UTC).')).to.equal(next);
        if (isOurs) expect(beforeMarker(next)).to.equal(beforeMarker(body));
      }),
    );
  });
});
