import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';

import { keepLimits, readStatusInput } from '../../../src/lib/assistant/status-input';
import {
  barText,
  NO_INPUT,
  statusLine,
  statusLineText,
  type StatusLine,
} from '../../../src/lib/cli/statusline-text';
import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { parseSession, type Session } from '../../../src/lib/sessions/session';
import { testArea } from '../../helpers/area';

const NOW = new Date(2026, 10, 20, 9, 0).getTime();
const at = (hours: number): number => (NOW + hours * 3_600_000) / 1000;

const INPUT = readStatusInput({
  model: { id: 'claude-opus-4-8', display_name: 'Opus 4.8' },
  context_window: { used_percentage: 41.6 },
  rate_limits: {
    five_hour: { used_percentage: 63, resets_at: at(3.5) },
    seven_day: { used_percentage: 31.4, resets_at: at(48) },
  },
});

describe('the status line', () => {
  const line: StatusLine = {
    ...INPUT,
    phase: 'execute',
    assistant: 'claude-code',
    session: 'Fix the login',
    waiting: 2,
    longestWaitMinutes: 74,
    budgetPercent: null,
    creationMinutes: 70,
    time: { totalMinutes: 70, heldUpMinutes: 0 },
  };
  const text = (columns: number, changes: Partial<StatusLine> = {}): string =>
    statusLineText({ ...line, ...changes }, { columns, nowMs: NOW });

  it('shows what the assistant tells, then the session and the day', () => {
    expect(text(160)).to.equal(
      'Opus 4.8 · context 42% · 5 h 63% until 12:30 · week 31% until Sun 09:00 · ▶ Execute · Fix the login · 2 waiting · 1 h 10 m today',
    );
    expect(text(160, { ...NO_INPUT, waiting: 0 })).to.equal('▶ Execute · Fix the login · 1 h 10 m today');
    const past = { usedPercent: 63, resetsAt: new Date(NOW - 1).toISOString() };
    expect(text(160, { fiveHour: past, sevenDay: null })).not.to.include('63%');
  });

  it("shows today's time and the held-up minutes", () => {
    const day = (totalMinutes: number, heldUpMinutes: number): string =>
      text(80, { ...NO_INPUT, waiting: 0, time: { totalMinutes, heldUpMinutes } });
    expect(day(192, 4.2)).to.equal('▶ Execute · Fix the login · 3 h 12 m today · held up 4 m');
    expect(day(192, 0)).to.equal('▶ Execute · Fix the login · 3 h 12 m today');
    expect(text(80, { ...NO_INPUT, waiting: 0, time: null })).to.equal('▶ Execute · Fix the login');
    expect(text(48, { ...NO_INPUT, waiting: 0, time: { totalMinutes: 192, heldUpMinutes: 4 } })).to.equal(
      '▶ Execute · Fix the login · held up 4 m',
    );
  });

  it('gives a bar what waits and the time today, without names', () => {
    const text = (shown: StatusLine, bar: string): string =>
      barText(shown, bar, NOW, ['/opt/a node', '/usr/bin/steward']);
    const own = '2 waiting, longest 1 h 14 m · 5 h 63% · week 31% · 1 h 10 m today';
    for (const bar of ['plain', 'polybar', 'i3blocks', 'tmux', 'starship'])
      expect(text(line, bar), bar).to.equal(own);
    const spent = { ...line, ...NO_INPUT, budgetPercent: 85, time: { totalMinutes: 192, heldUpMinutes: 4 } };
    expect(text(spent, 'genmon')).to.equal(
      '<txt>2 waiting, longest 1 h 14 m · budget 85% · 3 h 12 m today · held up 4 m</txt><txtclick>"/opt/a node" "/usr/bin/steward" open</txtclick>',
    );
    expect(JSON.parse(text(line, 'waybar'))).to.deep.equal({
      text: own,
      tooltip: [
        '2 waiting, longest 1 h 14 m',
        ...['5 h 63% until 12:30', 'week 31% until Sun 09:00', '1 h 10 m today'],
      ].join('\n'),
      class: 'waiting',
    });
    for (const bar of ['swiftbar', 'xbar'])
      expect(text(line, bar).split('\n')).to.deep.equal([
        own,
        '---',
        'Open the pages | shell="/opt/a node" param1="/usr/bin/steward" param2=open terminal=false',
      ]);
    const quiet = { ...line, ...NO_INPUT, waiting: 0, longestWaitMinutes: null, time: null };
    expect(JSON.parse(text(quiet, 'waybar'))).to.deep.equal({ text: '', tooltip: '', class: 'idle' });
    expect(text(quiet, 'xbar')).to.match(/^steward\n---\n/);
  });

  it('leaves out the least important parts in few columns', () => {
    expect(text(100)).to.equal(
      'Opus 4.8 · context 42% · 5 h 63% · week 31% · ▶ Execute · Fix the login · 2 waiting · 1 h 10 m today',
    );
    expect(text(80)).to.equal('context 42% · 5 h 63% · week 31% · ▶ Execute · Fix the login · 2 waiting');
    expect(text(40)).to.equal('▶ Execute · Fix the login · 2 waiting');
    expect(text(20)).to.equal('2 waiting');
    for (let columns = 1; columns < 130; columns += 1)
      expect(displayWidth(text(columns))).to.be.at.most(columns);
  });

  it('bounds and cleans what it reads', () => {
    expect(readStatusInput({})).to.deep.equal(NO_INPUT);
    const odd = readStatusInput({
      model: { display_name: `\u001b[31m${'x'.repeat(500)}\n` },
      context_window: { used_percentage: 1e9 },
      rate_limits: {
        five_hour: { used_percentage: 5, resets_at: 'soon' },
        seven_day: { used_percentage: -1 },
      },
    });
    expect(odd.model).to.match(/^x{39}…$/);
    expect(odd).to.deep.include({ contextPercent: 100, fiveHour: { usedPercent: 5, resetsAt: null }, sevenDay: null }); // prettier-ignore
    expect(readStatusInput({ model: 7, context_window: [], rate_limits: { five_hour: 'x' } })).to.deep.equal(NO_INPUT); // prettier-ignore
  });

  it('keeps the limits it sees, and writes them only when they change', () => {
    const area = testArea();
    try {
      const { limits } = area.area;
      keepLimits(limits, 'claude-code', NO_INPUT, NOW);
      expect(existsSync(limits)).to.equal(false);
      keepLimits(limits, 'claude-code', INPUT, NOW);
      const { ino } = statSync(limits);
      keepLimits(limits, 'claude-code', INPUT, NOW + 1000);
      expect(statSync(limits).ino).to.equal(ino);
      keepLimits(limits, 'other', INPUT, NOW + 1000);
      keepLimits(limits, 'claude-code', { ...INPUT, sevenDay: null }, NOW + 2000);
      const stored = JSON.parse(readFileSync(limits, 'utf8')) as { assistants: Record<string, object> };
      expect(stored.assistants['claude-code']).to.deep.equal({
        fiveHour: INPUT.fiveHour,
        sevenDay: null,
        seenAt: new Date(NOW + 2000).toISOString(),
      });
      expect(stored.assistants['other']).to.include({ seenAt: new Date(NOW + 1000).toISOString() });
    } finally {
      area.remove();
    }
  });

  it('counts all that wait for a shell, and the others for a session', () => {
    const iso = new Date(NOW).toISOString();
    const waits = (slug: string): Session =>
      parseSession(slug, {
        sessionIds: [`id-${slug}`],
        startedAt: '2026-01-01T00:00:00.000Z',
        updatedAt: iso,
      }) as Session;
    const state = { version: 1, cursor: { offset: 0, head: '' }, sessions: { a: waits('a'), b: waits('b') } };
    const day = { creationMinutes: null, time: null };
    const of = (session: string | undefined, others = 0, marks = {}): object =>
      statusLine(state, {
        ...{ session, input: NO_INPUT, day, nowMs: NOW, others, marks, budgetPercent: null },
        othersSince: others === 0 ? null : new Date(NOW - 600_000).toISOString(),
      });
    expect(of(undefined)).to.include({ session: 'a', waiting: 2, longestWaitMinutes: 0 });
    expect(of('id-b')).to.include({ session: 'b', waiting: 1 });
    expect(of('id-b', 3)).to.include({ session: 'b', waiting: 4, longestWaitMinutes: 10 });
    expect(of('id-b', 3, { [`${iso} a`]: null })).to.include({ session: 'b', waiting: 3 });
  });
});
