import { expect } from 'chai';

import { resetTime } from '../../../src/lib/assistant/reset-time';
import { systemZone, timeOf } from '../../../src/lib/platform/time/time';

describe('assistant: when a limit is reset', () => {
  const texts: readonly (readonly [string | undefined, string | undefined])[] = [
    ["You've hit your limit · resets 6pm (Europe/Berlin)", '18:00'],
    ['5-hour limit reached ∙ resets 6:30am', '06:30'],
    ['Limit reached. Resets at 18:00.', '18:00'],
    ['Weekly limit reached, resets Nov 26, 12am', 'Nov 26 00:00'],
    ['API Error: 529 overloaded', undefined],
    ['The counter resets 3 times', undefined],
    ['resets 25:00', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [text, time] of texts) {
    it(`finds ${time ?? 'no time'} in ${JSON.stringify(text)}`, () => expect(resetTime(text)).to.equal(time));
  }

  it('converts a time in seconds to local time', () => {
    const local = timeOf(1_795_543_200_000, systemZone());
    expect(resetTime('Claude AI usage limit reached|1795543200')).to.equal(local);
  });
});
