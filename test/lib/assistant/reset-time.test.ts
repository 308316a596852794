import { expect } from 'chai';

import { resetTime } from '../../../src/lib/assistant/reset-time';
import { dayOf, instantOf, systemZone, timeOf } from '../../../src/lib/platform/time/time';

const ZONE = systemZone();
const NOW = instantOf({ year: 2026, month: 11, day: 24, hour: 17, minute: 30 }, ZONE);

describe('assistant: when a limit is reset', () => {
  const texts: readonly (readonly [string | undefined, string | undefined])[] = [
    ["You've hit your limit · resets 6pm (Europe/Berlin)", '2026-11-24 18:00'],
    ['5-hour limit reached ∙ resets 6:30am', '2026-11-25 06:30'],
    ['Limit reached. Resets at 18:00.', '2026-11-24 18:00'],
    ['Limit reached. Resets at 17:30.', '2026-11-25 17:30'],
    ['Weekly limit reached, resets Nov 26, 12am', '2026-11-26 00:00'],
    ['Weekly limit reached, resets January 2 at 9:15am', '2027-01-02 09:15'],
    ['API Error: 529 overloaded', undefined],
    ['The counter resets 3 times', undefined],
    ['resets 25:00', undefined],
    ['resets Foo 3, 6pm', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [text, time] of texts) {
    it(`finds ${time ?? 'no time'} in ${JSON.stringify(text)}`, () => {
      const ms = resetTime(text, NOW);
      expect(ms === undefined ? undefined : `${dayOf(ms, ZONE)} ${timeOf(ms, ZONE)}`).to.equal(time);
    });
  }

  it('takes a time in seconds as it is', () => {
    expect(resetTime('Claude AI usage limit reached|1795543200', NOW)).to.equal(1_795_543_200_000);
  });
});
