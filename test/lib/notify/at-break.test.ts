import { expect } from 'chai';

import { acceptNotification } from '../../../src/lib/notify/accept';
import { type Break, breakBetween } from '../../../src/lib/notify/break';
import type { ChannelId } from '../../../src/lib/notify/events';
import { closeDispatcher, scan, startDispatcher, type Dispatcher } from '../../../src/lib/notify/dispatch';
import { whyUndelivered } from '../../../src/lib/notify/history';
import { historyText } from '../../../src/lib/notify/view';
import { MINUTE, NINE, notifyWorld, type NotifyWorld } from '../../helpers/notify';

const VIEW = { zone: 'UTC', columns: 100, color: false };

describe('notify: at a break', () => {
  let world: NotifyWorld;
  let last: Break | undefined;
  let dispatcher: Dispatcher;
  beforeEach(() => {
    world = notifyWorld();
    last = undefined;
    world.deps.lastBreak = () => last;
    world.notifications.routing.longTask = ['push', 'desktop', 'atBreak'];
    dispatcher = startDispatcher(world.deps);
  });
  afterEach(async () => {
    await closeDispatcher(dispatcher, 0);
    expect(world.faults).to.deep.equal([]);
    world.remove();
  });

  const send = async (body: object): Promise<string> =>
    (await acceptNotification(world.deps, { message: 'Done', ...body })).id;
  /** Delivers what is due `ms` after nine o'clock. */
  const deliver = async (ms: number): Promise<void> => {
    world.nowMs = NINE + ms;
    scan(dispatcher);
    await Promise.all(dispatcher.running.values());
  };
  const got = (): ChannelId[] =>
    (['voice', 'desktop', 'push', 'chat'] as const).filter((id) => world.channels[id].got.length > 0);
  const text = (): string => historyText(world.entries(), { ...VIEW, nowMs: world.nowMs });

  it('waits for a break after the message, on every channel, and says how long and why', async () => {
    last = { atMs: NINE - 1, why: 'you came back' };
    const id = await send({ event: 'longTask' });
    await deliver(4 * MINUTE);
    expect(got()).to.deep.equal([]);
    expect(text()).to.include('push  waiting until 09:20: waiting for a break');
    const [entry] = world.entries();
    expect(entry && whyUndelivered(entry)).to.equal(undefined);
    last = { atMs: NINE + 4 * MINUTE, why: 'you came back' };
    await deliver(4 * MINUTE);
    expect(got()).to.deep.equal(['desktop', 'push']);
    expect(world.result(id, 'push')).to.include({ result: 'delivered', attempts: 1 });
    expect(world.result(id, 'voice')).to.include({ result: 'skipped', reason: 'waits for a break' });
    expect(text()).to.include('push  delivered: held for 4 m, you came back');
    await deliver(21 * MINUTE);
    expect(world.channels.push.got).to.have.length(1);
  });

  it('is sent after breakMinutes at the latest', async () => {
    world.notifications.thresholds.breakMinutes = 7;
    await send({ event: 'longTask' });
    await deliver(7 * MINUTE - 1);
    expect(got()).to.deep.equal([]);
    await deliver(7 * MINUTE);
    expect(got()).to.deep.equal(['desktop', 'push']);
    expect(text()).to.include('push  delivered: held for 7 m, no break came');
  });

  it('never holds what is urgent', async () => {
    for (const event of ['security', 'attention'] as const)
      world.notifications.routing[event] = ['push', 'desktop', 'atBreak'] as never;
    for (const body of [{ event: 'security' }, { event: 'attention' }, { event: 'longTask', priority: 5 }]) {
      for (const { got: seen } of Object.values(world.channels)) seen.length = 0;
      await send(body);
      await deliver(0);
      expect(got(), JSON.stringify(body)).to.deep.equal(['voice', 'desktop', 'push']);
    }
  });

  it('leaves pushes to the quiet hours, also if they begin meanwhile', async () => {
    await send({ event: 'longTask' });
    world.quietHours = '09:10-10:00';
    last = { atMs: NINE + 15 * MINUTE, why: 'you came back' };
    await deliver(15 * MINUTE);
    expect(got()).to.deep.equal(['desktop']);
    await deliver(30 * MINUTE);
    expect(got()).to.deep.equal(['desktop']);
    await deliver(60 * MINUTE);
    expect(got()).to.deep.equal(['desktop', 'push']);
  });

  it('ends the wait if the clock is set back, and retries a failed attempt as always', async () => {
    world.channels.push.answers = [{ outcome: 'again', reason: 'It is down.', hint: 'Wait.' }];
    await send({ event: 'longTask' });
    await deliver(-MINUTE);
    expect(got()).to.deep.equal(['desktop', 'push']);
    await deliver(MINUTE);
    expect(world.channels.push.got).to.have.length(2);
  });

  it('is a return, or another kind of application, if both moments are known', () => {
    expect(breakBetween({ isAway: true }, { isAway: false })).to.equal('you came back');
    expect(breakBetween({}, { isAway: false, kind: 'creation' })).to.equal(undefined);
    expect(breakBetween({ isAway: false, kind: 'creation' }, { isAway: true })).to.equal(undefined);
    const kinds = (a: string, b: string) => breakBetween({ isAway: false, kind: a }, { isAway: false, kind: b }); // prettier-ignore
    expect(kinds('creation', 'creation')).to.equal(undefined);
    expect(kinds('creation', 'consumption')).to.equal('you changed the kind of application');
  });
});
