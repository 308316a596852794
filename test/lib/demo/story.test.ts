import { expect } from 'chai';

import { tellStory } from '../../../src/lib/demo/story';
import { long } from '../../helpers/long';

const AT = { seed: 42, nowMs: Date.parse('2026-11-20T17:41:00Z'), zone: 'Europe/Berlin', folder: '/src' };

describe('the story of the demo', () => {
  long('is the same for the same seed, time and zone', () => {
    expect(tellStory(AT)).to.deep.equal(tellStory(AT));
    expect(tellStory({ ...AT, seed: 43 })).to.not.deep.equal(tellStory(AT));
  });

  for (const hour of ['00:03', '04:00', '09:30', '23:59']) {
    it(`tells a fortnight that ends at ${hour}, and nothing later`, () => {
      const nowMs = Date.parse(`2026-11-20T${hour}:00Z`);
      const [desk] = tellStory({ ...AT, nowMs, zone: 'UTC' }).machines;
      const days = desk?.days ?? [];
      expect(days).to.have.length(14);
      expect(days.filter(({ focus }) => focus.length === 0)).to.have.length(1);
      for (const { day, endMs, focus, commits, hooks } of days) {
        for (const { ts } of [...focus, ...commits, ...hooks]) {
          expect(ts.slice(0, 10)).to.equal(day);
          expect(Date.parse(ts)).to.be.at.most(endMs);
        }
      }
      const endings = days
        .at(-1)
        ?.sessions.slice(-4)
        .map(({ ending }) => ending);
      expect(endings).to.deep.equal(['working', 'question', 'permission_prompt', 'ready']);
    });
  }
});
