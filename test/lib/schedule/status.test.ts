import { expect } from 'chai';

import { NOT_INSTALLED } from '../../../src/lib/schedule/backend';
import { tickJob } from '../../../src/lib/schedule/job';
import { JOBS } from '../../helpers/schedule';
import { statusOf, type JobStatusInput } from '../../../src/lib/schedule/status';
import { jobInstalledText, jobText, jobUninstalledText } from '../../../src/lib/schedule/installer';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const ago = (sec: number): string => new Date(NOW - sec * 1000).toISOString();

function input(over: Partial<JobStatusInput> = {}): JobStatusInput {
  return {
    job: JOBS.tick,
    scheduler: 'systemd',
    everySec: 120,
    state: { ...NOT_INSTALLED, installed: true, loaded: true },
    record: { atMs: NOW - 30_000, exit: 0 },
    recorded: { at: ago(86_400), added: { everySec: 120 } },
    hasLauncher: true,
    log: '/area/sense/logs/tick.log',
    logEnd: '',
    nowMs: NOW,
    bootMs: NOW - 1e9,
    ...over,
  };
}

describe('job status', () => {
  it('is well, with its last run as noted and the next as due', () => {
    expect(statusOf(input())).to.deep.equal({
      job: 'tick',
      scheduler: 'systemd',
      installed: true,
      loaded: true,
      everySec: 120,
      lastRun: ago(30),
      nextRun: ago(-90),
      lastExit: 0,
      missedPolls: 0,
      log: '/area/sense/logs/tick.log',
    });
  });

  it('warns after three missed runs, not before', () => {
    const missed = (sec: number) => statusOf(input({ record: { atMs: NOW - sec * 1000, exit: 0 } }));
    expect(missed(359)).to.include({ missedPolls: 2 }).and.not.have.property('warning');
    expect(missed(360)).to.include({ missedPolls: 3 });
    expect(missed(360).warning).to.match(/3 runs have been missed/);
    expect(missed(360).hint).to.include('tick.log');
  });

  it('counts from the install or the start of the machine where those came later', () => {
    const record = { atMs: NOW - 86_400_000, exit: 0 };
    expect(statusOf(input({ record, bootMs: NOW - 60_000 })).missedPolls).to.equal(0);
    expect(statusOf(input({ record, recorded: { at: ago(100), added: {} } })).missedPolls).to.equal(0);
    expect(
      statusOf(input({ record: undefined, recorded: { at: ago(1200), added: {} } })).missedPolls,
    ).to.equal(10);
    // A clock that was put back since: nothing of the future counts.
    expect(statusOf(input({ record: { atMs: NOW + 1e9, exit: 0 } })).missedPolls).to.be.at.most(720);
  });

  it('reports the worst problem first', () => {
    const gone = { ...NOT_INSTALLED, installed: true, loaded: false };
    const fix = 'steward install jobs';
    const there = { ...NOT_INSTALLED, installed: true, loaded: true };
    expect(statusOf(input({ hasLauncher: false }))).to.deep.include({ broken: true, fix });
    expect(statusOf(input({ hasLauncher: false })).warning).to.match(/launcher is missing/);
    expect(statusOf(input({ state: gone }))).to.deep.include({ broken: true, fix, nextRun: null });
    for (const [over, words] of [
      [{ state: { ...there, edited: true } }, 'The entry in systemd has been edited since it was installed.'],
    ] satisfies [Partial<JobStatusInput>, string][])
      expect(statusOf(input(over)), words).to.include({ warning: words, fix });
    expect(statusOf(input({ state: gone, scheduler: 'cron' })).hint).to.match(/cron service/);
    expect(statusOf(input({ record: { atMs: NOW - 1000, exit: 3 } })).warning).to.equal(
      'The last run failed with exit code 3.',
    );
    const said = input({ record: { atMs: NOW - 1000, exit: 3 }, logEnd: 'It is so. Do that.' });
    expect(statusOf(said).hint).to.equal('/area/sense/logs/tick.log ends with: It is so. Do that.');
    const changed = input({ job: tickJob({ pollIntervalSec: 60 }) });
    expect(statusOf(changed).warning).to.equal(
      'The job runs every 120 s, but the configured interval is 60 s.',
    );
    expect(statusOf(input({ state: NOT_INSTALLED, hasLauncher: false }))).to.not.have.property('warning');
  });

  it('has no interval and no next run for the daemon, and reports its start', () => {
    const state = { ...NOT_INSTALLED, installed: true, loaded: true };
    const status = statusOf(
      input({ job: JOBS.daemon, everySec: null, state, record: { atMs: NOW - 9e6, exit: null } }),
    );
    expect(status).to.include({
      everySec: null,
      nextRun: null,
      lastExit: null,
      missedPolls: 0,
      lastRun: ago(9000),
    });
  });
});

describe('job texts', () => {
  const localTime = (iso: string): string => iso.slice(11, 16);

  it('shows the status of a job', () => {
    const text = (over: Partial<JobStatusInput> = {}) => jobText(statusOf(input(over)), JOBS.tick, localTime);
    expect(text()).to.equal(
      [
        '"steward tick", every 2 min',
        '  scheduler  systemd (user), loaded',
        '  last run   11:59, ok',
        '  next run   12:01',
        '  log        /area/sense/logs/tick.log',
      ].join('\n'),
    );
    expect(text({ record: { atMs: NOW - 9e6, exit: 7 } })).to.match(
      /09:30, exit code 7[^]*The last run failed/,
    );
    expect(text({ state: NOT_INSTALLED })).to.equal(
      'Not installed in systemd (user). Install it with "steward install jobs".',
    );
    expect(text({ hasLauncher: false })).to.match(/each run fails\.\nRun "steward install jobs" again\.$/);
    expect(text({ log: '/a\u001b[31m' })).to.not.include('\u001b');
  });

  it('reports an install and an uninstall', () => {
    const result = {
      job: 'tick' as const,
      scheduler: 'cron' as const,
      why: 'cron is running',
      changed: true,
      replaced: ['sense'],
      files: [],
      everySec: 120,
      log: '/l',
      warnings: [],
    };
    expect(jobInstalledText(result, ['A note.'], false)).to.equal(
      'Installed: tick, which runs every 2 min\n  replaces   sense\n  scheduler  cron: cron is running\n  log        /l\nA note.',
    );
    expect(jobInstalledText(result, [], true)).to.match(/^Would install: tick/);
    expect(jobInstalledText({ ...result, changed: false }, [], true)).to.match(/^Already installed/);
    const gone = jobUninstalledText({ job: 'tick', removedFrom: ['cron'], files: ['crontab'] }, false);
    expect(gone).to.equal('Removed tick from cron');
  });
});
