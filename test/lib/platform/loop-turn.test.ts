import { expect } from 'chai';

import { loopTurn } from '../../../src/lib/platform/loop-turn';

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
