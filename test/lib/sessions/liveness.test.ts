import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

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
import { lostSessions, reportedLost, sessionsReport } from '../../../src/lib/sessions/rows';
import { waitingIntentions } from '../../../src/lib/sessions/spool';
import { sessionsNow, withTurnSigns } from '../../../src/lib/sessions/turn-signs';
import { appendWorkEvent, type WorkEvent } from '../../../src/lib/sessions/work-events';
import { testArea, type TestArea } from '../../helpers/area';
import { long } from '../../helpers/long';

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
      area: area.area,
      dayOf: () => '2026-11-20',
    };
  });
  afterEach(() => area.remove());

  const say = (type: WorkEvent['type'], more: Partial<WorkEvent> = {}): void =>
    void appendWorkEvent(deps.area.workEvents, {
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

  describe('whose turns only the log of the assistant tells about', () => {
    const write = (entry: object): void =>
      appendFileSync(log, `${JSON.stringify({ timestamp: toIso(nowMs), ...entry })}\n`);
    const queued = (): unknown[] => {
      sessionsNow(deps);
      return waitingIntentions(deps.area.spool).map(({ kind, session, ended, asked }) => [
        kind,
        session,
        ended?.isError ?? asked,
      ]);
    };
    let log: string;
    beforeEach(() => {
      log = join(area.area.root, 'rollout.jsonl');
      say('session-start', { assistant: 'codex', transcript: log });
      say('prompt', { assistant: 'codex' });
    });

    it('alerts you once to a turn that an error ended', () => {
      write({ payload: { type: 'task_started' } });
      expect(queued()).to.deep.equal([]);
      write({ payload: { type: 'task_complete', error: { codex_error_info: 'usage_limit_exceeded' } } });
      expect(queued()).to.deep.equal([['turn-ended', 'codex:one', true]]);
      expect(queued()).to.have.length(1);
    });

    it('alerts you once to a question', () => {
      write({ payload: { type: 'function_call', name: 'request_user_input', call_id: 'c1' } });
      expect(queued()).to.deep.equal([['attention', 'codex:one', only().requests[0]?.at]]);
      expect(queued()).to.have.length(1);
    });

    for (const [step, ...entries] of [
      ['question', { type: 'function_call', name: 'request_user_input', call_id: 'c1' }],
      ['answer', { type: 'function_call_output', call_id: 'c1' }],
    ] as const)
      it(`waits for you if its turn ends while the ${step} is read`, () => {
        if (step === 'answer') {
          write({ payload: { type: 'function_call', name: 'request_user_input', call_id: 'c1' } });
          sessionsNow(deps);
          expect(only().requests).to.have.length(1);
        }
        for (const payload of entries) write({ payload });
        let stops = 1;
        withTurnSigns(deps, () => {
          const state = currentSessions(deps);
          nowMs += 1;
          if (stops-- > 0) say('stop', { assistant: 'codex' });
          return state;
        });
        expect(only()).to.deep.include({ activity: 'waiting', requests: [] });
      });

    it('does not alert you to a turn that you interrupted', () => {
      write({ payload: { type: 'turn_aborted' } });
      expect(queued()).to.deep.equal([]);
      expect(only().activity).to.equal('waiting');
    });
  });

  describe('whose process is known', function () {
    before(function () {
      if (process.platform !== 'linux') this.skip();
    });
    const own = (): ProcessMark => ancestorWithout('no program is called this', true) as ProcessMark;

    it('ends without a crash if only a window of the session has ended, and goes on in another window', () => {
      const gone: ProcessMark = { ...own(), started: '1', isClient: true };
      say('session-start', { process: own() });
      say('notification', { reason: 'permission_prompt' });
      say('prompt', { process: gone });
      expect([status(), only().isAlive]).to.deep.equal(['ended', undefined]);
      expect(lostSessions(currentSessions(deps))).to.deep.equal([]);
      say('prompt', { process: { ...own(), isClient: true } });
      expect([status(), only().isAlive]).to.deep.equal(['working', true]);
    });

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
      const lost = lostSessions(currentSessions(deps));
      const reported = (afterMs: number, isSeen: boolean): string[] =>
        reportedLost(currentSessions(deps), nowMs + afterMs, isSeen);
      expect(reported(0, false), 'not seen yet').to.deep.equal([]);
      expect(reported(0, true), 'seen on a terminal').to.deep.equal(['a-1']);
      expect(reported(61 * MINUTE, false), 'after an hour').to.deep.equal(['a-1']);
      area.write('state/sessions.json', '{"version":99,"sessions":{}}');
      expect(await noteLost(deps, lost), 'an error').to.contain('newer steward (format 99)');
      rmSync(deps.area.sessionsState);
      expect(await noteLost(deps, lost)).to.equal(undefined);
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

  describe('on macOS', () => {
    const { platform, env } = process;
    const PATH = env['PATH'];
    /** What `ps` answers on macOS; PARENT is the parent of the hook. */
    const RECORDED = `    1     0 Mon Nov  2 08:01:12 2026     /sbin/launchd
  501     1 Sun Nov 22 16:58:03 2026     /Applications/Some Terminal.app/Contents/MacOS/terminal
  812   501 Sun Nov 22 17:00:00 2026     claude --resume
PARENT  812 Sun Nov 22 17:00:09 2026     /bin/sh -c '/Users/ann/.steward/bin/steward-hook' session-start
`;
    const programs = (text: string): void => {
      const path = area.write('bin/ps', `#!/bin/sh\necho "$@" >> "$0.calls"\ncat <<'END'\n${text}END\n`);
      chmodSync(path, 0o755);
      env['PATH'] = `${dirname(path)}:${PATH ?? ''}`;
    };
    beforeEach(function () {
      if (platform === 'win32') this.skip();
      Object.defineProperty(process, 'platform', { value: 'darwin' });
    });
    afterEach(() => {
      Object.defineProperty(process, 'platform', { value: platform });
      env['PATH'] = PATH;
    });

    it('finds the assistant with one ps, at the start of a session', () => {
      programs(RECORDED.replace('PARENT', String(process.ppid)));
      const mark = { pid: 812, started: 'Sun Nov 22 17:00:00 2026', boot: '', namespace: '' };
      expect(ancestorWithout('steward-hook', true)).to.deep.equal(mark);
      expect(area.read('bin/ps.calls').split('\n')).to.have.length(2);
      expect(ancestorWithout('steward-hook', false)).to.equal(undefined);
      expect(ancestorWithout('', true), 'no ancestor matches').to.equal(undefined);
      expect(area.read('bin/ps.calls').split('\n')).to.have.length(3);
    });

    it('knows no process if ps fails or answers something else', () => {
      for (const text of ['', 'ps: illegal option -- w\n', `${process.ppid} 812\n`]) {
        programs(text);
        expect(ancestorWithout('steward-hook', true), text).to.equal(undefined);
      }
    });

    long('is over when its pid is gone, and otherwise has no signal after half an hour', async () => {
      const child = spawn('cat', { stdio: 'pipe' });
      const mark = { pid: child.pid as number, started: 'Sun Nov 22 17:00:00 2026', boot: '', namespace: '' };
      say('session-start', { process: mark });
      say('prompt');
      expect([0, 31 * MINUTE].map(status)).to.deep.equal(['working', 'no-signal']);
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect(status()).to.equal('crashed');
    });
  });
});
