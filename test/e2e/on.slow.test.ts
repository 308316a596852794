import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Program, ProgramEvent, TestedProgram } from '../../src/lib/daemon/programs';
import { PROGRAM_EVENTS } from '../../src/lib/daemon/programs';
import { cacheText, emptyCache } from '../../src/lib/work/cache';
import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { ask, startDaemon, until, type RunningDaemon } from '../helpers/daemon';
import { hookJson, type RecordedEvent } from '../helpers/hooks';

describe('programs on events (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  let daemon: RunningDaemon | undefined;
  beforeEach(() => (home = emptyHome()));
  afterEach(async () => {
    await daemon?.stop();
    daemon = undefined;
    home.remove();
  });

  const run = (...args: string[]): Promise<StewardResult> => steward(args, { home: home.path });
  const write = (path: string, text: string, mode = 0o600): string => {
    const file = join(home.path, path);
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode });
    return file;
  };
  const program = (event: ProgramEvent, name: string, text: string): string =>
    write(`.steward/on/${event}.d/${name}`, `#!/bin/sh\n${text}\n`, 0o700);
  const eventsOf = (event: ProgramEvent): Record<string, unknown>[] => {
    const path = join(home.path, event);
    // The last line may still be written.
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const hook = (verb: string, event: RecordedEvent, id: string, cwd: string): Promise<StewardResult> =>
    steward(['hook', verb, '--no-tab'], { home: home.path, input: hookJson(event, { session_id: id, cwd }) });

  it('run when sessions wait, turns end, days and issues are closed, and notifications are sent', async () => {
    for (const event of PROGRAM_EVENTS) program(event, 'keep', `cat >> "$HOME/$STEWARD_EVENT"`);
    const closedAt = '2026-11-20T10:00:00.000Z';
    const issue = (state: 'open' | 'closed') => ({
      ...{ number: 12, state, title: 'Fix it', url: 'https://github.com/ann/work/issues/12', labels: [] },
      ...{ stateReason: null, createdAt: closedAt, updatedAt: closedAt, identity: null, due: null },
      closedAt: state === 'closed' ? closedAt : null,
    });
    const cache = (state: 'open' | 'closed') =>
      write('.steward/work/cache.json', cacheText({ ...emptyCache('ann/work'), issues: [issue(state)] }));
    await run('config', 'set', 'WORK.repo', 'ann/work');
    cache('open');
    write('.steward/sense/daily/2026-11-19.json', '{}');
    await run('notify', 'send', 'Before');
    const open = join(home.path, 'open');
    const closed = join(home.path, 'closed');
    mkdirSync(open);
    write('closed/RESTRICTED.md', '');
    const started = await startDaemon({ home: home.path });
    const env = { STEWARD_EVENT: 'notification' };
    expect((await steward(['notify', 'send', 'Again'], { home: home.path, env })).code).to.equal(6);
    daemon = started;
    await until('the state was read', async () => {
      const { jobs } = JSON.parse((await ask(`${started.url}/api/status`)).text) as {
        jobs: { id: string; lastOk: boolean | null }[];
      };
      return jobs.find(({ id }) => id === 'programs')?.lastOk === true;
    });
    cache('closed');
    write('.steward/sense/daily/2026-11-20.json', '{}');
    for (const folder of [closed, open]) {
      await hook('session-start', 'session-start', `wait-${folder}`, folder);
      await hook('prompt', 'prompt', `wait-${folder}`, folder);
      await hook('notification', 'permission', `wait-${folder}`, folder);
      await hook('prompt', 'prompt', `turn-${folder}`, folder);
      await hook('stop', 'stop', `turn-${folder}`, folder);
    }
    await run('notify', 'send', 'Nearly used up', '--event', 'limit');
    const expected = PROGRAM_EVENTS.filter((event) => event !== 'machine-news');
    await until('each event was seen', () => expected.every((event) => eventsOf(event).length > 0));
    await until('the notification was seen', () => {
      return eventsOf('notification').some(({ text }) => text === 'Nearly used up');
    });

    expect(eventsOf('session-waiting')).to.have.length(1);
    expect(eventsOf('session-waiting')[0]).to.include({
      assistant: 'claude-code',
      waitingFor: 'asks to run Bash',
    });
    expect(eventsOf('turn-ended')).to.have.length(1);
    expect(eventsOf('turn-ended')[0]).to.include.all.keys('session', 'startedAt', 'since');
    expect(eventsOf('day-rolled')).to.have.length(1);
    expect(eventsOf('day-rolled')[0]).to.include({ event: 'day-rolled', day: '2026-11-20' });
    expect(eventsOf('issue-closed')).to.have.length(1);
    expect(eventsOf('issue-closed')[0]).to.include({ number: 12, title: 'Fix it', closedAt });
    expect(eventsOf('limit-near')[0]).to.include({ type: 'limit', text: 'Nearly used up' });
    const texts = eventsOf('notification').map(({ text }) => text);
    expect(texts).to.include('Nearly used up').and.not.include('Before');
    expect(JSON.stringify(PROGRAM_EVENTS.map(eventsOf))).not.to.include('closed/');
  });

  it('are listed and tested, and a program on notifications sends none', async () => {
    const folder = join(home.path, '.steward', 'on');
    expect((await run('on', 'list')).stdout).to.equal(
      `No programs in ${folder}. Put executable files into these folders there:\n${PROGRAM_EVENTS.map((event) => `  ${event}.d\n`).join('')}`,
    );
    expect((await run('on', 'test', 'turn-ended')).stdout).to.equal(
      `No programs in ${folder}/turn-ended.d. Put an executable file there.\n`,
    );
    const fails = program('turn-ended', 'fails', 'echo no; exit 3');
    write('.steward/on/turn-ended.d/notes.txt', '');
    const list = jsonOf(await run('on', 'list', '--json')) as Program[];
    expect(list.map(({ path, why }) => [path.split('/').at(-1), why])).to.deep.equal([
      ['fails', null],
      ['notes.txt', 'it is not executable'],
    ]);
    const notes = join(folder, 'turn-ended.d', 'notes.txt');
    const refused = `${notes}: not run: it is not executable. Fix: chmod u+x ${notes}\n`;
    expect((await run('on', 'list')).stdout).to.equal(`${fails}: runs\n${refused}`);
    const tested = await run('on', 'test', 'turn-ended');
    expect(tested.code).to.equal(8);
    expect(tested.stdout).to.equal(`${fails}: exit code 3\nno\n${refused}`);
    const loop = program(
      'notification',
      'loop',
      `exec "${process.execPath}" "${join(process.cwd(), 'bin/run.js')}" notify send again`,
    );
    const [result] = jsonOf(await run('on', 'test', 'notification', '--json')) as TestedProgram[];
    expect(result).to.include({ path: loop, code: 6 });
    expect(result?.output).to.include('A program that runs on notifications cannot send any.');
    expect((await run('on', 'test', 'other')).code).to.equal(2);
  });
});
