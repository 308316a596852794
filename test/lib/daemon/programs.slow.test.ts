import { expect } from 'chai';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import EXAMPLES from '../../../templates/data/program-events.json';
import {
  PROGRAM_EVENTS,
  programRunner,
  allPrograms,
  programsFinding,
  programsFor,
  programState,
  testProgram,
  type Program,
  type ProgramDeps,
} from '../../../src/lib/daemon/programs';
import { run } from '../../../src/lib/platform/process/process';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { scratch } from '../../helpers/scratch';

/** `STEWARD_EVENTS=10000` runs the campaign at full length. */
const EVENTS = Number(process.env['STEWARD_EVENTS'] ?? 60);

describe('programs on events', function () {
  this.timeout(1_200_000);
  const box = scratch();
  /** Only `hangs` may reach the limit, however busy the machine is. */
  const open = (limitMs?: number) => {
    const deps: ProgramDeps = {
      ...{ clock: systemClock(), root: box.path(), disabled: box.path('disabled.json') },
      run: (file, args, options) =>
        run(file, args, file.endsWith('/hangs') ? options : { ...options, timeoutMs: 600_000 }),
      ...(limitMs === undefined ? {} : { limitMs }),
    };
    const logged: Record<string, unknown>[] = [];
    const notices: string[] = [];
    const runner = programRunner({
      ...deps,
      write: (_level, event, more) => logged.push({ event, ...more }),
      notify: (message) => Promise.resolve(notices.push(message)),
    });
    return { deps, runner, logged, notices };
  };
  const program = (event: string, name: string, text: string): string => {
    const folder = box.path('on', `${event}.d`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o700);
    return join(folder, name);
  };
  const linesOf = (name: string): string[] =>
    existsSync(box.path(name)) ? readFileSync(box.path(name), 'utf8').trim().split('\n') : [];

  it('get each event in order on stdin, one at a time, cleaned and bounded', async () => {
    program(
      'day-rolled',
      'first',
      `mkdir lock || exit 1; cat >> first; echo seen "$STEWARD_EVENT"; rmdir lock`,
    );
    program('day-rolled', 'second', 'cat >> second');
    program('issue-closed', 'other', 'cat >> other');
    const { runner, logged } = open();
    for (let n = 0; n < 20; n += 1) runner.emit('day-rolled', { day: `2026-11-${n}`, n });
    runner.emit('issue-closed', { title: `\u001b[31m${'x'.repeat(1000)}\n` });
    await runner.idle();
    for (const name of ['first', 'second']) {
      const days = linesOf(name).map((line) => JSON.parse(line) as { event: string; at: string; n: number });
      expect(days.map(({ n }) => n)).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
      expect(days[0]).to.include.all.keys('event', 'at', 'day');
    }
    const { title } = JSON.parse(linesOf('other')[0] ?? '') as { title: string };
    expect(title).to.match(/^x{200,300}…?$/);
    const [first] = logged.filter(({ output }) => output !== '');
    expect(first).to.include({ event: 'program', code: 0, output: 'seen day-rolled' });
  });

  it('are disabled after five failures in a row with one notice, until they change', async () => {
    const path = program('turn-ended', 'fails', 'echo no; exit 3');
    const { runner, logged, notices, deps } = open();
    for (let n = 0; n < 8; n += 1) runner.emit('turn-ended', { n });
    await runner.idle();
    runner.emit('turn-ended', { n: 9 });
    await runner.idle();
    expect(logged.filter(({ event }) => event === 'program')).to.have.length(5);
    expect(logged[0]).to.include({ result: 'exit code 3', output: 'no' });
    expect(logged.at(-1)).to.include({ event: 'program', dropped: 3 });
    const fix = `touch ${path}`;
    expect(notices).to.deep.equal([
      `fails is disabled after 5 failures in a row (exit code 3). To enable it: ${fix}`,
    ]);
    expect(programsFinding(deps, runner.dropped())).to.deep.equal({
      state: 'warning',
      found: `${path}: disabled after 5 failures in a row, 3 events dropped`,
      fix,
    });
    const again = open();
    again.runner.emit('turn-ended', {});
    await again.runner.idle();
    expect(again.logged).to.deep.equal([]);
    const [stopped] = programsFor(deps, 'turn-ended');
    expect(await testProgram(deps, stopped as Program)).to.include({
      code: 3,
      result: `exit code 3; on events not run: disabled after 5 failures in a row. Fix: ${fix}`,
    });
    utimesSync(path, 1, 1);
    again.runner.emit('turn-ended', {});
    await again.runner.idle();
    expect(again.logged).to.have.length(1);
  });

  it('go on after a notice that cannot be stored', async () => {
    program('turn-ended', 'fails', 'exit 3');
    program('turn-ended', 'works', 'cat >> works');
    const { deps } = open();
    const logged: unknown[] = [];
    const { emit, idle } = programRunner({
      ...deps,
      write: (level, _event, { message } = {}) => level === 'error' && logged.push(message),
      notify: () => Promise.reject(new Error('disk full')),
    });
    for (let n = 0; n < 5; n += 1) emit('turn-ended', { n });
    await idle();
    emit('turn-ended', { n: 5 });
    await idle();
    expect(logged).to.deep.equal(['disk full']);
    expect(linesOf('works')).to.have.length(6);
  });

  it('count failures only in a row', async () => {
    program('turn-ended', 'often', `cat > last; grep -q '"n":4' last`);
    const { runner, logged, notices } = open();
    for (let n = 0; n < 9; n += 1) runner.emit('turn-ended', { n });
    await runner.idle();
    expect(logged).to.have.length(9);
    expect(notices).to.deep.equal([]);
  });

  it('are refused if others can change them or their folder, or if they are links or not executable', async () => {
    const good = program('day-rolled', 'good', '');
    const { deps } = open();
    const states = (): string[] => programsFor(deps, 'day-rolled').map(programState);
    expect(states()).to.deep.equal(['runs']);
    chmodSync(good, 0o722);
    expect(states()).to.deep.equal([`not run: other users can change it. Fix: chmod go-w ${good}`]);
    chmodSync(good, 0o600);
    const result = `not run: it is not executable. Fix: chmod u+x ${good}`;
    expect(states()).to.deep.equal([result]);
    const [refused] = programsFor(deps, 'day-rolled');
    expect(await testProgram(deps, refused as Program)).to.include({ code: null, result });
    expect(programsFinding(deps, 0)).to.include({ fix: `chmod u+x ${good}` });
    chmodSync(good, 0o700);
    symlinkSync('/bin/true', join(good, '..', 'link'));
    mkdirSync(join(good, '..', 'folder'));
    const link = 'not run: it is a link or not a file; put the program itself there';
    expect(states()).to.deep.equal([link, 'runs', link]);
    for (const folder of [box.path('on', 'day-rolled.d'), box.path('on'), box.path()]) {
      chmodSync(folder, 0o777);
      expect([...new Set(states())]).to.deep.equal([
        `not run: other users can change the folder ${folder}. Fix: chmod go-w ${folder}`,
      ]);
      chmodSync(folder, 0o700);
    }
  });

  it('are reported if no event has the name of their folder', () => {
    program('turn-ended', 'good', '');
    const path = join(program('bogus', 'never', ''), '..');
    writeFileSync(box.path('on', 'README'), '');
    const { deps } = open();
    const why = `no such event; use one of ${PROGRAM_EVENTS.join(', ')}`;
    const bad = (): object[] => allPrograms(deps).filter((each) => each.why !== null);
    expect(bad()).to.deep.equal([{ event: 'bogus', path, why, fix: null }]);
    expect(programsFinding(deps, 0)).to.deep.equal({ state: 'warning', found: `${path}: ${why}` });
    const short = box.path('on', 'day-rolled');
    renameSync(path, short);
    expect(bad()).to.deep.equal([
      { event: 'day-rolled', path: short, why: 'its name lacks .d', fix: `mv ${short} ${short}.d` },
    ]);
  });

  it('have an example of each event, which `on test` gives them', async () => {
    for (const event of PROGRAM_EVENTS) program(event, 'echo', 'cat');
    const { deps } = open();
    for (const event of PROGRAM_EVENTS) {
      const [first] = programsFor(deps, event);
      const result = await testProgram(deps, first as Program);
      expect(result).to.include({ code: 0, result: 'exit code 0' });
      const { at, ...fields } = JSON.parse(result.output) as Record<string, unknown>;
      expect(at).to.be.a('string');
      expect(fields).to.deep.equal({ event, ...EXAMPLES[event] });
    }
  });

  it('are documented with all their fields', () => {
    const page = readFileSync('docs/daemon.md', 'utf8');
    for (const [event, fields] of Object.entries(EXAMPLES)) {
      expect(page).to.include(`| \`${event}\` |`);
      for (const field of Object.keys(fields)) expect(page, event).to.include(`\`${field}\``);
    }
  });

  it('lose no event that is not counted, with programs that fail, hang and are slow beside them', async () => {
    program('notification', 'fails', 'exit 1');
    program('notification', 'hangs', 'sleep 1000');
    program('notification', 'slow', 'sleep 0.01; cat >> slow');
    program('notification', 'works', 'cat >> works');
    const { runner, logged, notices } = open(100);
    const startMs = performance.now();
    for (let n = 0; n < EVENTS; n += 1) {
      runner.emit('notification', { n });
      if (n % 50 === 0) await new Promise(setImmediate);
    }
    const emitMs = (performance.now() - startMs) / EVENTS;
    await runner.idle();
    const runsOf = (name: string) => logged.filter(({ path }) => String(path).endsWith(`/${name}`));
    for (const name of ['works', 'slow']) {
      const seen = linesOf(name).map((line) => (JSON.parse(line) as { n: number }).n);
      expect(seen, name).to.deep.equal([...new Set(seen)].sort((a, b) => a - b));
      expect(seen.length, name).to.equal(runsOf(name).length);
    }
    const missing = 2 * EVENTS - runsOf('works').length - runsOf('slow').length;
    expect(runner.dropped()).to.be.at.least(missing);
    expect(notices.map((text) => text.split(' ')[0]).sort()).to.deep.equal(['fails', 'hangs']);
    const results = runsOf('hangs').map(({ result }) => result);
    expect(results).to.deep.equal(Array(5).fill('took longer than 0.1 s'));
    if (process.env['STEWARD_EVENTS'] !== undefined) console.log(`${emitMs.toFixed(3)} ms for each event`);
  });
});
