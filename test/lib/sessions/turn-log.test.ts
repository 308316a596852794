import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { readIdleMs, readTurnSigns, runningFileOf } from '../../../src/lib/sessions/turn-log';

describe('sessions: an interruption before the first answer', () => {
  let home: string;
  let path: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'steward-turn-log-'));
    path = runningFileOf(join(home, '.claude', 'projects', '-site', 's-1.jsonl'), 42);
    mkdirSync(dirname(path), { recursive: true });
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const written = (state: object): number | undefined => {
    writeFileSync(path, JSON.stringify({ pid: 42, sessionId: 's-1', statusUpdatedAt: 1000, ...state }));
    return readIdleMs(path, 's-1');
  };

  it('is known from the file of the running session', () => {
    expect(path).to.equal(join(home, '.claude', 'sessions', '42.json'));
    expect(written({ status: 'idle' })).to.equal(1000);
    expect(written({ status: 'busy' })).to.equal(undefined);
    expect(written({ status: 'waiting' })).to.equal(undefined);
  });

  it('is not read from a file of another session, without a time, or that is damaged or missing', () => {
    expect(written({ status: 'idle', sessionId: 's-2' })).to.equal(undefined);
    expect(written({ status: 'idle', statusUpdatedAt: 'now' })).to.equal(undefined);
    writeFileSync(path, '{"status":');
    expect(readIdleMs(path, 's-1')).to.equal(undefined);
    expect(readIdleMs(`${path}.missing`, 's-1')).to.equal(undefined);
  });
});

describe('sessions: a turn of Codex that failed', () => {
  let home: string;
  beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'steward-turn-log-'))));
  afterEach(() => rmSync(home, { recursive: true }));

  const reasonOf = (...payloads: object[]): string | undefined => {
    const path = join(home, 'rollout.jsonl');
    const lines = payloads.map((payload) => JSON.stringify({ timestamp: '2026-11-20T08:00:00Z', payload }));
    writeFileSync(path, `${lines.join('\n')}\n`);
    return readTurnSigns(path).ended?.reason;
  };
  const failed = (codex_error_info: unknown): object => ({
    type: 'task_complete',
    error: { message: 'exceeded retry limit', codex_error_info },
  });
  const status = (http_status_code: number): object =>
    failed({ response_too_many_failed_attempts: { http_status_code } });

  it('is known from its log, with the reason', () => {
    expect([status(429), failed('usage_limit_exceeded')].map((line) => reasonOf(line))).to.deep.equal([
      'rate_limit',
      'rate_limit',
    ]);
    expect([status(401), status(503), status(500)].map((line) => reasonOf(line))).to.deep.equal([
      'authentication_failed',
      'overloaded',
      'server_error',
    ]);
    expect([failed('other'), failed(undefined), failed([])].map((line) => reasonOf(line))).to.deep.equal([
      'unknown',
      'unknown',
      'unknown',
    ]);
  });

  it('is over when another turn starts, and is none if it ended well', () => {
    expect(reasonOf(status(429), { type: 'task_started' })).to.equal(undefined);
    expect(reasonOf({ type: 'task_complete', last_agent_message: 'Done.' })).to.equal(undefined);
    expect(reasonOf({ type: 'turn_aborted' })).to.equal('interrupted');
  });
});

describe('sessions: a prompt that Copilot gave back', () => {
  let home: string;
  beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'steward-turn-log-'))));
  afterEach(() => rmSync(home, { recursive: true }));

  type Line = readonly [type: string, data?: object];
  const START: Line = ['session.start'];
  const SENT: Line = ['hook.start', { hookType: 'userPromptSubmitted' }];
  const TURN: readonly Line[] = [SENT, ['user.message'], ['assistant.turn_start'], ['assistant.turn_end']];
  const STOPPED: Line = ['hook.end', { hookType: 'agentStop' }];
  const isIdle = (...lines: Line[]): boolean => {
    const path = join(home, 'events.jsonl');
    const texts = lines.map(([type, data = {}]) =>
      JSON.stringify({ type, data, timestamp: '2026-11-20T08:00:00Z' }),
    );
    writeFileSync(path, `${texts.join('\n')}\n`);
    const { idleMs } = readTurnSigns(path);
    if (idleMs !== undefined) expect(idleMs).to.equal(statSync(path).mtimeMs);
    return idleMs !== undefined;
  };

  it('is no longer in the log, which then shows no open turn', () => {
    expect(isIdle(START)).to.equal(true);
    expect(isIdle(START, ...TURN, STOPPED)).to.equal(true);
    expect(isIdle(...TURN, ['abort'], ['permission.completed'], ['session.usage_checkpoint'])).to.equal(true);
    expect(isIdle(...TURN, ['session.error', { errorType: 'rate_limit' }])).to.equal(true);
  });

  it('is in the log while its turn is open', () => {
    for (const count of TURN.keys())
      expect(isIdle(START, ...TURN, STOPPED, ...TURN.slice(0, count + 1)), String(count)).to.equal(false);
    expect(isIdle(...TURN, ['hook.start', { hookType: 'agentStop' }])).to.equal(false);
    expect(isIdle(['tool.execution_start'], ['assistant.message'])).to.equal(false);
  });
});
