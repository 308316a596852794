import { expect } from 'chai';

import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { parseSession, type Session, type SessionsState } from '../../../src/lib/sessions/session';
import {
  brokenAt,
  EMPTY_LIST,
  filteredRows,
  listFrame,
  pressKey,
  withRows,
  type KeyedList,
} from '../../../src/lib/platform/terminal/list';
import { listedSessions, watchedRows, watchView } from '../../../src/lib/sessions/watch';

const NOW = Date.parse('2026-11-20T09:00:00.000Z');

function session(slug: string, minutesAgo: number, more: Partial<Session>): Session {
  const at = new Date(NOW - minutesAgo * 60_000).toISOString();
  return parseSession(slug, {
    sessionIds: [slug],
    startedAt: at,
    updatedAt: at,
    repo: 'shop',
    branch: slug,
    ...more,
  }) as Session;
}

function stateOf(...sessions: Session[]): SessionsState {
  return {
    version: 1,
    cursor: { offset: 0, head: '' },
    sessions: Object.fromEntries(sessions.map((one) => [one.slug, one])),
  };
}

const STATE = stateOf(
  session('busy', 10, { activity: 'working', tool: 'Edit' }),
  session('old', 20, { activity: 'working', tool: 'Bash' }),
  session('asks', 5, {
    activity: 'waiting',
    requests: [{ agent: null, reason: 'permission_prompt', tool: 'Bash', at: new Date(NOW).toISOString() }],
  }),
  session('idle', 30, { activity: 'waiting', startedAt: '2026-11-20T08:00:00.000Z' }),
  session('done', 40, { activity: 'ended' }),
  session('yesterday', 61, { activity: 'ended' }),
);

describe('the live list of sessions', () => {
  const rows = watchedRows(STATE, { nowMs: NOW });
  const listed = listedSessions(rows);
  const list = withRows(EMPTY_LIST, listed);
  const press = (from: KeyedList, ...keys: string[]): KeyedList =>
    keys.reduce((at, key) => pressKey(at, key)[0], from);
  const frame = (at: KeyedList, columns = 80, height = 24, color = false, state = STATE): string[] => {
    const options = { columns, color, nowMs: NOW, localTime: () => '10:00' };
    const view = watchView(watchedRows(state, { nowMs: NOW }), state, options);
    return listFrame(at, view, { ...options, rows: height });
  };

  it('has those that ask first, then the longest waiting, then those at work, then those of the last hour', () => {
    expect(rows.map(({ slug }) => slug)).to.deep.equal(['asks', 'idle', 'old', 'busy', 'done']);
    expect(list.selected).to.equal('asks');
  });

  it('says how many rows are below the screen', () => {
    expect(frame(list, 80, 6).at(-2)).to.equal('  3 more below');
    expect(frame(press(list, 'j', 'j', 'j', 'j'), 80, 6).at(-2)).to.equal('');
    expect(frame(list, 40, 24)[0]).to.equal('2 waiting · 2 working · 1 done');
  });

  it('fills the screen exactly, in 40 columns too', () => {
    for (const columns of [40, 60, 71, 72, 80, 200])
      for (const height of [5, 8, 24]) {
        const lines = frame(list, columns, height);
        expect(lines.length, `${columns}x${height}`).to.equal(height);
        for (const line of lines) expect(displayWidth(line), line).to.be.at.most(columns);
      }
    expect(frame(list).slice(0, 4)).to.deep.equal([
      '2 waiting · 2 working · 1 done',
      '',
      '> shop·asks  waiting 5 m     asks to run Bash        5 m',
      '  shop·idle  waiting 30 m    turn finished      1 h 00 m',
    ]);
    expect(frame(list, 80, 24, true)[3]).to.include('\u001b[35m');
  });

  it('finishes no turn before the first one', () => {
    const state = stateOf(session('new', 5, { activity: 'waiting' }));
    const shown = withRows(EMPTY_LIST, listedSessions(watchedRows(state, { nowMs: NOW })));
    expect(frame(shown, 80, 24, false, state).join('\n'))
      .to.include('shop·new')
      .and.not.include('turn finished');
  });

  it('moves, shows details, filters, leaves other keys to the row, and quits', () => {
    expect(press(list, 'down', 'j', 'k').selected).to.equal('idle');
    expect(press(list, 'up').selected).to.equal('asks');
    expect(frame(press(list, 'w')).join('\n')).to.match(/^branch +asks$/m);
    expect(press(list, 'w', 'w').isDetailed).to.equal(false);
    expect(withRows(press(list, 'w'), listed.slice(1)).isDetailed, 'the details of another row').to.equal(
      false,
    );
    const filtered = press(list, '/', 'b', 'u', 'x', 'backspace', 's', 'return');
    expect(filteredRows(filtered).map(({ id }) => id)).to.deep.equal(['busy']);
    expect(filtered.selected).to.equal('busy');
    expect(press(filtered, 'escape').filter).to.equal('');
    for (const key of ['return', 'a', '1']) expect(pressKey(list, key)[1]).to.equal('act');
    expect(pressKey(withRows(EMPTY_LIST, []), 'return')[1]).to.equal(undefined);
    for (const key of ['q', 'ctrl-c']) expect(pressKey(list, key)[1]).to.equal('quit');
    expect(pressKey(press(list, '/'), 'q')[1]).to.equal(undefined);
  });

  it('keeps the selection on its session when others come and go', () => {
    const at = press(list, 'down');
    expect(withRows(at, listed.slice(1)).selected).to.equal('idle');
    expect(withRows(at, listed.slice(2)).selected).to.equal('old');
    expect(withRows(at, []).selected).to.equal(null);
    expect(withRows(at, [...listed.slice(0, 1), ...listed.slice(2)]).selected).to.equal('old');
    const last = press(at, 'down', 'down', 'down', 'down');
    expect(withRows(last, listed.slice(0, -1)).selected).to.equal(listed.at(-2)?.id);
  });

  it('scrolls with the selection', () => {
    const many = stateOf(...Array.from({ length: 50 }, (_, n) => session(`s${n}`, 50 - n, { activity: 'working' }))); // prettier-ignore
    let at = withRows(EMPTY_LIST, listedSessions(watchedRows(many, { nowMs: NOW })));
    for (let n = 0; n < 49; n += 1) at = press(at, 'down');
    expect(frame(at, 80, 24, false, many).some((line) => line.startsWith('> shop·s49'))).to.equal(true);
    expect(frame(at, 40, 10, false, many).some((line) => line.startsWith('> shop·s49'))).to.equal(true);
  });

  it('breaks details without changing a character, however wide', () => {
    for (const line of ['', '{"command":"echo  a   b"}', '日本語'.repeat(9), 'a\u0301日'.repeat(20)])
      for (const columns of [7, 10, 60]) {
        const parts = brokenAt(columns, line);
        expect(parts.join('')).to.equal(line);
        for (const part of parts) expect(displayWidth(part)).to.be.at.most(columns);
      }
  });
});
