import { expect } from 'chai';

import { within, yielder, loopTurn } from '../../../../src/lib/platform/time/wait';

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a turn of the event loop', () => {
  it('has one number to its end, over all that is awaited in it', async () => {
    const first = loopTurn();
    expect(loopTurn()).to.equal(first);
    await Promise.resolve();
    expect(loopTurn()).to.equal(first);
  });

  it('is over before the loop waits again', async () => {
    const first = loopTurn();
    await immediate();
    const second = loopTurn();
    expect(second).not.to.equal(first);
    await immediate();
    expect([first, second]).not.to.include(loopTurn());
  });
});

describe('work with a time limit', () => {
  it('returns what comes first, the result or the given value, and passes errors on', async () => {
    const never = new Promise<never>(() => undefined);
    expect(await within(60_000, Promise.resolve('done'), 'late')).to.equal('done');
    expect(await within(1, never, 'late')).to.equal('late');
    const error = await within(60_000, Promise.reject(new Error('failed')), 'late').catch(String);
    expect(error).to.equal('Error: failed');
  });
});

describe('breath between the steps of long work', () => {
  it('is taken when the steps have lasted as long as they may, by all who share it', async () => {
    let nowMs = 0;
    const breathe = yielder({ monotonic: () => nowMs }, 5);
    let turns = 0;
    const took = async (): Promise<number> => {
      const before = turns;
      setImmediate(() => (turns += 1));
      await breathe();
      const isTurn = turns > before;
      await immediate();
      return isTurn ? 1 : 0;
    };
    expect(await took()).to.equal(1);
    nowMs += 4;
    expect(await took()).to.equal(0);
    nowMs += 1;
    expect(await took()).to.equal(1);
    expect(await took()).to.equal(0);
  });
});
