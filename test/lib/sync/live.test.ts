import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseSession, type Session } from '../../../src/lib/sessions/session';
import { rowsOf, sessionsReport } from '../../../src/lib/sessions/rows';
import { elsewhereWaits } from '../../../src/lib/inbox/waits';
import {
  isAtAnother,
  liveFile,
  livePublisher,
  publishedRows,
  readLive,
  rowsOfHost,
} from '../../../src/lib/sync/live';
import { scratch } from '../../helpers/scratch';

const NOW = Date.parse('2026-11-20T09:00:00.000Z');
const [OWN, OTHER] = ['0123456789ab', 'ba9876543210'];
const at = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();

function session(slug: string, more: Partial<Session>): Session {
  const times = { startedAt: at(60), updatedAt: at(5), waitingSince: at(5) };
  const usual = { ...times, sessionIds: [`id-${slug}`], repo: 'api', branch: 'main', activity: 'waiting' };
  return { ...(parseSession(slug, { ...usual, ...more }) as Session), ...more };
}

const ASKED = [{ agent: null, reason: 'permission_prompt', tool: 'Bash', at: at(5) }];
const SESSIONS = [
  session('20261120-api-0001', { requests: ASKED, givenName: 'rosebud' }),
  session('20261120-api-0002', { branch: 'turn' }),
  session('20261120-api-0003', { activity: 'working', branch: 'busy', isAlive: true }),
  session('20261120-api-0004', { updatedAt: at(60), waitingSince: at(60), branch: 'fresh' }),
  session('restricted-0123abcd', { repo: null, requests: ASKED }),
];
const ROWS = rowsOf(SESSIONS, { nowMs: NOW });

