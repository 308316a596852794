import { expect } from 'chai';
import { appendFileSync, writeFileSync } from 'node:fs';

import { parseIso, toIso } from '../../../src/lib/platform/time/clock';
import { dayBounds, dayOf } from '../../../src/lib/platform/time/time';
import { agentSessionSource } from '../../../src/lib/sense/agent-session';
import type { Collected } from '../../../src/lib/sense/source';
import { scratch } from '../../helpers/scratch';
import { long } from '../../helpers/long';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;

describe('sense: session states', () => {
  const box = scratch();
  let path: string;
  let cursor: unknown;
  beforeEach(() => {
    path = box.path('work-events.jsonl');
    cursor = undefined;
    writeFileSync(path, '');
  });

  const at = (minute: number, type: string, more: object = {}): void =>
    appendFileSync(
      path,
      `${JSON.stringify({ ts: toIso(NOON + minute * MINUTE), type, session: 'a', slug: null, repo: 'app', ...more })}\n`,
    );

  async function collect(nowMs: number, timezone = 'UTC'): Promise<Collected> {
    const dayStartMs = dayBounds(dayOf(nowMs, timezone), timezone).startMs;
    const got = await agentSessionSource({
      path,
      timezone,
      machineId: 'm1',
      config: { repos: ['/src/app'] },
    }).collect({
      nowMs,
      dayStartMs,
      cursor,
    });
    cursor = JSON.parse(JSON.stringify(got.cursor));
    return got;
  }

  /** The stored changes as `MINUTE STATE`, with what else is known. */
  async function changes(minute: number): Promise<string[]> {
    const { events } = await collect(NOON + minute * MINUTE);
    return events
      .filter(({ type }) => type === 'session-state')
      .map(({ ts, detail }) => {
        const { session, state, reason, prompt, since } = detail as Record<string, string | undefined>;
        const words = [
          session === 'a' ? undefined : session,
          state,
          reason,
          prompt && 'prompt',
          since && 'since',
        ];
        return [((parseIso(ts) ?? 0) - NOON) / MINUTE, ...words.filter(Boolean)].join(' ');
      });
  }

  it('books the time that a question was open as waiting', async () => {
    at(1, 'prompt');
    at(2, 'tool-before', { tool: 'AskUserQuestion', asks: 'question', call: 'q1' });
    at(3, 'tool-after', { tool: 'Bash' });
    at(12, 'tool-after', { tool: 'AskUserQuestion', call: 'q1' });
    at(13, 'stop', { reason: 'rate_limit', until: '18:00' });
    expect(await changes(14)).to.deep.equal([
      '1 working prompt',
      '2 waiting question',
      '12 working',
      '13 ready',
    ]);
  });

  it('ends an interrupted turn, but not the turn after it', async () => {
    at(1, 'prompt');
    at(2, 'stop', { reason: 'interrupted' });
    at(4, 'prompt');
    at(3, 'stop', { reason: 'interrupted' });
    expect(await changes(5)).to.deep.equal(['1 working prompt', '2 ready', '4 working prompt']);
  });

  it('marks sessions outside the watched repositories', async () => {
    at(1, 'prompt');
    at(1, 'prompt', { session: 'b', repo: 'client' });
    at(1, 'prompt', { session: 'c', repo: null });
    const { events } = await collect(NOON + 2 * MINUTE);
    const marks = events
      .filter(({ type }) => type === 'session-state')
      .map(({ detail }) => [detail?.['session'], detail?.['otherFolder']]);
    expect(marks).to.deep.equal([
      ['a', undefined],
      ['b', true],
      ['c', true],
    ]);
  });

  it('stores a change with the session, its assistant, repository and branch', async () => {
    at(1, 'prompt', { branch: 'main', assistant: 'codex', machine: 'm1' });
    const { events } = await collect(NOON + 2 * MINUTE);
    expect(events.at(-1)).to.deep.equal({
      ts: toIso(NOON + MINUTE),
      type: 'session-state',
      source: 'agentSession',
      repo: 'app',
      detail: {
        session: 'codex:a',
        state: 'working',
        assistant: 'codex',
        branch: 'main',
        prompt: true,
        machine: 'm1',
      },
    });
  });

  it('stores each change and each prompt once', async () => {
    at(0, 'session-start', { reason: 'startup' });
    at(1, 'prompt');
    for (const minute of [2, 3, 4]) at(minute, 'tool-before', { tool: 'Bash' });
    at(5, 'notification', { reason: 'permission_prompt' });
    at(6, 'notification', { reason: 'permission_prompt' });
    expect(await changes(6)).to.deep.equal(['0 ready', '1 working prompt', '5 waiting permission_prompt']);
    expect(await changes(7)).to.deep.equal([]);
    at(8, 'tool-after', { tool: 'Bash' });
    at(9, 'prompt');
    at(10, 'stop');
    at(11, 'session-end');
    expect(await changes(12)).to.deep.equal(['8 working', '9 working prompt', '10 ready', '11 over']);
  });

  it('keeps a turn that is over ready at a reminder, and waiting at a question', async () => {
    at(0, 'prompt');
    at(1, 'stop');
    at(2, 'notification', { reason: 'idle_prompt' });
    at(3, 'prompt');
    at(4, 'notification', { reason: 'auth_success' });
    at(5, 'notification', { reason: 'elicitation_dialog' });
    expect(await changes(6)).to.deep.equal([
      '0 working prompt',
      '1 ready',
      '3 working prompt',
      '5 waiting elicitation_dialog',
    ]);
  });

  it('stays waiting for a subagent while others continue', async () => {
    at(0, 'prompt');
    at(1, 'notification', { reason: 'permission_prompt', agent: 'x' });
    at(2, 'tool-after', { agent: 'y' });
    at(3, 'tool-after', { agent: 'x' });
    expect(await changes(4)).to.deep.equal(['0 working prompt', '1 waiting permission_prompt', '3 working']);
  });

  it('stays waiting until each of several requests is answered, in one capture or two', async () => {
    at(0, 'prompt');
    at(1, 'notification', { reason: 'permission_prompt', tool: 'Bash', agent: 'x' });
    at(2, 'notification', { reason: 'permission_prompt', tool: 'Edit', agent: 'y' });
    at(3, 'notification', { reason: 'permission_prompt' });
    expect(await changes(3)).to.deep.equal(['0 working prompt', '1 waiting permission_prompt']);
    at(4, 'tool-after', { tool: 'Edit', agent: 'y' });
    expect(await changes(5)).to.deep.equal([]);
    at(6, 'tool-after', { tool: 'Bash', agent: 'x' });
    at(7, 'notification', { reason: 'permission_prompt', agent: 'x' });
    at(8, 'stop');
    at(9, 'tool-after', { agent: 'x' });
    expect(await changes(10)).to.deep.equal(['6 working', '7 waiting permission_prompt', '9 ready']);
  });

  it('begins each day with the states that began before it', async () => {
    at(11 * 60, 'prompt');
    expect(await changes(11 * 60 + 30)).to.deep.equal(['660 working prompt']);
    for (const minute of [20, 40, 55]) at(11 * 60 + minute, 'tool-after');
    expect(await changes(12 * 60 + 5)).to.deep.equal(['720 working since']);
    expect(await changes(12 * 60 + 7)).to.deep.equal([]);
  });

  it('ends a silent session at its last sign of life', async () => {
    at(0, 'prompt');
    at(10, 'tool-after');
    expect(await changes(39)).to.deep.equal(['0 working prompt']);
    expect(await changes(41)).to.deep.equal(['10 over']);
    at(50, 'tool-after');
    at(90, 'tool-after');
    expect(await changes(91), 'whether a capture ran meanwhile or not').to.deep.equal([
      '50 working',
      '50 over',
      '90 working',
    ]);
  });

  it('ends a session whose process is gone when it was last seen running', async () => {
    const gone = { pid: 999_999_999, started: '1', boot: 'other', namespace: '' };
    at(0, 'prompt', { process: gone, machine: 'm1' });
    expect(await changes(1)).to.deep.equal(['0 working prompt']);
    expect(await changes(3)).to.deep.equal(['0 over']);
  });

  it('does not check the processes of another machine', async () => {
    const gone = { pid: 999_999_999, started: '1', boot: 'other', namespace: '' };
    at(0, 'prompt', { process: gone, machine: 'm2' });
    await changes(1);
    expect(await changes(3)).to.deep.equal([]);
  });

  it('takes earlier days at the first capture for the state at the start of the day only', async () => {
    at(-30 * 60, 'prompt');
    at(-13 * 60, 'notification', { reason: 'permission_prompt' });
    at(-10 * 60, 'stop');
    expect(await changes(2)).to.deep.equal(['-720 waiting permission_prompt since', '-600 ready']);
  });

  long('starts over from a damaged cursor', async () => {
    at(0, 'prompt');
    cursor = {
      offset: 0,
      head: '',
      lastMs: 0,
      states: { known: { a: { state: 'gone' }, b: 7 }, nextDayMs: 0 },
    };
    expect(await changes(2)).to.deep.equal(['0 working prompt']);
  });
});
