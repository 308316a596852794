import { expect } from 'chai';

import { figuresOf } from '../../../src/lib/sessions/figures';

describe('sessions: figures', () => {
  it('adds up the days, ids and models of a session, and omits sessions without figures', () => {
    const sessions = [
      { slug: 'fix-login', sessionIds: ['a', 'b'] },
      { slug: 'shop', sessionIds: ['codex:a'] },
      { slug: 'idle', sessionIds: ['c'] },
    ];
    const agents = [
      { session: 'a', cells: { working: { front: 10, away: 5 }, waiting: { desk: 2 }, ready: { away: 5 } } },
      { session: 'b', cells: { working: { desk: 1 } } },
      { session: 'unknown', cells: { working: { desk: 100 } } },
    ];
    const amounts = { input: 1, output: 20, cacheRead: 300, cacheWrite: 4000 };
    const usage = ['a', 'codex:a', 'unknown'].map((key) => ({ key, ...amounts }));
    expect(figuresOf(sessions, agents, usage)).to.deep.equal([
      { slug: 'fix-login', workingMinutes: 16, waitingMinutes: 2, readyMinutes: 5, tokens: 4321 },
      { slug: 'shop', workingMinutes: 0, waitingMinutes: 0, readyMinutes: 0, tokens: 4321 },
    ]);
  });
});
