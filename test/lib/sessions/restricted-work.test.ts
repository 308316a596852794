import { expect } from 'chai';

import { toIso } from '../../../src/lib/platform/time/clock';
import { folder as folding } from '../../../src/lib/sessions/fold';
import { isRestrictedWork } from '../../../src/lib/sessions/unseen-artifact';
import { emptySessions, parseSessions, type SessionsState } from '../../../src/lib/sessions/session';
import { parseWorkEvent, type WorkEvent } from '../../../src/lib/sessions/work-events';

const START = Date.parse('2026-11-20T08:00:00Z');
const MINUTE = 60_000;

describe('the work of a session in a restricted folder', () => {
  let state: SessionsState;
  beforeEach(() => {
    state = emptySessions();
  });
  const say = (minute: number, type: WorkEvent['type'], more: Partial<WorkEvent> = {}): void => {
    const event: WorkEvent = { ts: toIso(START + minute * MINUTE), type, session: 'one', slug: 'made', repo: null, ...more }; // prettier-ignore
    const stored = parseWorkEvent(JSON.stringify(event));
    folding(state, { dayOf: () => '2026-11-20' }).take(stored!);
    // As it is between two hooks.
    state = parseSessions(JSON.stringify(state))!;
  };
  const isKept = (slug: string, minute: number, session: string | null = null): boolean =>
    isRestrictedWork(state, { slug, artifact: { session }, atMs: START + minute * MINUTE });

  it('is known by its slug and by the session that it names, wherever the session goes next', () => {
    say(0, 'prompt', { restricted: true });
    say(1, 'tool-after', { slug: 'secret', artifact: true });
    say(2, 'stop');
    say(3, 'prompt');
    expect(isKept('secret', 500)).to.equal(true);
    expect(isKept('other', 500, 'one')).to.equal(true);
    expect(isKept('other', 1, 'two')).to.equal(false);
    expect(isKept('other', 1)).to.equal(false);
  });

  it('may be what nobody is known by, of the time in which it was at work', () => {
    say(0, 'session-start', { restricted: true });
    expect(isKept('free', 0)).to.equal(false);
    say(5, 'prompt', { restricted: true });
    say(6, 'tool-before', { restricted: true });
    expect(isKept('free', 4)).to.equal(false);
    for (const minute of [5, 6, 60]) expect(isKept('free', minute), String(minute)).to.equal(true);
    expect(isKept('free', 24 * 60)).to.equal(false);
  });

  it('is nothing of a session in another folder', () => {
    say(0, 'prompt');
    say(1, 'tool-before');
    expect(isKept('free', 1)).to.equal(false);
    expect(isKept('made', 1)).to.equal(false);
  });
});
