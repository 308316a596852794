import { expect } from 'chai';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { acceptNotification } from '../../../src/lib/notify/accept';
import { deliverWaiting } from '../../../src/lib/notify/deliver';
import {
  ID_GRAMMAR,
  MAX_WAITING,
  buryUnreadable,
  checkOutbox,
  deadDeliveries,
  deadFolder,
  delays,
  foreignDeliveries,
  newId,
  outboxOf,
  outboxStatus,
  parseName,
  pendingDeliveries,
  readWaiting,
  waitingNames,
  type Delivery,
} from '../../../src/lib/notify/outbox';
import { readEntries, retry } from '../../../src/lib/notify/history';
import { claim, put, takeAside } from '../../../src/lib/platform/files/spool';
import { deadReport } from '../../../src/lib/platform/files/dead-letters';
import { delivery, MINUTE, NINE, notifyWorld, type NotifyWorld } from '../../helpers/notify';
import { rejection, thrown } from '../../helpers/errors';
import { long } from '../../helpers/long';

describe('the outbox', () => {
  let world: NotifyWorld;
  beforeEach(() => {
    world = notifyWorld();
    mkdirSync(world.deps.outbox, { recursive: true });
  });
  afterEach(() => world.remove());

  const nameOf = (n: number): string => `20261120T080000000Z-${n.toString(16).padStart(12, '0')}.push.json`;
  const lay = (name: string): void => writeFileSync(join(world.deps.outbox, name), '');

  long('refuses more when it is full, and drops nothing', async () => {
    for (let n = 0; n < MAX_WAITING; n += 1) lay(nameOf(n));
    const error = await rejection(acceptNotification(world.deps, { message: 'hello', event: 'error' }));
    expect(error).to.include({ kind: 'unavailable' });
    expect(error.hint).to.equal(
      'See the cause with `steward status`, and check the channels with `steward notify test`.',
    );
    expect(error.message).to.equal('The queue is full: 2000 deliveries are waiting.');
    expect(readdirSync(world.deps.outbox)).to.have.length(MAX_WAITING);
    expect(world.entries()).to.deep.equal([]);
  }).timeout(120_000);

  describe('with a delivery from another machine', () => {
    const other = 'ffffffffffff';
    const deliver = (): Promise<boolean> => deliverWaiting(world.deps, { patienceMs: 0, longestMs: 20_000 });
    const accepted = async (): Promise<string> =>
      (await acceptNotification({ ...world.deps, machineId: other }, { message: 'hello', event: 'error' }))
        .id;

    it('leaves it alone for a day, then gives up with the reason', async () => {
      const id = await accepted();
      world.nowMs += 23 * 60 * MINUTE;
      await deliver();
      expect(foreignDeliveries(world.deps)).to.be.greaterThan(0);
      expect(outboxStatus(world.deps).dead).to.equal(0);
      world.nowMs += 2 * 60 * MINUTE;
      await deliver();
      expect(foreignDeliveries(world.deps)).to.equal(0);
      expect(outboxStatus(world.deps).waiting).to.equal(0);
      expect(world.result(id, 'push')).to.deep.include({
        result: 'expired',
        reason: `accepted by another machine (${other}), which did not deliver it within a day`,
      });
      expect(deadReport(deadFolder(world.deps)).reasons.map(({ reason }) => reason)).to.deep.equal([
        `accepted by another machine (${other}), which did not deliver it within a day`,
      ]);
      expect(retry(world.deps, id).length).to.be.greaterThan(0);
      await deliver();
      expect(world.channels.push.got.map(({ message }) => message)).to.deep.equal(['hello']);
    });

    it('delivers it on request', async () => {
      const id = await accepted();
      retry(world.deps, id);
      await deliver();
      expect(world.channels.push.got).to.have.length(1);
    });

    it('gives up a delivery that machine had claimed', async () => {
      const id = await accepted();
      for (const name of waitingNames(world.deps)) claim(outboxOf(world.deps), name);
      world.nowMs += 25 * 60 * MINUTE;
      await deliver();
      expect(world.result(id, 'push')?.result).to.equal('expired');
    });
  });

  long('reads the newest 2,000 files, however many an older version left', async () => {
    await acceptNotification(world.deps, { message: 'hello', event: 'backgroundAgent' });
    const [first = ''] = waitingNames(world.deps);
    const text = readFileSync(join(world.deps.outbox, first), 'utf8');
    for (let n = 0; n < MAX_WAITING + 100; n += 1)
      writeFileSync(
        join(world.deps.outbox, nameOf(n)),
        text.replace(first.slice(0, 32), nameOf(n).slice(0, 32)),
      );
    const entries = readEntries(world.deps, Infinity);
    expect(entries).to.have.length(MAX_WAITING);
    expect(entries[0]?.id).to.equal(first.slice(0, 32));
    expect(entries.at(-1)?.id).to.equal(nameOf(101).slice(0, 32));
  }).timeout(120_000);

  it('delivers what a clock ahead of time accepted', async () => {
    world.nowMs += 400 * 24 * 60 * MINUTE;
    await acceptNotification(world.deps, { message: 'from the future', event: 'error' });
    world.nowMs -= 400 * 24 * 60 * MINUTE;
    await deliverWaiting(world.deps, { patienceMs: 0, longestMs: 20_000 });
    expect(world.channels.push.got.map(({ message }) => message)).to.deep.equal(['from the future']);
  });

  describe('as files', () => {
    const laid = (n: number, more: Partial<Delivery> = {}): string => {
      const one = delivery(n, more);
      put(outboxOf(world.deps), one);
      return `${one.id}.${one.channel}.json`;
    };
    const path = (place: string, ...names: string[]): string => join(world.deps.outbox, place, ...names);

    it('keeps the last state of a delivery, which its place says', () => {
      const [waiting, claimed, dead, last] = [3, 2, 1, 4].map((n) => laid(n)) as [
        string,
        string,
        string,
        string,
      ];
      laid(3, { message: 'y' });
      claim(outboxOf(world.deps), claimed);
      takeAside(outboxOf(world.deps), dead);
      expect(waitingNames(world.deps)).to.deep.equal([waiting, last]);
      expect(readWaiting(world.deps, waiting)).to.deep.equal(delivery(3, { message: 'y' }));
      expect(readWaiting(world.deps, claimed)).to.equal(undefined);
      expect(pendingDeliveries(world.deps)).to.deep.equal([
        delivery(2),
        delivery(3, { message: 'y' }),
        delivery(4),
      ]);
      expect(deadDeliveries(world.deps)).to.deep.equal([delivery(1)]);
      expect(outboxStatus(world.deps)).to.deep.equal({ waiting: 3, dead: 1 });
    });

    it('has one delivery a channel', () => {
      for (const channel of ['push', 'voice', 'chat'] as const) laid(1, { channel });
      laid(0);
      const [first, ...others] = pendingDeliveries(world.deps);
      expect(first?.id).to.equal(delivery(0).id);
      expect(others.map(({ channel }) => channel)).to.have.members(['push', 'voice', 'chat']);
    });

    it('reads what is complete, and of this version', () => {
      const whole = { version: 1, ...delivery(1, { boot: { id: 'b', upMs: 5 } }) };
      const name = laid(1);
      const isRead = (value: object): boolean => {
        writeFileSync(join(world.deps.outbox, name), JSON.stringify(value));
        return readWaiting(world.deps, name) !== undefined;
      };
      expect(isRead(whole)).to.equal(true);
      const wrong: Record<string, unknown[]> = {
        version: [0, 2, '1'],
        id: [7, 'one', undefined],
        channel: [7, 'Push', ''],
        machine: [7, undefined],
        message: [7, undefined],
        at: ['soon', 7, undefined],
        nextAt: ['soon', 7, undefined],
        event: ['noise', undefined],
        tags: ['tada', undefined],
        boot: [5, {}, null],
        priority: ['3', 1.5, undefined],
        attempts: ['3', 1.5, undefined],
        interrupted: ['3', 1.5, undefined],
        sentParts: ['3', 1.5, undefined],
      };
      for (const [key, values] of Object.entries(wrong))
        for (const value of values)
          expect(isRead({ ...whole, [key]: value }), `${key} ${value}`).to.equal(false);
    });

    it('has names that say when, and by which channel', () => {
      const id = '20261120T090000000Z-0123456789ab';
      expect(parseName(`${id}.push.json`)).to.deep.equal({ id, channel: 'push' });
      for (const name of [`${id}.json`, `x${id}.push.json`, `${id}.push.json.tmp`, `${id}.PUSH.json`])
        expect(parseName(name), name).to.equal(undefined);
      for (const other of [`${id.slice(1)}.push.json`, `${id}0.push.json`, `${id}.${'p'.repeat(21)}.json`])
        expect(parseName(other), other).to.equal(undefined);
      laid(1);
      lay('notes.txt');
      lay('.hidden.json');
      expect(waitingNames(world.deps)).to.have.length(1);
    });

    it('names new deliveries in their order, also within a millisecond', () => {
      let steady = 5;
      const clock = { now: () => NINE, monotonic: () => (steady += 0.002) };
      const ids = Array.from({ length: 50 }, () => newId(clock));
      expect(ids.every((id) => ID_GRAMMAR.test(id))).to.equal(true);
      expect([...new Set(ids)].sort()).to.deep.equal(ids);
      expect(ids[0]?.slice(0, 27)).to.equal('20261120T090000000Z-000138a');
      // The longest time that seven digits hold is four minutes.
      steady = 2 ** 28 / 1000;
      expect(newId(clock)).to.match(/^20261120T090000000Z-000000/);
    });

    it('counts what other machines accepted', () => {
      laid(1);
      laid(2, { machine: 'ffffffffffff' });
      claim(outboxOf(world.deps), laid(3, { machine: 'ffffffffffff' }));
      expect(foreignDeliveries(world.deps)).to.equal(2);
    });

    it('says why each channel waits, as the latest delivery has it', () => {
      laid(1, { reason: 'Server error 500.' });
      laid(2, { reason: 'Server error 503.' });
      laid(3);
      laid(4, { channel: 'chat', reason: 'Offline.' });
      expect(delays(world.deps)).to.deep.equal(['push: Server error 503.', 'chat: Offline.']);
    });

    it('buries a file that is no delivery, and leaves folders and links', () => {
      const [broken, folder, link] = [1, 2, 3].map(nameOf) as [string, string, string];
      lay(broken);
      mkdirSync(path('', folder));
      symlinkSync(path('', broken), path('', link));
      for (const name of [broken, folder, link, nameOf(4)]) buryUnreadable(world.deps, name);
      expect(readdirSync(world.deps.outbox).sort()).to.deep.equal([folder, link, 'dead'].sort());
      expect(readdirSync(deadFolder(world.deps))).to.deep.equal([broken]);
      expect(statSync(path('dead', broken)).mtimeMs).to.equal(NINE);
    });

    it('is checked without making a folder', () => {
      checkOutbox(world.deps);
      expect(readdirSync(world.deps.outbox)).to.deep.equal([]);
    });

    for (const place of ['', 'claimed', 'dead'])
      it(`is refused if ${place === '' ? 'it' : `its folder ${place}`} is a link`, () => {
        checkOutbox(world.deps);
        const elsewhere = join(world.deps.outbox, '..', 'elsewhere');
        mkdirSync(elsewhere);
        rmSync(path(place), { recursive: true, force: true });
        symlinkSync(elsewhere, path(place));
        const { kind, message } = thrown(() => checkOutbox(world.deps));
        expect(kind).to.equal('config');
        expect(message).to.include(path(place));
      });
  });
});
