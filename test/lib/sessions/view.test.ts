import { expect } from 'chai';

import { sessionsText, type SessionsReport } from '../../../src/lib/sessions/view';

const NONE: SessionsReport = {
  sessions: [],
  working: 0,
  waiting: 0,
  crashed: 0,
  spool: { waiting: 0, dead: 0, oldest: null, deadFolder: '/dead' },
};

describe('sessions: what a person is shown', () => {
  for (const all of [false, true]) {
    it(`says that there is none in lines that fit (${all ? 'of all' : 'now'})`, () => {
      const text = sessionsText(NONE, { columns: 40, color: false, nowMs: 0, all });
      expect(text).to.match(/^No session /);
      for (const line of text.split('\n')) expect(line.length).to.be.at.most(40);
    });
  }
});
