import { expect } from 'chai';
import fc from 'fast-check';

import {
  addEvent,
  addUsage,
  beginTurn,
  costOf,
  newMeter,
  newTurn,
  outcomeOf,
  pendingTools,
  totalUsage,
  type Turn,
} from '../../../../src/lib/agents/managed/turn';

type Given = Record<string, unknown> & { type: string };
const idle = (reason: string, more: object = {}): Given => ({
  id: `i-${reason}`,
  type: 'session.status_idle',
  stop_reason: { type: reason, ...more },
});
const message: Given = { id: 'm', type: 'user.message', content: [{ type: 'text', text: 'hi' }] };
const running: Given = { id: 'r', type: 'session.status_running' };
const failed = (retry: string): Given => ({
  id: 'e',
  type: 'session.error',
  error: { type: 'unknown_error', message: 'it broke', retry_status: { type: retry } },
});

function after(...events: Given[]): Turn {
  const turn = newTurn();
  for (const event of events) addEvent(turn, event);
  return turn;
}

describe('managed: the end of a turn', () => {
  const ends: [what: string, events: Given[], kind: string | undefined][] = [
    ['end_turn is success', [message, running, idle('end_turn')], undefined],
    ['a reason that nobody knows yet ends it, too', [message, running, idle('new_in_2027')], undefined],
    ['no reason at all ends it', [message, running, { id: 'i', type: 'session.status_idle' }], undefined],
    ['retries_exhausted', [message, running, failed('exhausted'), idle('retries_exhausted')], 'unavailable'],
    [
      'a wait for answers that are not named',
      [message, running, idle('requires_action', { event_ids: [5] })],
      'conflict',
    ],
    ['budget_reached', [message, running, idle('budget_reached')], 'conflict'],
    ['refusal', [message, running, idle('refusal')], 'conflict'],
    ['idle after an error for good', [message, running, failed('terminal'), idle('end_turn')], 'unavailable'],
    [
      'idle after an error that was tried again',
      [message, running, failed('retrying'), idle('end_turn')],
      undefined,
    ],
    ['an error that work came after', [message, failed('terminal'), running, idle('end_turn')], undefined],
    ['an interrupt', [message, running, { id: '', type: 'user.interrupt' }, idle('end_turn')], 'canceled'],
    [
      'an error of the turn before',
      [failed('terminal'), idle('end_turn'), message, running, idle('end_turn')],
      undefined,
    ],
    [
      'the end of the session',
      [message, running, { id: 't', type: 'session.status_terminated' }],
      'unavailable',
    ],
  ];
  for (const [what, events, kind] of ends) {
    it(what, () => {
      const outcome = outcomeOf(after(...events));
      expect(outcome).not.to.equal(undefined);
      expect(outcome?.kind).to.equal(kind);
    });
  }

  it('has no end while it runs, retries, or waits for an answer', () => {
    expect(outcomeOf(after(message, running))).to.equal(undefined);
    expect(outcomeOf(after(message, running, { id: 's', type: 'session.status_rescheduled' }))).to.equal(
      undefined,
    );
    expect(outcomeOf(after(message, running, idle('requires_action', { event_ids: ['t'] })))).to.equal(
      undefined,
    );
  });

  it('does not take the end of an earlier turn', () => {
    const turn = after(message, running, idle('end_turn'));
    beginTurn(turn);
    expect(outcomeOf(turn)).to.equal(undefined);
    addEvent(turn, { ...message, id: 'm2' });
    expect(outcomeOf(turn)).to.equal(undefined);
    addEvent(turn, running);
    addEvent(turn, idle('end_turn'));
    expect(outcomeOf(turn)?.kind).to.equal(undefined);
  });

  it('waits for each tool use until it is answered', () => {
    const use = { id: 't1', type: 'agent.tool_use', name: 'bash', input: { command: 'ls' } };
    const custom = { id: 't2', type: 'agent.custom_tool_use', name: 'ask', input: {} };
    const remote = { id: 't3', type: 'agent.mcp_tool_use', name: 'get', mcp_server_name: 'docs', input: {} };
    const turn = after(
      message,
      use,
      custom,
      remote,
      idle('requires_action', { event_ids: ['t1', 't2', 't3', 't4'] }),
    );
    expect(pendingTools(turn).map(({ id, name, kind }) => [id, name, kind])).to.deep.equal([
      ['t1', 'bash', 'tool'],
      ['t2', 'ask', 'custom'],
      ['t3', 'docs.get', 'tool'],
      ['t4', '', 'tool'],
    ]);
    turn.answered.add('t1');
    addEvent(turn, { id: 'c', type: 'user.custom_tool_result', custom_tool_use_id: 't2' });
    expect(pendingTools(turn).map(({ id }) => id)).to.deep.equal(['t3', 't4']);
    addEvent(turn, running);
    expect(pendingTools(turn)).to.deep.equal([]);
  });

  it('survives any events', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue())), (events) => {
        const turn = after(
          ...events.map(([type, value]) => ({
            type: `session.${type}`,
            stop_reason: value,
            error: value,
            usage: value,
          })),
          ...events.map(([, value]) => ({ type: 'session.status_idle', stop_reason: value }) as Given),
        );
        outcomeOf(turn);
        pendingTools(turn);
        expect(Number.isFinite(totalUsage(turn.meter).activeSeconds)).to.equal(true);
      }),
    );
  });
});

describe('managed: cost', () => {
  const at = (second: number): string => `2026-11-20T10:00:${String(second).padStart(2, '0')}Z`;

  it('is 0.08 USD per active hour, pro-rated, unless the service reports a cost', () => {
    const usage = {
      inputTokens: 1_000_000,
      outputTokens: 100_000,
      cacheTokens: 0,
      activeSeconds: 1800,
      listCost: undefined,
    };
    const cost = costOf(usage);
    expect(cost.activeUsd).to.be.closeTo(0.04, 1e-9);
    expect(cost.totalUsd).to.equal(cost.activeUsd);
    expect(costOf({ ...usage, listCost: 9.5 }).totalUsd).to.equal(9.5);
  });

  it('sums running time and the tokens of each request', () => {
    const meter = newMeter();
    addUsage(meter, { type: 'session.status_running', processed_at: at(1) });
    addUsage(meter, {
      type: 'span.model_request_end',
      model_usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 7 },
    });
    addUsage(meter, { type: 'span.model_request_end', model_usage: { input_tokens: 1, output_tokens: 2 } });
    addUsage(meter, { type: 'session.status_idle', processed_at: at(31) });
    addUsage(meter, { type: 'session.status_idle', processed_at: at(50) });
    expect(totalUsage(meter)).to.deep.equal({
      inputTokens: 11,
      outputTokens: 7,
      cacheTokens: 7,
      activeSeconds: 30,
      listCost: undefined,
    });
  });

  it('prefers the figures of the service', () => {
    const meter = newMeter();
    const list_cost = { amount: '250', currency: 'USD' };
    addUsage(meter, {
      type: 'session.usage',
      usage: { input_tokens: 99, output_tokens: 9, active_seconds: 60, list_cost },
    });
    expect(totalUsage(meter)).to.include({ inputTokens: 99, activeSeconds: 60, listCost: 2.5 });
  });
});
