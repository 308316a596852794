import { expect } from 'chai';

import { folder, withSlugs } from '../../../src/lib/sessions/fold';
import { emptySessions, MAX_AGENTS, type Session } from '../../../src/lib/sessions/session';
import { namelessSlug } from '../../../src/lib/sessions/slug';
import { INTERRUPTED, QUESTION_TOOL, type WorkEvent } from '../../../src/lib/sessions/work-events';

const at = (second: number): string => new Date(Date.UTC(2026, 10, 20, 9) + second * 1000).toISOString();
const NAMELESS = namelessSlug('x');

/** An event of a session at a second; its slug is that of the session unless another is given. */
const on = (second: number, type: string, more: object = {}): WorkEvent =>
  ({ ts: at(second), type, session: 'x', slug: 'slug-x', repo: 'shop', ...more }) as unknown as WorkEvent;

function statesAfter(...events: WorkEvent[]): Record<string, Session> {
  const state = emptySessions();
  const { take } = folder(state, { dayOf: (ms) => new Date(ms).toISOString().slice(0, 10) });
  events.forEach(take);
  return state.sessions;
}

function after(...events: WorkEvent[]): Session {
  const [session, ...others] = Object.values(statesAfter(...events));
  if (session === undefined || others.length > 0) throw new Error('not one session');
  return session;
}

const [start, prompt, stop] = [on(0, 'session-start'), on(1, 'prompt'), on(5, 'stop')];
const agent = (second: number, type: 'start' | 'stop', id?: string): WorkEvent =>
  on(second, `subagent-${type}`, id === undefined ? {} : { agent: id });

