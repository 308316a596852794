import { expect } from 'chai';

import { emptySessions, parseSession } from '../../../src/lib/sessions/session';
import { orderedRows } from '../../../src/lib/inbox/row';
import { sessionWaits } from '../../../src/lib/inbox/waits';
import { findSession } from '../../../src/lib/sessions/find';
import { sessionsReport } from '../../../src/lib/sessions/rows';
import { toIso } from '../../../src/lib/platform/time/clock';
import { sessionsText } from '../../../src/lib/sessions/view';

const NOW = Date.parse('2026-11-24T12:00:00Z');
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const SPOOL = { waiting: 0, dead: 0, deadFolder: '', oldest: null, running: 0, problems: [] } as never;

describe('the order of sessions', () => {
  const state = emptySessions();
  const add = (slug: string, activity: string, updated: number, tool?: string): void => {
    const requests = tool === undefined ? [] : [{ agent: null, reason: null, tool, at: ago(updated) }];
    const waitingSince = activity === 'waiting' || tool !== undefined ? ago(updated) : undefined;
    const stored = { startedAt: ago(60), updatedAt: ago(updated), activity, requests, waitingSince };
    state.sessions[slug] = parseSession(slug, { ...stored, sessionIds: [slug] })!;
  };
  add('20261124-a-0001', 'working', 1);
  add('20261124-b-0002', 'waiting', 50);
  add('20261124-c-0003', 'working', 5, 'Bash');
  add('20261124-d-0004', 'waiting', 3);
  add('20261124-e-0005', 'working', 9, 'AskUserQuestion');
  add('20261124-f-0006', 'ended', 2);
  const ORDER = ['e-0005', 'c-0003', 'b-0002', 'd-0004', 'a-0001'].map((end) => `20261124-${end}`);

  it('is first who asks, then whose turn is finished, the longest wait first, then who works', () => {
    const { sessions } = sessionsReport(state, SPOOL, { nowMs: NOW, all: false });
    expect(sessions.map(({ slug }) => slug)).to.deep.equal(ORDER);
  });

  it('is the same for `go`, which takes the printed numbers', () => {
    const [first] = orderedRows(sessionWaits(Object.values(state.sessions), NOW), NOW);
    expect(first?.slug).to.equal(ORDER[0]);
    const all = sessionsReport(state, SPOOL, { nowMs: NOW, all: true });
    for (const columns of [40, 80, 120]) {
      const text = sessionsText(all, { columns, color: false, nowMs: NOW });
      const numbered = text.split('\n').flatMap((line) => {
        const [, number, rest] = /^(\d+) {2}(.*)$/.exec(line) ?? [];
        return number === undefined ? [] : [[number, rest!.split(/ {2}/)[0]]];
      });
      expect(numbered).to.deep.equal(ORDER.map((slug, index) => [String(index + 1), slug]));
      for (const [number = '', slug = ''] of numbered) {
        expect(findSession(state, number, NOW).slug).to.equal(slug);
      }
    }
  });

  it('names the time at which a limit is reset, until it has passed', () => {
    const limited = emptySessions();
    const [slug = '', session] = Object.entries(state.sessions)[0] ?? [];
    if (session === undefined) throw new Error('No session.');
    const failure = { reason: 'rate_limit', until: toIso(NOW + 60_000) };
    limited.sessions[slug] = { ...session, activity: 'waiting', requests: [], failure, isAlive: true };
    const words = (nowMs: number): string | null | undefined =>
      sessionsReport(limited, SPOOL, { nowMs, all: false }).sessions[0]?.waitingFor;
    expect(words(NOW)).to.match(/^stopped: rate limit until \d\d:\d\d$/);
    expect(words(NOW + 61_000)).to.equal('stopped: rate limit');
  });

  it('never cuts what a session asks for at 80 columns: its name is cut first', () => {
    const long = emptySessions();
    const names = { repo: 'a-repository-with-a-very-long-name', branch: 'feature/with-a-long-name' };
    for (const [slug, session] of Object.entries(state.sessions))
      long.sessions[slug] = { ...session, ...names, assistant: 'opencode' };
    long.sessions[ORDER[2]!]!.failure = { reason: 'rate_limit', until: toIso(NOW + 26 * 3_600_000) };
    const report = sessionsReport(long, SPOOL, { nowMs: NOW, all: false });
    const text = sessionsText(report, { columns: 80, color: false, nowMs: NOW });
    for (const words of [
      'asks to run Bash',
      'asks you a question',
      /stopped: rate limit until \w{3} \d\d:\d\d/,
    ])
      expect(text).to.match(words instanceof RegExp ? words : new RegExp(words));
    for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(80);
  });
});
