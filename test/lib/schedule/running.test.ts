import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';

import { systemClock } from '../../../src/lib/platform/time/clock';
import { beginRun, parseJobVariable, runningJobs, type RunDeps } from '../../../src/lib/schedule/running';
import { scratch } from '../../helpers/scratch';

describe('schedule: runs that are under way', () => {
  const box = scratch();
  const deps = (): RunDeps => ({
    records: box.path('local', 'state', 'machine', 'jobs'),
    installManifest: box.path('state', 'install-manifest.json'),
    launcher: box.path('bin', 'steward-job'),
    root: box.path('state'),
    clock: systemClock(),
  });
  const entry = (id: string) => ({
    id,
    kind: 'entry',
    path: 'crontab',
    added: {},
    before: null,
    after: null,
    backups: [],
    at: '2026-11-20T09:00:00Z',
    machine: 'another',
  });
  const install = (...ids: string[]): void => {
    mkdirSync(dirname(deps().installManifest), { recursive: true });
    writeFileSync(deps().installManifest, JSON.stringify({ version: 1, entries: ids.map(entry) }));
  };
  const self = { job: 'sense', pid: process.pid } as const;

  it('reads the variable of the launcher, and nothing else', () => {
    expect(parseJobVariable('sense 4711', 7)).to.deep.equal({ job: 'sense', pid: 4711 });
    expect(parseJobVariable('daemon', 7)).to.deep.equal({ job: 'daemon', pid: 7 });
    for (const text of ['', 'sense ', 'sense 0', 'sense -1', 'other 5', 'sense 4711 x', '--where 12'])
      expect(parseJobVariable(text, 7), text).to.equal(undefined);
  });

  it('are noted where the job is installed, on whichever machine the synced list was written', () => {
    install('schedule:work', 'schedule:sense');
    expect(beginRun(deps(), self)).to.equal(true);
    expect(runningJobs(deps())).to.deep.equal([self]);
  });

  it('do not begin, and leave nothing, where it is not', () => {
    expect(beginRun(deps(), self)).to.equal(false);
    expect(existsSync(dirname(deps().records))).to.equal(false);
    install('schedule:work');
    expect(beginRun(deps(), self)).to.equal(false);
    expect(existsSync(dirname(deps().records))).to.equal(false);
  });

  it('leave nothing where the job, and all that was there, goes while they begin', () => {
    const clock = systemClock();
    // The time is asked for before the folder of the notes is looked for, and between that and the note.
    for (const last of [1, 2]) {
      install('schedule:sense');
      mkdirSync(deps().records, { recursive: true });
      const parts = [box.path('local'), box.path('state')];
      let asked = 0;
      const now = (): number => {
        asked += 1;
        if (asked === last) for (const part of parts) rmSync(part, { recursive: true });
        return clock.now();
      };
      expect(beginRun({ ...deps(), clock: { ...clock, now } }, self)).to.equal(false);
      expect(asked >= last, `${last}`).to.equal(true);
      expect(readdirSync(box.path()), `${last}`).to.deep.equal([]);
    }
  });

  it('begin without a list, or with a damaged one, as long as the launcher is there', () => {
    mkdirSync(dirname(deps().launcher), { recursive: true });
    writeFileSync(deps().launcher, '#!/bin/sh\n');
    expect(beginRun(deps(), self)).to.equal(true);
    install();
    expect(beginRun(deps(), self)).to.equal(false);
    writeFileSync(deps().installManifest, '{');
    expect(beginRun(deps(), self)).to.equal(true);
  });

  it('are also those that deliver, without a job, as long as their area is there', () => {
    const delivery = parseJobVariable('delivery', process.pid);
    if (delivery === undefined) throw new Error('The variable is not understood.');
    expect(beginRun(deps(), delivery)).to.equal(false);
    expect(readdirSync(box.path())).to.deep.equal([]);
    mkdirSync(deps().root);
    expect(beginRun(deps(), delivery)).to.equal(true);
    expect(runningJobs(deps())).to.deep.equal([{ job: 'delivery', pid: process.pid }]);
    // The note cannot be written: the message goes all the same.
    rmSync(deps().records, { recursive: true });
    writeFileSync(deps().records, '');
    expect(beginRun(deps(), delivery)).to.equal(true);
  });

  it('the note of a run that was killed goes', async () => {
    install('schedule:sense');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const other = { job: 'sense', pid: child.pid ?? 0 } as const;
    expect(beginRun(deps(), other)).to.equal(true);
    expect(runningJobs(deps())).to.deep.equal([other]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect(runningJobs(deps())).to.deep.equal([]);
    expect(readdirSync(deps().records)).to.deep.equal([]);
  });
});