describe('a session after its events', () => {
  it('has the agents that have begun and not ended', () => {
    const begun = [start, prompt, agent(2, 'start', 'a'), agent(3, 'start', 'b'), agent(3, 'start', 'a')];
    expect(after(...begun).agents).to.deep.equal(['b', 'a']);
    expect(after(...begun, agent(4, 'stop', 'b')).agents).to.deep.equal(['a']);
    expect(after(...begun, agent(4, 'start')).agents).to.deep.equal(['b', 'a']);
    expect(after(...begun, on(4, 'stop')).agents).to.deep.equal(['b', 'a']);
    expect(after(...begun, on(4, 'session-start', { reason: 'compact' })).agents).to.deep.equal(['b', 'a']);
    for (const type of ['session-start', 'session-end'])
      expect(after(...begun, on(4, type)).agents, type).to.deep.equal([]);
    const many = Array.from({ length: MAX_AGENTS + 5 }, (_, index) => agent(2, 'start', `a${index}`));
    expect(after(start, ...many).agents).to.deep.equal(many.slice(5).map((event) => event.agent));
  });

  it('knows when the last agent ended after the turn, until the next turn', () => {
    const two = [start, prompt, agent(2, 'start', 'a'), agent(3, 'start', 'b')];
    const done = [...two, stop, agent(6, 'stop', 'a'), agent(7, 'stop', 'b')];
    expect(after(...done).agentsDoneAt).to.equal(at(7));
    expect(after(...done, agent(8, 'stop', 'c')).agentsDoneAt).to.equal(at(7));
    expect(after(...done, on(9, 'prompt'))).not.to.have.property('agentsDoneAt');
    for (const events of [
      [...two, stop, agent(6, 'stop', 'a')],
      [...two, agent(3, 'stop', 'a'), agent(4, 'stop', 'b'), stop],
      [start, prompt, stop, agent(6, 'stop', 'a')],
      [start, prompt, stop, agent(6, 'start', 'a')],
    ])
      expect(after(...events)).not.to.have.property('agentsDoneAt');
  });

  it('keeps the error that ended its turn until the main agent goes on', () => {
    const failed = [start, prompt, on(5, 'stop', { reason: 'rate_limit', until: at(99) })];
    const failure = { reason: 'rate_limit', until: at(99) };
    for (const next of [
      on(6, 'stop', { reason: INTERRUPTED }),
      on(6, 'notification', { reason: 'idle_prompt' }),
      on(6, 'tool-after', { tool: 'Bash', agent: 'a' }),
      on(6, 'session-start', { reason: 'compact' }),
      agent(6, 'stop', 'a'),
    ])
      expect(after(...failed, next).failure, next.type).to.deep.equal(failure);
    for (const type of ['prompt', 'stop', 'tool-before', 'session-start', 'session-end'])
      expect(after(...failed, on(6, type)), type).not.to.have.property('failure');
    expect(after(start, prompt, on(5, 'stop', { reason: 'x' })).failure).to.deep.equal({ reason: 'x', until: null });
    expect(after(start, prompt, on(5, 'stop', { reason: INTERRUPTED }))).not.to.have.property('failure');
  });

  it('does not end by an error of the turn before', () => {
    const late = on(3, 'stop', { reason: 'rate_limit' });
    expect(after(start, on(4, 'prompt'), late)).to.include({ activity: 'working', turnAt: at(4) });
    expect(after(start, on(3, 'prompt'), late).activity).to.equal('waiting');
    expect(after(start, on(4, 'prompt'), on(3, 'stop')).activity).to.equal('waiting');
    expect(after(late).failure).to.deep.equal({ reason: 'rate_limit', until: null });
  });

  it('does not ask what was asked before its turn ended', () => {
    const asks = (second: number) => on(second, 'tool-before', { tool: QUESTION_TOOL, asks: 'question' });
    expect(after(start, prompt, stop, asks(5)).activity).to.equal('waiting');
    expect(after(start, prompt, stop, asks(5)).requests).to.deep.equal([]);
    expect(after(start, prompt, stop, asks(6)).requests).to.have.length(1);
    expect(after(start, prompt, asks(1)).requests).to.have.length(1);
    expect(after(start, prompt, stop, on(5, 'tool-before', { tool: 'Bash' })).activity).to.equal('working');
  });

  it('waits since its turn ended or a request came, until neither is so', () => {
    const asked = on(3, 'notification', { reason: 'permission_prompt', tool: 'Bash', agent: 'a' });
    expect(after(start).waitingSince).to.equal(at(0));
    expect(after(start, prompt)).not.to.have.property('waitingSince');
    expect(after(start, prompt, stop, on(6, 'notification', { reason: 'idle_prompt' })).waitingSince).to.equal(at(5));
    expect(after(start, prompt, asked).waitingSince).to.equal(at(3));
    expect(after(start, prompt, asked, on(4, 'tool-after', { tool: 'Read' })).waitingSince).to.equal(at(3));
    expect(after(start, prompt, asked, on(4, 'subagent-stop', { agent: 'a' }))).not.to.have.property('waitingSince');
  });

  it('has the turn, tool, model, assistant and place of its latest events', () => {
    const worked = on(3, 'tool-before', { tool: 'Bash', model: 'm', assistant: 'codex', branch: 'b', repo: null });
    const session = after(start, prompt, worked, on(4, 'tool-after', { agent: 'a', tool: 'Edit' }));
    const place = { model: 'm', assistant: 'codex', branch: 'b', repo: 'shop' };
    expect(session).to.include({ ...place, turnAt: at(1), tool: 'Bash', mode: 'native', updatedAt: at(4) });
    expect(after(start, prompt, worked, on(6, 'prompt'))).to.include({ ...place, turnAt: at(6) });
    expect(after(start, prompt, worked, on(6, 'prompt'))).not.to.have.property('tool');
    expect(after(start)).to.include({ turnAt: null, phase: 'native', artifact: null });
  });

  it('has the process of its start, or none if its hooks come from several', () => {
    const by = (second: number, type: string, pid: number, more: object = {}) =>
      on(second, type, { process: { pid, started: 's', ...more } });
    expect(after(by(0, 'session-start', 1), by(1, 'prompt', 1)).process).to.deep.equal({ pid: 1, started: 's' });
    expect(after(by(0, 'prompt', 1)).process).to.deep.equal({ pid: 1, started: 's' });
    for (const other of [by(1, 'prompt', 2), by(1, 'prompt', 1, { started: 't' })])
      expect(after(by(0, 'session-start', 1), other, by(2, 'prompt', 1)).process).to.equal(null);
    expect(after(by(0, 'prompt', 1), by(1, 'prompt', 2), by(2, 'session-start', 3)).process?.pid).to.equal(3);
    expect(after(by(0, 'prompt', 1), by(1, 'prompt', 2, { isClient: true })).process?.pid).to.equal(2);
  });

  it('is named by its day, repository and id, unless an event names it', () => {
    expect(after(on(0, 'prompt', { slug: null })).slug).to.match(/^20261120-shop-/);
    expect(after(on(0, 'prompt', { slug: null, repo: null })).slug).to.match(/^20261120-session-/);
    expect(after(on(0, 'prompt')).slug).to.equal('slug-x');
    expect(Object.keys(statesAfter(on(0, 'session-end')))).to.deep.equal([]);
  });

  it('moves to the name of its first file, and ends at that of another', () => {
    const file = (second: number, slug: string, session = 'x') => on(second, 'artifact', { slug, session, artifact: true });
    const named = after(start, on(1, 'prompt', { terminal: { tty: 't' } }), file(2, 'file-1'));
    expect(named).to.deep.include({ slug: 'file-1', mode: 'algorithm', sessionIds: ['x'], terminal: { tty: 't' } });
    expect(after(file(2, 'file-1')).slug).to.equal('file-1');
    const both = statesAfter(start, on(1, 'prompt', { session: 'y' }), file(2, 'file-1'));
    expect(both['slug-x']).to.deep.include({ sessionIds: ['y'], activity: 'working' });
    expect(both['file-1']).to.deep.include({ sessionIds: ['x'], startedAt: at(2) });
  });

  it('loses its names for good when its work is restricted', () => {
    const place = { branch: 'b', worktree: 'w', transcript: 't' };
    const restricted = [on(0, 'session-start', place), on(1, 'prompt', { slug: NAMELESS, ...place, repo: null })];
    const session = after(...restricted, on(2, 'stop', place));
    expect(session).to.deep.include({ slug: NAMELESS, repo: null, task: null, project: null, activity: 'waiting' });
    for (const key of Object.keys(place)) expect(session).not.to.have.property(key);
    expect(after(...restricted, on(3, 'artifact', { slug: 'file-1', artifact: true })).slug).to.equal(NAMELESS);
  });

  it('takes a missing name from other events of the session', () => {
    const slugOf = (...slugs: (string | null)[]) =>
      withSlugs(slugs.map((slug, index) => on(index, 'prompt', { slug }))).map(({ slug }) => slug);
    expect(slugOf(null, 'one', null, 'two')).to.deep.equal(['one', 'one', 'one', 'two']);
    expect(slugOf(null, NAMELESS, 'one')).to.deep.equal(['one', NAMELESS, 'one']);
    expect(slugOf(null, null)).to.deep.equal([null, null]);
    const file = [on(0, 'prompt', { slug: null }), on(1, 'artifact', { slug: 'file', artifact: true })];
    expect(withSlugs(file).map(({ slug }) => slug)).to.deep.equal([null, 'file']);
    expect(withSlugs([on(0, 'prompt', { slug: null }), on(1, 'prompt', { session: 'y' })])[0]?.slug).to.equal(null);
  });
}); // prettier-ignore
