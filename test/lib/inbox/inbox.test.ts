import { expect } from 'chai';

import { checkEnd, findRow } from '../../../src/lib/inbox/find';
import { mark, readMarks, unmarked } from '../../../src/lib/inbox/marks';
import { orderedRows, type InboxWait } from '../../../src/lib/inbox/row';
import { inboxLines, inboxText } from '../../../src/lib/inbox/view';
import { issueWaits, sessionWaits } from '../../../src/lib/inbox/waits';
import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { parseSession, type Session } from '../../../src/lib/sessions/session';
import { testArea } from '../../helpers/area';
import { thrown } from '../../helpers/errors';
import { seeded } from '../../helpers/random';

const NOW = Date.parse('2026-11-20T09:00:00.000Z');
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();

function session(slug: string, more: Partial<Session> = {}): Session {
  return parseSession(slug, {
    ...{
      sessionIds: [slug],
      startedAt: ago(60),
      updatedAt: ago(5),
      activity: 'waiting',
      waitingSince: ago(5),
    },
    ...{ repo: 'shop', branch: slug, ...more },
  }) as Session;
}

function issue(number: number, more: Partial<Parameters<typeof issueWaits>[0][number]> = {}) {
  const url = `https://github.com/ann/work/issues/${number}`;
  return {
    ...{ number, title: `Issue ${number}`, url, state: 'open', status: null, priority: null },
    ...{ updatedAt: ago(30), due: null, ...more },
  };
}

const asks = (tool: string, reason: string, minutes: number): Session['requests'] => [
  { agent: null, reason, tool, at: ago(minutes) },
];

const SESSIONS = [
  session('asks', { requests: asks('Bash', 'permission_prompt', 5) }),
  session('question', { requests: asks('AskUserQuestion', 'question', 9), waitingSince: ago(9) }),
  session('plan', { requests: asks('ExitPlanMode', 'plan', 1), waitingSince: ago(1) }),
  session('limit', { failure: { reason: 'rate_limit', until: null }, waitingSince: ago(2) }),
  session('turn'),
  session('agents', { agentsDoneAt: ago(3) }),
  session('works', { activity: 'working' }),
  session('fresh', { updatedAt: ago(60) }),
  session('over', { activity: 'ended' }),
];

