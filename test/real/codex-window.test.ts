import { expect } from 'chai';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { codexWindow } from '../../src/lib/assistant/codex-window';
import { findProgram } from '../../src/lib/platform/process/spawn';
import { programsOnTerminals, type RunningProgram } from '../../src/lib/platform/process/programs';
import { until } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';
import { removeFolder } from '../helpers/scratch';
import { closeScreen, openScreen, type Screen } from '../helpers/screens';

const SESSION = '01a21a22-31b6-7b42-8b52-c403c7a84ffc';

/** Real processes under Codex's name, on real terminals: the rules read nothing else of Codex. */
describe('the window of a Codex session', function () {
  this.timeout(60_000);
  let home: string;
  let screens: Screen[];

  before(function () {
    requirePrograms(this, { script: 'bsdutils' });
  });
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'steward-codex-')));
    screens = [];
    for (const name of ['site', 'other', 'bin']) mkdirSync(join(home, name));
    symlinkSync(join(home, 'site'), join(home, 'link'));
    symlinkSync(findProgram('sh') ?? '', join(home, 'bin', 'codex'));
  });
  afterEach(async () => {
    for (const screen of screens) await closeScreen(screen);
    removeFolder(home);
  });

  const at = (name: string): string => join(home, name);
  const isOurs = ({ cwd }: RunningProgram): boolean => cwd.startsWith(home);
  const windows = (): RunningProgram[] => programsOnTerminals('codex', Date.now()).filter(isOurs);

  /** Opens a window with these arguments and returns its process. */
  async function open(
    folder: string,
    args: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<RunningProgram> {
    const before = new Set(windows().map(({ pid }) => pid));
    // The shell keeps its arguments after the script, as Codex does.
    const line = `cd ${at(folder)} && exec ${at('bin/codex')} -c 'read line; exit' codex ${args.join(' ')}`;
    screens.push(await openScreen(line, { PATH: process.env['PATH'], HOME: home, ...env }));
    return until('the window', () => windows().find(({ pid }) => !before.has(pid)));
  }
  const found = (id: string, folder?: string, before?: RunningProgram): number | undefined =>
    codexWindow({
      id,
      cwd: folder === undefined ? undefined : at(folder),
      env: { HOME: home },
      nowMs: Date.now(),
      before: () => before,
    })?.pid;

  it('is the only one in its folder', async () => {
    const here = await open('site');
    await open('other');
    expect([found(SESSION, 'site'), found(SESSION, 'link')]).to.deep.equal([here.pid, here.pid]);
    expect([found(SESSION, 'bin'), found(SESSION)]).to.deep.equal([undefined, undefined]);
  });

  for (const args of [['-C', '../site'], ['--cd', '../site'], ['--cd=../site']]) {
    it(`is the one that was started with ${args.join(' ')}`, async () => {
      const { pid } = await open('other', args);
      expect([found(SESSION, 'site'), found(SESSION, 'other')]).to.deep.equal([pid, undefined]);
    });
  }

  it('is the only one that resumed it, also in another folder', async () => {
    await open('site');
    const { pid } = await open('other', ['resume', SESSION]);
    expect(found(SESSION, 'site')).to.equal(pid);
    await open('bin', ['resume', SESSION]);
    await open('site');
    expect(found(SESSION, 'site')).to.equal(undefined);
  });

  it('is the one of several in its folder that started just before it', async () => {
    const first = await open('site');
    await until('time passes', () => Date.now() > first.startedMs + 500);
    const second = await open('site');
    const createdAt = (ms: number): string => {
      const digits = Math.round(ms).toString(16).padStart(12, '0');
      return `${digits.slice(0, 8)}-${digits.slice(8)}-7b42-8b52-c403c7a84ffc`;
    };
    const between = (first.startedMs + second.startedMs) / 2;
    expect(found(createdAt(between), 'site')).to.equal(first.pid);
    // Both started just before it, both long ago, or neither did yet.
    for (const ms of [second.startedMs + 1000, second.startedMs + 60_000, first.startedMs - 1000])
      expect(found(createdAt(ms), 'site')).to.equal(undefined);
    expect(found('not-a-time', 'site')).to.equal(undefined);
  });

  it('is the one that showed it before, while that runs and others are open', async () => {
    const first = await open('site');
    const second = await open('site');
    expect(found(SESSION, 'site', first)).to.equal(first.pid);
    expect(found(SESSION, 'site', { ...first, started: '1' })).to.equal(undefined);
    expect(found(SESSION, 'site', { ...second, pid: 1 })).to.equal(undefined);
  });

  it('belongs to this home and this configuration', async () => {
    await open('site', [], { HOME: at('other') });
    await open('site', [], { CODEX_HOME: at('other') });
    expect(found(SESSION, 'site')).to.equal(undefined);
    const { pid } = await open('site');
    expect(found(SESSION, 'site')).to.equal(pid);
  });

  it('is the launcher, not the program that it starts on the same terminal', async () => {
    const line = `cd ${at('site')} && ${at('bin/codex')} -c '${at('bin/codex')} -c "read line; exit"; exit'`;
    screens.push(await openScreen(line, { PATH: process.env['PATH'], HOME: home }));
    const [launcher] = await until('the launcher', () => windows().length > 0 && windows());
    expect(found(SESSION, 'site')).to.equal(launcher?.pid);
  });
});
