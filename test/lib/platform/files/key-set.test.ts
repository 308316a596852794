import { expect } from 'chai';
import fc from 'fast-check';

import { keySet } from '../../../../src/lib/platform/files/key-set';

describe('a set of keys', () => {
  it('is a set', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom('', '\0', '\0\0', 'sevt_1', 'sevt_10'),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 400 }), (texts) => {
        const own = keySet();
        const wanted = new Set<string>();
        for (const key of texts) {
          if (own.has(key) !== wanted.has(key) || own.add(key) === wanted.has(key)) return false;
          wanted.add(key);
        }
        return own.size() === wanted.size && [...wanted].every((key) => own.has(key));
      }),
      { numRuns: 20 },
    );
  });

  it('tells 300,000 names that differ by little apart', () => {
    const own = keySet();
    for (let n = 0; n < 300_000; n += 1) own.add(`sevt_${n.toString(36).padStart(6, '0')}`);
    expect(own.size()).to.equal(300_000);
    expect(own.has('sevt_zzzzzz')).to.equal(false);
  });
});
