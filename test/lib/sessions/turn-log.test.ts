import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { readIdleMs, runningFileOf } from '../../../src/lib/sessions/turn-log';

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