describe('the inbox', () => {
  const waits = sessionWaits(SESSIONS, NOW);
  const rows = orderedRows(waits, NOW);

  it('has the sessions that wait, and neither those at work nor those that have just started', () => {
    const kinds = Object.fromEntries(waits.map(({ id, kind, why }) => [id, `${kind}: ${why}`]));
    expect(kinds).to.deep.equal({
      asks: 'permission: asks to run Bash',
      question: 'question: asks you a question',
      plan: 'plan: has a plan for you to approve',
      limit: 'limit: stopped: rate limit',
      turn: 'turn: turn finished',
      agents: 'agents: agents finished',
    });
  });

  it('says which requests the hooks of an assistant can not answer', () => {
    const why = (assistant: 'codex' | 'copilot' | 'opencode' | 'qwen' | 'cursor', tool: string): string => {
      const [wait] = sessionWaits([session('x', { assistant, requests: asks(tool, 'x', 1) })], NOW);
      return wait?.why ?? '';
    };
    expect(why('codex', 'Bash')).to.equal('asks to run Bash');
    expect(why('codex', 'question')).to.equal('asks you a question, in its window only');
    for (const assistant of ['copilot', 'opencode', 'qwen', 'cursor'] as const)
      expect(why(assistant, 'Bash'), assistant).to.equal('asks to run Bash, in its window only');
  });

  it('has due reminders, and issues that need you or are in review', () => {
    const found = issueWaits(
      [
        issue(1, { due: ago(5) }),
        issue(2, { due: new Date(NOW + 60_000).toISOString() }),
        issue(3, { status: 'needs-human' }),
        issue(4, { status: 'in-review' }),
        issue(5, { status: 'ready' }),
        issue(6, { status: 'needs-human', state: 'closed' }),
      ],
      NOW,
    );
    expect(found.map(({ id, why, since }) => [id, why, since])).to.deep.equal([
      ['#1', 'due', ago(5)],
      ['#3', 'needs you', ago(30)],
      ['#4', 'in review', ago(30)],
    ]);
  });

  it('puts what blocks an agent first, longest wait first, and then priority times age', () => {
    const priorities = ['P0', 'P1', 'P2', 'P3', null];
    const issues = issueWaits(
      priorities.map((priority, at) => issue(at + 1, { priority, status: 'needs-human' })),
      NOW,
    );
    const all = orderedRows([...issues, ...waits], NOW);
    const expected = ['question', 'asks', 'limit', 'plan', '#1', '#2', '#3', '#5', '#4', 'turn', 'agents'];
    expect(all.map(({ id }) => id)).to.deep.equal(expected);
    expect(all.map(({ rule }) => rule).slice(3, 6)).to.deep.equal([
      'blocks an agent for 1 m',
      'P0 (×8), 30 m',
      'P1 (×4), 30 m',
    ]);
    expect(all[7]?.rule).to.equal('no priority, as P2 (×2), 30 m');
    const older = issueWaits([issue(9, { priority: 'P3', status: 'in-review', updatedAt: ago(3000) })], NOW);
    expect(orderedRows([...issues, ...older], NOW)[0]?.id).to.equal('#9');
  });

  it('orders any waits the same, in whichever order they come', () => {
    const { next } = seeded(7);
    for (let round = 0; round < 100; round += 1) {
      const some = Array.from({ length: 12 }, (_, at): InboxWait => {
        const priority = `P${Math.floor(next() * 4)}`;
        const found = issueWaits(
          [issue(at, { priority, status: 'in-review', updatedAt: ago(next() * 99) })],
          NOW,
        );
        return { ...(found[0] as InboxWait), blocks: next() < 0.3 };
      });
      const ids = orderedRows(some, NOW).map(({ id }) => id);
      expect(
        orderedRows(
          [...some].sort(() => next() - 0.5),
          NOW,
        ).map(({ id }) => id),
      ).to.deep.equal(ids);
      const blocking = orderedRows(some, NOW).map(({ blocks }) => blocks);
      expect(blocking.lastIndexOf(true)).to.be.below(
        blocking.indexOf(false) === -1 ? 99 : blocking.indexOf(false),
      );
    }
  });

  it('finds a row by its name, id or words, and lists several', () => {
    const all = orderedRows([...waits, ...issueWaits([issue(12, { status: 'needs-human' })], NOW)], NOW);
    for (const text of ['#12', '12', 'issue 12']) expect(findRow(all, text).id).to.equal('#12');
    for (const text of ['asks', 'shop·asks', 'shop asks bash'])
      expect(findRow(all, text).id).to.equal('asks');
    expect(thrown(() => findRow(all, 'shop')).kind).to.equal('usage');
    expect(thrown(() => findRow(all, ' ')).kind).to.equal('not_found');
    const error = thrown(() => checkEnd(findRow(all, '12')));
    expect([error.kind, error.hint]).to.deep.equal([
      'conflict',
      'Run `steward work open 12`. To hide the row: steward inbox snooze 12 2h',
    ]);
    checkEnd(findRow(all, 'turn'));
  });

  it('keeps what is done and snoozed; a new wait of the same session is listed again', async () => {
    const area = testArea();
    try {
      area.write('state/.keep', '');
      const machine = { ...area.deps, clock: { ...area.deps.clock, now: () => NOW } };
      const [turn, agents] = waits.filter(({ canEnd }) => canEnd) as [InboxWait, InboxWait];
      await mark(machine, [turn], null);
      await mark(machine, [agents], NOW + 60_000);
      const left = (nowMs: number): string[] =>
        unmarked([turn, agents], readMarks(area.area.inbox), nowMs).map(({ id }) => id);
      expect(left(NOW)).to.deep.equal([]);
      expect(left(NOW + 60_000)).to.deep.equal(['agents']);
      expect(unmarked([{ ...turn, since: ago(1) }], readMarks(area.area.inbox), NOW)).to.have.length(1);
      const later = { ...machine, clock: { ...machine.clock, now: () => NOW + 61 * 86_400_000 } };
      await mark(later, [], null);
      expect(readMarks(area.area.inbox)).to.deep.equal({});
      area.write('state/inbox.json', '{"marks":{"a":5},');
      expect(readMarks(area.area.inbox)).to.deep.equal({});
    } finally {
      area.remove();
    }
  });

  it('fits any terminal, and says the age of each source', () => {
    for (const columns of [20, 40, 59, 60, 80, 100, 200])
      for (const why of [false, true])
        for (const line of inboxLines(rows, {
          columns,
          color: false,
          unicode: true,
          isTTY: true,
          nowMs: NOW,
          why,
        }))
          expect(displayWidth(line), line).to.be.at.most(columns);
    const terminal = { columns: 80, color: false, unicode: true, isTTY: true, nowMs: NOW };
    const asOf = { sessions: ago(0), issues: ago(2), hooks: ago(0), reviews: null };
    expect(inboxText({ rows: [], count: 0, snoozed: 0, timezone: 'UTC', asOf }, terminal)).to.equal(
      'Nothing waits for you.\n\nRead: sessions, hooks now · issues 2 m ago · reviews not read yet',
    );
    expect(
      inboxText({ rows, count: 6, snoozed: 0, timezone: 'UTC', asOf }, terminal).split('\n')[0],
    ).to.match(/^shop·question {2}asks you a question +9 m$/);
  });
});
