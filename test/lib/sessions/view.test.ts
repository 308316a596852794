import { expect } from 'chai';

import type { InboxRow } from '../../../src/lib/inbox/row';
import { inboxLines } from '../../../src/lib/inbox/view';
import { sessionsText, sessionText } from '../../../src/lib/sessions/view';
import { type SessionDetail, type SessionsReport } from '../../../src/lib/sessions/rows';

const TERMINAL = { isTTY: true, color: false, unicode: true };

const NONE: SessionsReport = {
  sessions: [],
  working: 0,
  waiting: 0,
  crashed: 0,
  spool: { waiting: 0, unreadable: 0, dead: 0, oldest: null, deadFolder: '/dead' },
};

const DETAIL: Omit<SessionDetail, 'startedAt' | 'updatedAt' | 'phaseHistory'> = {
  slug: 'fix-login',
  name: 'site·login',
  givenName: null,
  status: 'working',
  branch: 'login',
  worktree: null,
  assistant: 'claude-code',
  model: null,
  activity: 'editing',
  waitingSince: null,
  title: null,
  elsewhere: null,
  place: null,
  pid: null,
  waitingFor: null,
  task: null,
  project: null,
  repo: 'site',
  mode: 'algorithm',
  phase: 'execute',
  subagents: 0,
  go: null,
  sessionIds: ['s1'],
  artifact: null,
  github_issue: null,
  github_issue_url: null,
  effort: null,
  terminal: null,
};

describe('sessions: what a person is shown', () => {
  for (const all of [false, true]) {
    it(`says that there is none in lines that fit (${all ? 'of all' : 'now'})`, () => {
      const text = sessionsText(NONE, { columns: 40, color: false, nowMs: 0, all });
      expect(text).to.match(/^No sessions /);
      for (const line of text.split('\n')) expect(line.length).to.be.at.most(40);
    });
  }

  it('leaves a title out that has no room for a word', () => {
    const at = new Date(0).toISOString();
    const session = {
      ...{ ...DETAIL, startedAt: at, updatedAt: at, phaseHistory: [], title: 'Draw the chart' },
      ...{ status: 'waiting' as const, waitingFor: 'asks to run Bash', waitingSince: at },
    };
    const lineAt = (columns: number): string =>
      sessionsText({ ...NONE, sessions: [session] }, { columns, color: false, nowMs: 0 });
    expect(lineAt(80)).to.match(/Bash .* execute · Draw the/i);
    const crowded = { ...session, name: `site·${'x'.repeat(25)}` };
    const text = sessionsText({ ...NONE, sessions: [crowded] }, { columns: 80, color: false, nowMs: 0 });
    expect(text).to.include('asks to run Bash').and.not.include('…');
  });

  for (const columns of [40, 80, 100]) {
    it(`tells equal names apart in ${columns} columns, however long they are`, () => {
      const at = new Date(0).toISOString();
      const named = (end: string): SessionDetail => ({
        ...{
          ...DETAIL,
          startedAt: at,
          updatedAt: at,
          phaseHistory: [],
          name: `site·${'x'.repeat(90)} (${end})`,
        },
        ...{ status: 'waiting', waitingFor: 'asks to run linear create_issue', waitingSince: at },
      });
      const sessions = [named('9a11'), named('e785')];
      const lines = sessionsText({ ...NONE, sessions }, { columns, color: false, nowMs: 0 }).split('\n');
      expect(lines.filter((line) => /site·.*… \((9a11|e785)\)/.test(line))).to.have.length(2);
      const rows = sessions.map(({ name }) => ({ name, why: 'asks to run Bash', since: at }) as InboxRow);
      const inbox = inboxLines(rows, { ...TERMINAL, columns, nowMs: 0 }).join('\n');
      expect(inbox).to.match(/… \(9a11\)[^]*… \(e785\)/);
      for (const line of [...lines, ...inbox.split('\n')]) expect(line.length, line).to.be.at.most(columns);
      const long = { name: `site (${'x'.repeat(120)})`, why: 'asks to run Bash', since: at } as InboxRow;
      expect(inboxLines([long], { ...TERMINAL, columns, nowMs: 0 }).join('\n')).to.contain(
        'asks to run Bash',
      );
    });
  }

  for (const columns of [72, 80, 100]) {
    it(`names the assistant in full in ${columns} columns, however long the rest is`, () => {
      const at = new Date(0).toISOString();
      const long = {
        ...DETAIL,
        startedAt: at,
        updatedAt: at,
        phaseHistory: [],
        name: `site·${'x'.repeat(60)}`,
      };
      const waiting = {
        status: 'waiting' as const,
        waitingFor: 'permission to use a tool',
        waitingSince: at,
      };
      const report = {
        ...NONE,
        sessions: [
          { ...long, ...waiting, assistant: 'opencode', task: 'A task', place: 'tmux 1:2' },
          { ...long, status: 'crashed' as const, assistant: 'copilot' },
          long,
        ],
      };
      const lines = sessionsText(report, { columns, color: false, nowMs: 59 * 60_000 }).split('\n');
      expect(lines.map((line) => /opencode|copilot/.exec(line)?.[0])).to.deep.equal([
        'opencode',
        'copilot',
        undefined,
      ]);
      for (const line of lines) expect(line.length, line).to.be.at.most(columns);
    });
  }

  it('tells the times of one session as the clock on the wall does', () => {
    const at = '2026-11-20T09:00:00.000Z';
    const detail: SessionDetail = {
      ...DETAIL,
      startedAt: at,
      updatedAt: at,
      phaseHistory: [{ phase: 'execute', at, source: 'hook' }],
    };
    const nowMs = Date.parse(at) + 46 * 60_000;
    const text = sessionText(detail, { nowMs, localTime: () => '10:00' });
    expect(text).to.match(/^started +10:00, 46 m ago$/m);
    expect(text).to.match(/^last active +10:00, 46 m ago$/m);
    expect(text).to.match(/^10:00 +Execute +hook$/m);
    expect(text).not.to.include('2026-11-20T');
  });

  it('names no phase of a session without a session file', () => {
    const at = '2026-11-20T09:00:00.000Z';
    const detail: SessionDetail = {
      ...DETAIL,
      startedAt: at,
      updatedAt: at,
      phase: 'native',
      phaseHistory: [{ phase: 'native', at, source: 'hook' }],
    };
    expect(sessionText(detail, { nowMs: Date.parse(at), localTime: () => '10:00' })).not.to.match(/native/i);
  });
});
