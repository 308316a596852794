import { expect } from 'chai';

import { unusableTime } from '../../../src/lib/work/due-words';

describe('work: times that cannot be', () => {
  it('finds impossible and past times', () => {
    for (const words of [
      'on 31 November', 'by the 31st of april', 'on February 30th', 'on the 32nd', '2026-02-30', 'at 25:00', 'at 9:75',
      'at 13pm', 'yesterday', 'last friday', '2 hours ago',
    ])
      expect(unusableTime(`call Ann ${words}`), words).to.equal(words); // prettier-ignore
  });

  it('ignores valid and missing times', () => {
    for (const text of [
      'call Ann on 30 November', 'call Ann at 23:59', 'on 29 february call', 'sum up what we did yesterday tomorrow',
      'buy 45 march calendars', 'pay by 2026-12-31', 'at 12pm', 'read chapter 25:00', 'do it today',
    ])
      expect(unusableTime(text), text).to.equal(undefined); // prettier-ignore
  });
});
