import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { toIso } from '../../../src/lib/platform/time/clock';
import { folder, withSlugs } from '../../../src/lib/sessions/fold';
import { emptySessions, type SessionsState } from '../../../src/lib/sessions/session';
import { parseWorkEvent, type WorkEvent } from '../../../src/lib/sessions/work-events';
import { testArea, type TestArea } from '../../helpers/area';
import { hookJson, type RecordedEvent } from '../../helpers/hooks';
import { SEED, seeded } from '../../helpers/random';
import { nodeEvent, places, shimEvent, toolEvent } from '../../helpers/tool-events';

const dayOf = (): string => '2026-11-20';

describe('assistant: tool events that the shim records', () => {
  let area: TestArea;
  beforeEach(() => {
    area = testArea();
  });
  afterEach(() => area.remove());

  it('give the same sessions as those that Node.js records, in 10,000 payloads', function () {
    this.timeout(60_000);
    const random = seeded(SEED);
    const where = places(area.home);
    let nowMs = Date.parse('2026-11-20T08:00:00Z');
    const plan = nodeEvent(area.area, () => nowMs);
    const ids = Array.from({ length: 200 }, (_, index) => `session-${index}`);
    // Half of the sessions had a turn already.
    const slugs = Object.fromEntries(ids.slice(100).map((id) => [id, `20261119-known-${id}`]));
    mkdirSync(dirname(area.area.sessionsLive), { recursive: true });
    writeFileSync(area.area.sessionsLive, JSON.stringify({ version: 1, slugs }));
    const byNode: WorkEvent[] = [];
    const byShim: WorkEvent[] = [];
    let fast = 0;
    for (let count = 0; count < 10_000; count += 1) {
      nowMs += 1000;
      const session = random.pick(ids);
      const told = toolEvent(random, session, where);
      const other = random.chance(0.1)
        ? random.pick<RecordedEvent>(['prompt', 'stop', 'permission'])
        : undefined;
      const event =
        other === undefined
          ? plan('tool', told.payload, told.assistant)
          : plan(
              other === 'permission' ? 'notification' : other,
              hookJson(other, { session_id: session, cwd: told.place.cwd }),
            );
      const own = other === undefined ? shimEvent(told) : undefined;
      if (own !== undefined) fast += 1;
      if (event !== undefined) byNode.push(event);
      const line = own === undefined ? event : parseWorkEvent(JSON.stringify({ ts: toIso(nowMs), ...own }));
      if (line !== undefined) byShim.push(line);
      expect({ ...line, slug: null }, `seed ${SEED}: ${told.payload}`).to.deep.equal({
        ...event,
        slug: null,
      });
    }
    expect(fast).to.be.above(1000);
    expect(sessionsOf(byShim)).to.deep.equal(sessionsOf(byNode));
  });

  it('take their name from the other events of the session', () => {
    const event = (more: Partial<WorkEvent>): WorkEvent => ({
      ts: '2026-11-20T08:00:00.000Z',
      type: 'tool-after',
      session: 'one',
      slug: null,
      repo: 'site',
      ...more,
    });
    const log = [event({}), event({ session: 'two' }), event({ slug: 'my-work' }), event({ session: 'two' })];
    expect(Object.keys(sessionsOf(log))).to.deep.equal(['my-work', '20261120-site-be248829']);
  });
});

function sessionsOf(events: readonly WorkEvent[]): SessionsState['sessions'] {
  const state = emptySessions();
  const { take } = folder(state, { dayOf });
  for (const event of withSlugs(events)) take(event);
  return state.sessions;
}
