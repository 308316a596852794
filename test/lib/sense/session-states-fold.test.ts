import { expect } from 'chai';
import fc from 'fast-check';

import { toIso } from '../../../src/lib/platform/time/clock';
import { statesFold, type StatesCursor } from '../../../src/lib/sense/session-states';
import { folder } from '../../../src/lib/sessions/fold';
import type { WorkEvent } from '../../../src/lib/sessions/work-events';
import { long } from '../../helpers/long';

const START = Date.parse('2026-11-20T09:00:00Z');
const TYPES: readonly WorkEvent['type'][] = [
  ...(['session-start', 'prompt', 'stop', 'session-end', 'notification'] as const),
  ...(['tool-before', 'tool-after', 'tool-failed', 'subagent-start', 'subagent-stop'] as const),
];
const REASONS = [
  'permission_prompt',
  'idle_prompt',
  'elicitation_dialog',
  'auth_success',
  'compact',
  'startup',
];
const optional = (...values: string[]): fc.Arbitrary<string | undefined> =>
  fc.option(fc.constantFrom(...values), { nil: undefined });
const step = fc.record({
  type: fc.constantFrom(...TYPES),
  session: fc.constantFrom('a', 'b'),
  reason: optional(...REASONS),
  agent: optional('x', 'y'),
  tool: optional('Bash', 'Edit', 'AskUserQuestion'),
  call: optional('c1', 'c2'),
  asks: optional('question', 'plan'),
  waitMs: fc.integer({ min: 0, max: 20_000 }),
});

describe('sense: states of sessions, for any events', () => {
  long('are those of the list of sessions', () => {
    const runs = Number(process.env['STEWARD_RUNS'] ?? 300);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const list = { version: 1, sessions: {} } as unknown as Parameters<typeof folder>[0];
        const listed = folder(list, { dayOf: () => '2026-11-20' } as Parameters<typeof folder>[1]);
        let cursor: StatesCursor | undefined;
        let ms = START;
        for (const { waitMs, ...each } of steps) {
          ms += waitMs;
          const present = Object.entries(each).filter(([, value]) => value !== undefined);
          const event = {
            ...Object.fromEntries(present),
            ts: toIso(ms),
            slug: null,
            repo: 'app',
          } as WorkEvent;
          listed.take(event);
          const states = statesFold(
            { timezone: 'UTC', machineId: 'm', nowMs: ms, dayStartMs: START - 1, isWatched: () => true },
            cursor,
          );
          states.take(event, ms, true);
          ({ cursor } = states.result());
          const known = cursor.known[event.session];
          const session = Object.values(list.sessions).find(({ sessionIds }) =>
            sessionIds.includes(event.session),
          );
          if (known === undefined) expect(session?.activity ?? 'ended').to.be.oneOf(['ended', 'waiting']);
          else {
            const turn = session?.activity === 'working' ? 'working' : 'ready';
            expect(known.state).to.equal((session?.requests.length ?? 0) > 0 ? 'waiting' : turn);
          }
        }
      }),
      { numRuns: runs },
    );
  });
});
