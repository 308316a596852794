import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

import { ancestorWithout, stateOf, type ProcessMark } from '../../../src/lib/platform/process/ancestor';
import { parentsOf } from '../../../src/lib/platform/process/own-terminal';
import { toIso } from '../../../src/lib/platform/time/clock';
import { statusOf, type Session } from '../../../src/lib/sessions/session';
import {
  currentSessions,
  noteLost,
  runningSessions,
  type SessionsDeps,
} from '../../../src/lib/sessions/state';
import { lostSessions, sessionsReport } from '../../../src/lib/sessions/view';
import { appendWorkEvent, type WorkEvent } from '../../../src/lib/sessions/work-events';
import { testArea, type TestArea } from '../../helpers/area';

const START = Date.parse('2026-11-20T08:00:00Z');
const MINUTE = 60_000;
const SPOOL = { waiting: 0, unreadable: 0, dead: 0, oldest: null, deadFolder: '/dead' };

describe('the life of a session', () => {
  let area: TestArea;
  let deps: SessionsDeps;
  let nowMs: number;
  beforeEach(() => {
    area = testArea();
    nowMs = START;
    deps = {
      clock: { now: () => nowMs, monotonic: () => performance.now() },
      machineId: '0123456789ab',
      path: area.area.sessionsState,
      livePath: area.area.sessionsLive,
      workEvents: area.area.workEvents,
      sessions: area.area.sessions,
      locks: area.area.machine,
      dayOf: () => '2026-11-20',
    };
  });
  afterEach(() => area.remove());

  const say = (type: WorkEvent['type'], more: Partial<WorkEvent> = {}): void =>
    void appendWorkEvent(deps.workEvents, {
      ts: toIso(nowMs),
      type,
      session: 'one',
      slug: 'a-1',
      repo: 'site',
      machine: '0123456789ab',
      ...more,
    });
  const only = (): Session => currentSessions(deps).sessions['a-1'] as Session;
  const status = (afterMs = 0): string => statusOf(only(), nowMs + afterMs);

  describe('whose process is unknown', () => {
    it('has no signal after half an hour of work, and ends after twelve hours', () => {
      say('session-start');
      say('prompt');
      const seen = [0, 30 * MINUTE, 31 * MINUTE, 12 * 60 * MINUTE, 721 * MINUTE].map(status);
      expect(seen).to.deep.equal(['working', 'working', 'no-signal', 'no-signal', 'crashed']);
      say('stop');
      expect([31 * MINUTE, 721 * MINUTE].map(status)).to.deep.equal(['waiting', 'crashed']);
    });
  });

  describe('whose process is known', function () {
    before(function () {
      if (process.platform !== 'linux') this.skip();
    });
    const own = (): ProcessMark => ancestorWithout('no program is called this', true) as ProcessMark;

    it('is that of the nearest ancestor that is not the shim', () => {
      expect(own().pid).to.equal(process.ppid);
      expect(stateOf(own())).to.equal('runs');
      expect(ancestorWithout('', true)).to.equal(undefined);
      expect(parentsOf(process.pid)).to.include(own().pid);
    });

    it('works however long it is silent, and its number is shown', () => {
      say('session-start', { process: own() });
      say('prompt', { process: own() });
      expect(status(20 * 60 * MINUTE)).to.equal('working');
      const report = sessionsReport(currentSessions(deps), SPOOL, { nowMs, all: false });
      expect(report.sessions[0]).to.include({ pid: process.ppid, status: 'working' });
    });

    it('is over as soon as the process is killed, and is shown as such once', async () => {
      const child = spawn('cat', { stdio: 'pipe' });
      const mark = { ...own(), pid: child.pid as number };
      mark.started = readFileSync(`/proc/${mark.pid}/stat`, 'latin1')
        .split(') ')[1]
        ?.split(' ')[19] as string;
      say('session-start', { process: mark });
      say('prompt', { process: mark });
      expect(status()).to.equal('working');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const report = (): ReturnType<typeof sessionsReport> =>
        sessionsReport(currentSessions(deps), SPOOL, { nowMs, all: false });
      expect(report()).to.include({ working: 0, waiting: 0, crashed: 1 });
      expect(report().sessions.map((row) => [row.status, row.pid])).to.deep.equal([['crashed', null]]);
      expect(statusOf(runningSessions(deps).sessions['a-1'] as Session, nowMs)).to.equal('crashed');
      await noteLost(deps, lostSessions(currentSessions(deps)));
      expect(report().sessions).to.deep.equal([]);
      expect(status()).to.equal('crashed');
      nowMs += MINUTE;
      say('session-start', { process: own() });
      expect(status()).to.equal('waiting');
    });

    it('is not judged by a process of another boot, namespace or machine', () => {
      expect(stateOf({ ...own(), namespace: 'pid:[1]' })).to.equal('unknown');
      expect(stateOf({ ...own(), boot: '' })).to.equal('unknown');
      expect(stateOf({ ...own(), boot: 'another' })).to.equal('gone');
      expect(stateOf({ ...own(), started: '1' })).to.equal('gone');
      say('session-start', { machine: 'ffffffffffff', process: { ...own(), started: '1' } });
      say('prompt', { machine: 'ffffffffffff' });
      expect(status()).to.equal('working');
    });

    it('is not judged by processes that end with each hook', () => {
      say('session-start', { process: { ...own(), started: '1' } });
      say('prompt', { process: { ...own(), started: '2' } });
      say('prompt', { process: { ...own(), started: '3' } });
      expect(status()).to.equal('working');
      expect(only().process).to.equal(null);
    });
  });
});
