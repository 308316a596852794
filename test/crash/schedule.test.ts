import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import { bundleChild, type Bundle } from '../helpers/bundle';
import { BIN, cleanEnv } from '../helpers/cli';
import { IS_LONG } from '../helpers/random';
import { fakeCrontab } from '../helpers/schedule';
import { snapshot } from '../helpers/scratch';

const INSTALL = ['sense', 'install', '--scheduler', 'cron', '--json'];
const UNINSTALL = ['sense', 'install', '--uninstall', '--json'];

/** A kill of an installer of jobs, before each of its changes to the disk, and around that of the crontab. */
describe('killed job installs (built)', function () {
  this.timeout(600_000);
  let root = '';
  let fault: Bundle;

  before(function () {
    if (process.platform === 'win32') this.skip();
    fault = bundleChild('fault');
  });
  after(() => fault?.remove());
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'steward-killed-'))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const home = (): string => join(root, 'home');
  const run = (args: readonly string[], env: Record<string, string> = {}) => {
    const crontab = fakeCrontab(join(root, 'cron'));
    return spawnSync(process.execPath, ['--require', fault.path, BIN, ...args], {
      env: cleanEnv(home(), { PATH: crontab.path, STEWARD_NO_CODE_CACHE: '1', ...env }),
      encoding: 'utf8',
      input: '',
      timeout: 120_000,
    });
  };
  const done = (args: readonly string[], why: string): number => {
    const { status, stderr } = run(args);
    expect(status, `${why}: ${args.join(' ')}: ${stderr}`).to.equal(0);
    return Number(/calls (\d+)/.exec(stderr)?.[1]);
  };
  /**
   * All that is there; of files that hold times their place only. A name that was never given its place is of a killed
   * process, and goes with the next sweep of its folder; nobody reads it.
   */
  const state = (): unknown => ({
    files: Object.entries(snapshot(home(), ['.cache']))
      .filter(([path]) => !/\.tmp$|\.lock(?:\.after-[0-9a-f]+)?$/.test(path))
      .map(([path, found]) => (/install-manifest\.json$|machine-id$/.test(path) ? path : [path, found])),
    crontab: fakeCrontab(join(root, 'cron')).text(),
  });
  /** Goes back to what was kept under a name. */
  const keep = (name: string): void => {
    for (const part of ['home', 'cron'])
      cpSync(join(root, part), join(root, name, part), { recursive: true });
  };
  const goBack = (name: string): void => {
    for (const part of ['home', 'cron']) {
      rmSync(join(root, part), { recursive: true });
      cpSync(join(root, name, part), join(root, part), { recursive: true });
    }
  };

  for (const [name, first, killed] of [
    ['install', UNINSTALL, INSTALL],
    ['uninstall', INSTALL, UNINSTALL],
  ] as const) {
    it(`${name}: the next install or uninstall completes it, wherever it was killed`, () => {
      mkdirSync(home());
      // What the sources keep, and the id of the machine, is there before and stays.
      done(INSTALL, 'at first');
      const installed = state();
      const most = done(UNINSTALL, 'at first');
      const gone = state();
      done(first, 'at first');
      keep('begin');
      const calls = Math.max(most, done(killed, 'whole'));
      expect(calls).to.be.greaterThan(5);
      const points: Record<string, string>[] = [
        ...Array.from({ length: calls }, (_, index) => ({ FAULT_AT: String(index + 1), FAULT_MODE: 'kill' })),
        { CRONTAB_KILL: 'before' },
        { CRONTAB_KILL: 'after' },
      ];
      let kills = 0;
      for (const [index, point] of points.entries()) {
        const why = JSON.stringify(point);
        goBack('begin');
        const { signal } = run(killed, point);
        if (signal === 'SIGKILL') kills += 1;
        keep('died');
        // A short run has one of the two, in an order that pairs each with a write and with its rename.
        for (const next of IS_LONG ? [INSTALL, UNINSTALL] : [(index >> 1) % 2 === 0 ? INSTALL : UNINSTALL]) {
          goBack('died');
          done(next, why);
          expect(state(), `${why}, then ${next.join(' ')}`).to.deep.equal(
            next === INSTALL ? installed : gone,
          );
        }
        rmSync(join(root, 'died'), { recursive: true });
      }
      expect(kills).to.be.greaterThan(calls / 2);
    });
  }
});
