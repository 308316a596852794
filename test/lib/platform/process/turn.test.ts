import { expect } from 'chai';
import { readdirSync, writeFileSync } from 'node:fs';

import { systemClock } from '../../../../src/lib/platform/time/clock';
import { turnsIn, type Waiter } from '../../../../src/lib/platform/process/turn';
import { scratch } from '../../../helpers/scratch';

describe('platform/turn', () => {
  const box = scratch();
  const clock = systemClock();
  const turns = () => turnsIn(box.path('turns'), () => ({ clock, machineId: '0123456789ab' }));
  const waiter = (more: Partial<Waiter> = {}): Waiter => ({
    sinceMs: clock.now(),
    waitMs: 60_000,
    signal: new AbortController().signal,
    ...more,
  });
  const tickets = (): string[] => readdirSync(box.path('turns')).filter((name) => name !== 'lock');

  it('runs one at a time, the earliest first, and leaves nothing behind', async () => {
    const nowMs = clock.now();
    const log: number[] = [];
    let open: () => void = () => undefined;
    const first = turns()(
      waiter({ sinceMs: nowMs - 500 }),
      () => new Promise<void>((resolve) => (open = resolve)),
    );
    const rest = [300, 100, 400, 200].map((ageMs) =>
      turns()(waiter({ sinceMs: nowMs - ageMs }), () => Promise.resolve(log.push(ageMs))),
    );
    while (tickets().length < 5) await new Promise(setImmediate);
    expect(log).to.deep.equal([]);
    open();
    await Promise.all([first, ...rest]);
    expect(log).to.deep.equal([400, 300, 200, 100]);
    expect(readdirSync(box.path('turns'))).to.deep.equal([]);
  });

  it('gives up after its wait, and when it is told to', async () => {
    let open: () => void = () => undefined;
    const first = turns()(waiter(), () => new Promise<void>((resolve) => (open = resolve)));
    const never = (): Promise<never> => Promise.reject(new Error('it had its turn'));
    expect(await turns()(waiter({ waitMs: 50 }), never)).to.equal(undefined);
    const stop = new AbortController();
    const stopped = turns()(waiter({ signal: stop.signal }), never);
    stop.abort();
    expect(await stopped).to.equal(undefined);
    expect(tickets()).to.have.length(1);
    open();
    await first;
  });

  it('waits for no ticket of a process that has gone, nor for one that is too old', async () => {
    await turns()(waiter(), () => Promise.resolve());
    const ticket = (ageMs: number, pid: number): string =>
      `${String(clock.now() - ageMs).padStart(15, '0')}-${pid}-0123abcd`;
    for (const name of [ticket(1000, 0x7fff_fff0), ticket(120_000, process.pid)]) {
      writeFileSync(box.path('turns', name), '');
    }
    expect(await turns()(waiter({ waitMs: 0 }), () => Promise.resolve('mine'))).to.equal('mine');
    expect(readdirSync(box.path('turns'))).to.deep.equal([]);
  });

  it('passes on what the work throws', async () => {
    const failed = await turns()(waiter(), () => Promise.reject(new Error('x'))).catch(String);
    expect(failed).to.equal('Error: x');
  });
});
