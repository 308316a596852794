import { expect } from 'chai';

import { parseRequests, requestsAfter, type OpenRequest } from '../../../src/lib/sessions/requests';
import type { WorkEvent } from '../../../src/lib/sessions/work-events';

const at = (second: number): string => `2026-11-20T09:00:${String(second).padStart(2, '0')}.000Z`;
const QUESTION = 'AskUserQuestion';

const OPEN: Record<string, OpenRequest> = {
  early: { agent: null, reason: 'permission_prompt', tool: 'Bash', at: at(0) },
  late: { agent: null, reason: 'permission_prompt', tool: 'Edit', at: at(8) },
  question: { agent: null, reason: 'question', tool: QUESTION, call: 'c1', at: at(8) },
  untold: { agent: null, reason: 'permission_prompt', tool: null, at: at(8) },
  agents: { agent: 's', reason: 'permission_prompt', tool: 'Bash', at: at(8) },
};
const ALL = 'early late question untold agents';

const event = (type: string, more: object = {}): WorkEvent =>
  ({ type, ts: at(12), session: 'x', slug: null, ...more }) as unknown as WorkEvent;

describe('the open requests of a session', () => {
  const left: [what: string, WorkEvent, names: string, added?: OpenRequest][] = [
    ['end with a new session', event('session-start'), ''],
    ['stay when it is compacted', event('session-start', { reason: 'compact' }), ALL],
    ['end with a prompt', event('prompt'), ''],
    ['end with the session', event('session-end'), ''],
    ["are the agents' after a turn", event('stop'), 'agents'],
    ['of an agent end with it', event('subagent-stop', { agent: 's' }), 'early late question untold'],
    ['stay when an unknown agent ends', event('subagent-stop'), ALL],
    ['stay when an agent starts', event('subagent-start', { agent: 's' }), ALL],

    ['stay with a notice', event('notification', { reason: 'agent_idle' }), ALL],
    ['stay with a reminder', event('notification', { reason: 'permission_prompt' }), ALL],
    [
      'stay when a question says that it asks',
      event('notification', { reason: 'permission_prompt', tool: QUESTION }),
      ALL,
    ],
    [
      'grow with the same question of an agent',
      event('notification', { reason: 'permission_prompt', tool: QUESTION, agent: 's' }),
      ALL,
      { agent: 's', reason: 'permission_prompt', tool: QUESTION, at: at(12) },
    ],
    [
      'grow with another request for a tool',
      event('notification', { reason: 'permission_prompt', tool: 'Bash' }),
      ALL,
      { agent: null, reason: 'permission_prompt', tool: 'Bash', at: at(12) },
    ],
    [
      'grow with a notification that does not say why',
      event('notification'),
      ALL,
      { agent: null, reason: null, tool: null, at: at(12) },
    ],
    [
      "are the agents' while the main agent is idle",
      event('notification', { reason: 'idle_prompt' }),
      'agents',
    ],
    [
      'grow with an idle agent',
      event('notification', { reason: 'idle_prompt', agent: 's' }),
      ALL,
      { agent: 's', reason: 'idle_prompt', tool: null, at: at(12) },
    ],

    [
      'are answered by a tool that starts later',
      event('tool-before', { tool: 'Read' }),
      'late question agents',
    ],
    ['wait ten seconds for it', event('tool-before', { tool: 'Read', ts: at(18) }), 'late question agents'],
    ['wait no longer', event('tool-before', { tool: 'Read', ts: at(19) }), 'question agents'],
    [
      'of an agent are answered by its own tools',
      event('tool-before', { tool: 'Read', ts: at(19), agent: 's' }),
      'early late question untold',
    ],
    ['are answered by their tool', event('tool-after', { tool: 'Bash' }), 'late question agents'],
    ['are answered by their call', event('tool-failed', { tool: QUESTION, call: 'c1' }), 'early late agents'],
    [
      'are not answered by another call',
      event('tool-after', { tool: QUESTION, call: 'c2' }),
      'early late question agents',
    ],
    [
      'grow with a question',
      event('tool-before', { tool: QUESTION, asks: 'question', call: 'c9' }),
      'late question agents',
      { agent: null, reason: 'question', tool: QUESTION, call: 'c9', at: at(12) },
    ],
    [
      'grow with a question without a call',
      event('tool-before', { tool: 'Plan', asks: 'plan', agent: 'b' }),
      ALL,
      { agent: 'b', reason: 'plan', tool: 'Plan', at: at(12) },
    ],
    ['do not grow when a question ends', event('tool-after', { tool: 'x', asks: 'plan', agent: 'b' }), ALL],
  ];
  for (const [what, given, names, added] of left)
    it(what, () => {
      const kept = names.split(' ').flatMap((name) => OPEN[name] ?? []);
      const after = requestsAfter(Object.values(OPEN), given);
      expect(after).to.deep.equal(added === undefined ? kept : [...kept, added]);
    });

  it('begin with a first reminder', () => {
    const [first] = requestsAfter([], event('notification', { reason: 'permission_prompt' }));
    expect(first).to.deep.equal({ agent: null, reason: 'permission_prompt', tool: null, at: at(12) });
  });

  it('are the last twenty, asked, questioned or stored', () => {
    const many = Array.from({ length: 25 }, (_, index) => ({
      ...OPEN['agents'],
      at: at(index),
    })) as OpenRequest[];
    expect(parseRequests(many)).to.deep.equal(many.slice(-20));
    const full = many.slice(-20);
    const asked = requestsAfter(full, event('notification', { reason: 'permission_prompt', tool: 'x' }));
    const questioned = requestsAfter(full, event('tool-before', { tool: 'x', asks: 'plan' }));
    for (const after of [asked, questioned]) {
      expect(after).to.have.length(20);
      expect(after.slice(0, -1)).to.deep.equal(full.slice(1));
    }
  });

  it('are read without what is damaged', () => {
    const bad = [{ at: 'now' }, { at: 5 }, {}, null, 'x'];
    const odd = { agent: 5, reason: '', tool: null, call: 7, at: at(1) };
    expect(parseRequests([...bad, OPEN['question'], odd])).to.deep.equal([
      OPEN['question'],
      { agent: null, reason: null, tool: null, at: at(1) },
    ]);
    expect(parseRequests('x')).to.deep.equal([]);
  });
});
