import { expect } from 'chai';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { acceptNotification } from '../../../src/lib/notify/accept';
import { deliverWaiting } from '../../../src/lib/notify/deliver';
import {
  MAX_WAITING,
  deadFolder,
  foreignDeliveries,
  outboxOf,
  outboxStatus,
  waitingNames,
} from '../../../src/lib/notify/outbox';
import { readEntries, retry } from '../../../src/lib/notify/history';
import { claim } from '../../../src/lib/platform/files/spool';
import { deadReport } from '../../../src/lib/platform/files/dead-letters';
import { MINUTE, notifyWorld, type NotifyWorld } from '../../helpers/notify';
import { rejection } from '../../helpers/errors';
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
});