describe('the running sessions of other machines (lib)', () => {
  const { path } = scratch();
  const clock = { atMs: NOW, now: () => clock.atMs, monotonic: () => clock.atMs };
  const file = (): string => liveFile(path(), OTHER);
  beforeEach(() => {
    clock.atMs = NOW;
    mkdirSync(dirname(file()), { recursive: true });
  });
  const publisher = () => {
    const publish = livePublisher(clock as never);
    return (sessions: readonly object[], isHere = false) => publish(file(), 'server', sessions, isHere);
  };
  const names = (): string[] => readLive(path(), OWN, clock.atMs).map(({ name }) => name);

  it('publish no name, id or restricted work without details', () => {
    publisher()(publishedRows(ROWS, false));
    expect(readFileSync(file(), 'utf8')).not.to.match(/rosebud|id-|20261120|restricted/);
    expect(names()).to.have.members(
      ['main', 'turn', 'busy', 'fresh'].map((branch) => `server · api·${branch}`),
    );
    publisher()(publishedRows(ROWS, true));
    expect(names()).to.include('server · rosebud').and.have.length(4);
  });

  it('show the start of the id of machines with the same name', () => {
    for (const id of [OWN, OTHER]) {
      const info = { format: 1, id, name: 'server', timezone: 'UTC', version: '1.0.0' };
      const times = { lastInput: null, publishedAt: '2026-11-20T09:00Z' };
      mkdirSync(dirname(liveFile(path(), id)), { recursive: true });
      writeFileSync(
        join(dirname(liveFile(path(), id)), 'machine.json'),
        JSON.stringify({ ...info, ...times }),
      );
    }
    publisher()(publishedRows(ROWS.slice(0, 1), false));
    expect(names()).to.deep.equal(['server-ba98 · api·main']);
    rmSync(dirname(liveFile(path(), OWN)), { recursive: true });
    expect(names()).to.deep.equal(['server · api·main']);
  });

  it('are written when they change, every ten seconds at most, and again every four minutes', () => {
    const publish = publisher();
    const written = (seconds: number, sessions: readonly object[]): boolean => {
      clock.atMs = NOW + seconds * 1000;
      const before = existsSync(file()) ? readFileSync(file(), 'utf8') : '';
      publish(sessions);
      return existsSync(file()) && readFileSync(file(), 'utf8') !== before;
    };
    const [all, one] = [publishedRows(ROWS, false), publishedRows(ROWS.slice(0, 1), false)];
    expect([written(0, all), written(9, one), written(10, one)]).to.deep.equal([true, false, true]);
    expect([written(60, one), written(249, one), written(250, one)]).to.deep.equal([false, false, true]);
    publish([]);
    expect(existsSync(file())).to.equal(false);
  });

  it('reach the others in five rounds of the daemon, ten seconds, also just after the file was written', () => {
    const publish = publisher();
    publish(publishedRows(ROWS.slice(1), false));
    const asks = (): boolean =>
      readLive(path(), OWN, clock.atMs).some(({ waitingFor }) => waitingFor !== null);
    let rounds = 0;
    for (; !asks() && rounds < 10; rounds += 1) {
      clock.atMs += 2000;
      publish(publishedRows(ROWS, false));
    }
    expect(rounds).to.equal(5);
  });

  it('are not shown if the news is old, the file is damaged, or it is one of this machine', () => {
    publisher()(publishedRows(ROWS, false));
    expect(readLive(path(), OTHER, NOW)).to.deep.equal([]);
    expect(names()).to.have.length(4);
    clock.atMs = NOW + 10 * 60_000 + 1;
    expect(names()).to.deep.equal([]);
    clock.atMs = NOW;
    for (const text of [
      '',
      '{',
      '{"sessions":7}',
      JSON.stringify({ name: 'x', at: at(0), sessions: [{ slug: '; rm' }] }),
    ]) {
      writeFileSync(file(), text);
      expect(names(), text).to.deep.equal([]);
    }
  });

  it('tell for five minutes at which machine you are, also without sessions', () => {
    const isThere = (): boolean => isAtAnother(path(), OWN, clock.atMs);
    publisher()([], true);
    expect([isThere(), isAtAnother(path(), OTHER, clock.atMs)]).to.deep.equal([true, false]);
    expect(names()).to.deep.equal([]);
    for (const minutes of [5.1, -5.1]) {
      clock.atMs = NOW + minutes * 60_000;
      expect(isThere()).to.equal(false);
    }
    clock.atMs = NOW;
    publisher()(publishedRows(ROWS, false), false);
    expect(isThere()).to.equal(false);
  });

  it('wait in the inbox if they ask or their turn has ended, and follow the own ones in the list', () => {
    publisher()(publishedRows(ROWS, false));
    const elsewhere = readLive(path(), OWN, NOW);
    const waits = elsewhereWaits(elsewhere).map(({ name, kind, why, blocks, since }) => [
      name,
      kind,
      why,
      blocks,
      since,
    ]);
    expect(waits).to.have.deep.members([
      ['server · api·main', 'permission', 'asks to run Bash', true, at(5)],
      ['server · api·turn', 'turn', 'turn finished', false, at(5)],
    ]);
    const own = {
      'own-1': session('own-1', { activity: 'working', isAlive: true }),
      'own-2': session('own-2', { activity: 'ended' }),
    };
    const state = { version: 1, cursor: { offset: 0, head: '' }, sessions: own };
    const { sessions } = sessionsReport(state, { queued: 0, dead: 0 } as never, {
      nowMs: NOW,
      all: true,
      elsewhere,
    });
    expect(sessions.map(({ slug, elsewhere: of }) => (of === null ? slug : 'there'))).to.deep.equal([
      ...['own-1', 'there', 'there', 'there', 'there', 'own-2'],
    ]);
  });

  it('are the same by ssh, without those that the host itself asked for', () => {
    publisher()(publishedRows(ROWS, false));
    const published = readLive(path(), OWN, NOW);
    const sessions = [...ROWS, { ...published[0], slug: '20261120-api-0009' }];
    const from = { machine: 'ann@server', host: 'ann@server', asOf: at(0) };
    const asked = rowsOfHost(`Welcome!\n${JSON.stringify({ sessions, waiting: 1 })}`, from) ?? [];
    expect(asked.map(({ slug }) => slug)).to.have.members(published.map(({ slug }) => slug));
    expect(asked.map(({ name }) => name)).to.include('ann@server · rosebud');
    for (const text of ['', 'no', '{}', '{"sessions":"x"}'])
      expect(rowsOfHost(text, from), text).to.equal(undefined);
  });
});
