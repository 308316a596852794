import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

import { systemClock } from '../../../src/lib/platform/time/clock';
import { userArea, type Machine } from '../../../src/lib/config/user-area';
import { recordsFolder } from '../../../src/lib/schedule/launcher';
import { beginRun, parseJobVariable, runningJobs } from '../../../src/lib/schedule/running';
import { scratch } from '../../helpers/scratch';

describe('schedule: runs that are under way', () => {
  const box = scratch();
  const host = () => ({
    platform: 'linux' as const,
    home: box.path('home'),
    env: { STEWARD_HOME: box.path('state'), XDG_STATE_HOME: box.path('local') },
  });
  const deps = (): Pick<Machine, 'area' | 'clock'> => ({ area: userArea(host()), clock: systemClock() });
  const records = (): string => recordsFolder(deps().area);
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
    mkdirSync(dirname(deps().area.installManifest), { recursive: true });
    writeFileSync(deps().area.installManifest, JSON.stringify({ version: 1, entries: ids.map(entry) }));
  };
  const self = { job: 'tick', pid: process.pid } as const;

  it('reads the variable of the launcher, and nothing else', () => {
    expect(parseJobVariable('tick 4711', 7)).to.deep.equal({ job: 'tick', pid: 4711 });
    expect(parseJobVariable('daemon', 7)).to.deep.equal({ job: 'daemon', pid: 7 });
    for (const text of ['', 'tick ', 'tick 0', 'tick -1', 'other x', 'tick 4711 x', '--where 12'])
      expect(parseJobVariable(text, 7), text).to.equal(undefined);
  });

  it('are noted where the job is installed, on whichever machine the synced list was written', () => {
    install('schedule:daemon', 'schedule:tick');
    expect(beginRun(deps(), self)).to.equal(true);
    expect(runningJobs(deps())).to.deep.equal([self]);
  });

  it('do not begin, and leave nothing, where it is not', () => {
    expect(beginRun(deps(), self)).to.equal(false);
    expect(existsSync(dirname(records()))).to.equal(false);
    install('schedule:daemon');
    expect(beginRun(deps(), self)).to.equal(false);
    expect(existsSync(dirname(records()))).to.equal(false);
  });

  it('leave nothing where the job, and all that was there, goes while they begin', () => {
    const clock = systemClock();
    // The time is asked for before the folder of the notes is looked for, and between that and the note.
    for (const last of [1, 2]) {
      install('schedule:tick');
      mkdirSync(records(), { recursive: true });
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
    mkdirSync(dirname(join(deps().area.bin, 'steward-job')), { recursive: true });
    writeFileSync(join(deps().area.bin, 'steward-job'), '#!/bin/sh\n');
    expect(beginRun(deps(), self)).to.equal(true);
    install();
    expect(beginRun(deps(), self)).to.equal(false);
    writeFileSync(deps().area.installManifest, '{');
    expect(beginRun(deps(), self)).to.equal(true);
  });

  it('are also those that deliver, without a job, as long as their area is there', () => {
    const delivery = parseJobVariable('delivery', process.pid);
    if (delivery === undefined) throw new Error('The variable is not understood.');
    expect(beginRun(deps(), delivery)).to.equal(false);
    expect(readdirSync(box.path())).to.deep.equal([]);
    mkdirSync(deps().area.root);
    expect(beginRun(deps(), delivery)).to.equal(true);
    expect(runningJobs(deps())).to.deep.equal([{ job: 'delivery', pid: process.pid }]);
    // The note cannot be written: the message goes all the same.
    rmSync(records(), { recursive: true });
    writeFileSync(records(), '');
    expect(beginRun(deps(), delivery)).to.equal(true);
  });

  it('the note of a run that was killed goes', async () => {
    install('schedule:tick');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const other = { job: 'tick', pid: child.pid ?? 0 } as const;
    expect(beginRun(deps(), other)).to.equal(true);
    expect(runningJobs(deps())).to.deep.equal([other]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect(runningJobs(deps())).to.deep.equal([]);
    expect(readdirSync(records())).to.deep.equal([]);
  });
});
