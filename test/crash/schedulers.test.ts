import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

import { bundleChild, type Bundle } from '../helpers/bundle';
import { IS_LONG } from '../helpers/random';
import { snapshot } from '../helpers/scratch';

const ROOT = resolve(__dirname, '..', '..');

/**
 * An installer is killed before each of its changes, to the disk or in the scheduler; the next install or uninstall then
 * leaves what it leaves when nobody is killed: the files, and what the scheduler runs by.
 */
describe('schedule: killed installs', function () {
  this.timeout(600_000);
  let root = '';
  let fault: Bundle;
  let child: Bundle;

  before(function () {
    if (process.platform === 'win32') this.skip();
    fault = bundleChild('fault');
    child = bundleChild('schedule-step');
  });
  after(() => {
    fault?.remove();
    child?.remove();
  });
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'steward-killed-'))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const home = (): string => join(root, 'home');
  const run = (kind: string, step: Step, env: Record<string, string> = {}) =>
    spawnSync(process.execPath, ['--require', fault.path, child.path, home(), kind, ...step], {
      env: { PATH: process.env['PATH'], HOME: home(), PRODUCT_ROOT: ROOT, ...env },
      encoding: 'utf8',
      timeout: 120_000,
    });
  const done = (kind: string, step: Step, why: string): number => {
    const { status, stderr } = run(kind, step);
    expect(status, `${why}: ${step.join(' ')}: ${stderr}`).to.equal(0);
    return Number(/calls (\d+)/.exec(stderr)?.[1]);
  };
  /** The files, but for the names that a killed process left and nobody reads; of those with times their place only. */
  const state = (): unknown => ({
    files: Object.entries(snapshot(home()))
      .filter(([path]) => !/\.tmp$|\.new$|\.lock(?:\.after-[0-9a-f]+)?$|^scheduler\.json$/.test(path))
      .map(([path, found]) => (path.endsWith('install-manifest.json') ? path : [path, found])),
    scheduler: existsSync(join(home(), 'scheduler.json'))
      ? sorted(JSON.parse(readFileSync(join(home(), 'scheduler.json'), 'utf8')))
      : undefined,
  });
  const keep = (name: string): void => cpSync(home(), join(root, name), { recursive: true });
  const goBack = (name: string): void => {
    rmSync(home(), { recursive: true });
    cpSync(join(root, name), home(), { recursive: true });
  };

  type Step = readonly [verb: 'install' | 'uninstall', seconds: string];
  const OLD: Step = ['install', '120'];
  const NEW: Step = ['install', '300'];
  const OFF: Step = ['uninstall', '120'];

  for (const kind of ['launchd', 'systemd', 'task-scheduler']) {
    for (const [name, first, killed] of [
      ['the first install', OFF, NEW],
      ['an install at another interval', OLD, NEW],
      ['an uninstall', NEW, OFF],
    ] as const) {
      // What a first install writes before it asks the scheduler is the same for all.
      if (name === 'the first install' && kind !== 'systemd') continue;
      it(`${kind}: ${name}`, () => {
        mkdirSync(home());
        done(kind, NEW, 'at first');
        const installed = state();
        done(kind, OFF, 'at first');
        const gone = state();
        done(kind, first, 'at first');
        keep('begin');
        const calls = done(kind, killed, 'whole');
        expect(calls).to.be.greaterThan(5);
        expect(state()).to.deep.equal(killed === OFF ? gone : installed);
        for (let at = 1; at <= calls; at += 1) {
          const why = `killed before change ${at} of ${calls}`;
          goBack('begin');
          expect(run(kind, killed, { FAULT_AT: String(at), FAULT_MODE: 'kill' }).signal, why).to.equal(
            'SIGKILL',
          );
          keep('died');
          // A short run has one of the two, in an order that pairs each with a write and with its rename.
          for (const next of IS_LONG ? [NEW, OFF] : [(at >> 1) % 2 === 0 ? NEW : OFF]) {
            goBack('died');
            done(kind, next, why);
            expect(state(), `${why}, then ${next[0]}`).to.deep.equal(next === OFF ? gone : installed);
          }
          rmSync(join(root, 'died'), { recursive: true });
        }
      });
    }
  }
});

/** The same things in the same order, however they came there. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
