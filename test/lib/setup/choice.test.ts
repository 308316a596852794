import { expect } from 'chai';
import fc from 'fast-check';

import { chosenNames, chosenNumbers } from '../../../src/lib/setup/init/step';

describe('init: choices', () => {
  it('parses numbers, ranges, all and none', () => {
    expect(chosenNumbers('all', 3)).to.deep.equal([0, 1, 2]);
    expect(chosenNumbers(' NONE ', 3)).to.deep.equal([]);
    expect(chosenNumbers('3, 1 2-3', 3)).to.deep.equal([0, 1, 2]);
    for (const wrong of ['', '0', '4', '2-1', '1-', 'x', '1 all', '-1', '1.5', '99999'])
      expect(chosenNumbers(wrong, 3), wrong).to.equal(undefined);
  });

  it('returns each number once, in order and within bounds', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(50), (text, count) => {
        const chosen = chosenNumbers(text, count) ?? [];
        expect(chosen).to.deep.equal([...new Set(chosen)].sort((a, b) => a - b));
        expect(chosen.every((index) => index >= 0 && index < count)).to.equal(true);
      }),
    );
  });

  it('parses names in any case and order, and reports an unknown one', () => {
    const names = ['sense', 'work', 'daemon'] as const;
    expect(chosenNames('job', 'DAEMON,sense', names)).to.deep.equal(['sense', 'daemon']);
    expect(chosenNames('job', 'all', names)).to.deep.equal([...names]);
    expect(chosenNames('job', 'none', names)).to.deep.equal([]);
    for (const [text, unknown] of [
      ['sense wrok', 'wrok'],
      [' ', ''],
    ] as const)
      expect(() => chosenNames('job', text, names)).to.throw(`Unknown job "${unknown}".`);
  });
});
