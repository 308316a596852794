import { expect } from 'chai';
import fc from 'fast-check';

import { parseDuration } from '../../../../src/lib/platform/time/day-words';
import { thrown } from '../../../helpers/errors';

describe('platform/duration', () => {
  it('reads numbers with units', () => {
    expect(['45s', '7m', '1h30m', '2d', ' 1.5H '].map(parseDuration)).to.deep.equal([45_000, 420_000, 5_400_000, 172_800_000, 5_400_000]); // prettier-ignore
  });

  it('refuses all else, and says how to write it', () => {
    for (const text of ['', '7', 'm', '7 m', '-7m', '0s', '7x', '1h30', 'NaNm', '٧m', '1e3s']) {
      expect(
        thrown(() => parseDuration(text)),
        text,
      ).to.include({ kind: 'usage' });
    }
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999_999 }),
        fc.constantFrom('s', 'm', 'h', 'd'),
        (count, unit) => {
          expect(parseDuration(`${count}${unit}`)).to.be.at.least(1000);
        },
      ),
    );
  });
});
