import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

import { claudeCode } from '../../src/lib/assistant/claude-code';
import { installHooks } from '../../src/lib/assistant/install';
import type { HookInstallDeps } from '../../src/lib/assistant/install-deps';
import { uninstallHooks } from '../helpers/uninstall-hooks';
import { userArea } from '../../src/lib/config/user-area';
import type { Clock } from '../../src/lib/platform/time/clock';
import { bundleChild, type Bundle } from '../helpers/bundle';
import { scratch } from '../helpers/scratch';

const ROOT = resolve(__dirname, '..', '..');
const THEIRS = '{\n\t"model": "x",\n\t"hooks": { "Stop": [ ] }\n}';

describe('assistant: a hooks install, killed before any change to the disk', () => {
  const box = scratch();
  const path = (): string => box.path('.claude', 'settings.json');
  const read = (): string => readFileSync(path(), 'utf8');

  function put(text: string): void {
    mkdirSync(box.path('.claude'), { recursive: true });
    writeFileSync(path(), text);
    chmodSync(path(), 0o600);
  }

  function deps(): HookInstallDeps {
    const host = { platform: process.platform, env: {}, home: box.path() };
    return {
      area: userArea(host),
      // Each look at the clock is a second later, so that no two backups have one name.
      clock: ticking(),
      machineId: '0123456789ab',
      host,
      product: { root: ROOT, node: process.execPath },
    };
  }

  const install = () => installHooks(deps(), { assistant: claudeCode, dryRun: false });
  const uninstall = () => uninstallHooks(deps(), { assistant: claudeCode, dryRun: false });

  /** All that is left below the home, but for empty state folders and machine-local state. */
  const leftovers = (): string[] =>
    readdirSync(box.path(), { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith(join('.local', '')) && lstatSync(box.path(name)).isFile())
      .sort();

  let child: Bundle;
  before(() => {
    child = bundleChild('hooks-once');
  });
  after(() => child.remove());

  /** Runs it once for each change, killed just before; `check` sees what is left each time. */
  async function killedEverywhere(
    action: string,
    prepare: () => Promise<void>,
    check: (dieAt: number) => Promise<void>,
  ) {
    for (let dieAt = 1; ; dieAt += 1) {
      rmSync(box.path(), { recursive: true, force: true });
      mkdirSync(box.path());
      put(THEIRS);
      await prepare();
      const { signal, stderr } = spawnSync(
        process.execPath,
        [child.path, action, box.path(), ROOT, String(dieAt)],
        { encoding: 'utf8' },
      );
      expect(stderr).to.equal('');
      // A lock of a process that is gone is taken over.
      await check(dieAt);
      if (signal === null) return dieAt;
    }
  }

  /** The settings without an install, and with one; no other state may ever be seen. */
  async function states(): Promise<{ old: string; added: string }> {
    put(THEIRS);
    await install();
    const added = read();
    await uninstall();
    return { old: THEIRS, added };
  }

  const takenBack = async (): Promise<void> => {
    await uninstall();
    expect(read()).to.equal(THEIRS);
    // A temp file of the manifest lies in steward's own folder.
    const own = /^\.steward\/state\/\..*\.tmp$/;
    expect(leftovers().filter((name) => !own.test(name))).to.deep.equal(['.claude/settings.json']);
  };

  it('an interrupted install is repaired by the next one, and removed by an uninstall', async function () {
    this.timeout(400_000);
    const { old, added } = await states();
    const seen = new Set<string>();
    const last = await killedEverywhere(
      'install',
      () => Promise.resolve(),
      async (dieAt) => {
        seen.add(read());
        if (dieAt % 2 === 0) {
          await install();
          expect(read()).to.equal(added);
        }
        await takenBack();
      },
    );
    expect(last).to.be.greaterThan(20);
    expect([...seen].sort()).to.deep.equal([old, added].sort());
  });

  it('an interrupted uninstall is completed by the next one, and undone by an install', async function () {
    this.timeout(400_000);
    const { old, added } = await states();
    const seen = new Set<string>();
    const installed = async (): Promise<void> => {
      await installHooks(deps(), { assistant: claudeCode, dryRun: false, skill: true });
    };
    const last = await killedEverywhere('uninstall', installed, async (dieAt) => {
      seen.add(read());
      if (dieAt % 2 === 0) {
        await install();
        expect(read()).to.equal(added);
      }
      await takenBack();
    });
    expect(last).to.be.greaterThan(10);
    expect([...seen].sort()).to.deep.equal([old, added].sort());
  });
});

function ticking(): Clock {
  let now = Date.parse('2026-11-20T08:14:00Z');
  return {
    now: () => {
      now += 1000;
      return now;
    },
    monotonic: () => performance.now(),
  };
}
