import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { loadConfig } from '../../src/lib/config/load';
import { userArea, type UserArea } from '../../src/lib/config/user-area';
import { updateConfig } from '../../src/lib/config/write';
import { systemClock } from '../../src/lib/platform/time/clock';
import { bundleChild } from '../helpers/bundle';
import { BIN, cleanEnv } from '../helpers/cli';
import { killsOr } from '../helpers/random';
import { scratch } from '../helpers/scratch';

const KILLS = killsOr(40);

const OLD: Record<string, string> = {
  'config.yaml': '# mine\ntimezone: UTC\nda: {name: DA}\nsync: {folder: /x, engine: git, details: true}\n',
  'settings.json': '{"notifications": {"push": {"topic": "hush-1"}}}',
  'sense/config.json': '{"version": 1, "enabled": false, "repos": ["/src/a"]}',
  'work/config.yaml': '# lanes\nCAPTURE_PROMPT: whole\n',
  'work/work_repo.json': '{"repo": "ann/work", "privacy": {"verifiedPrivate": true, "repoId": 5}}',
};

describe('crash: older files of settings are moved (built)', function () {
  this.timeout(600_000);
  const box = scratch();

  const areaOf = (home: string): UserArea =>
    userArea({ platform: process.platform, env: { XDG_STATE_HOME: join(home, '.local/state') }, home });

  async function valuesIn(home: string): Promise<string> {
    const { config } = await loadConfig({ area: areaOf(home), env: {}, home });
    return JSON.stringify([config, config.settings.notifications.push.topic.stored()]);
  }

  /** Expects that each old file is where it was or has a copy with its bytes. */
  function expectKept(root: string, why: string): void {
    for (const [name, text] of Object.entries(OLD)) {
      const path = join(root, name);
      const copies = readdirSync(dirname(path))
        .map((file) => join(dirname(path), file))
        .filter((file) => file.startsWith(`${path}.moved-`));
      const texts = [path, ...copies]
        .filter((file) => existsSync(file))
        .map((file) => readFileSync(file, 'utf8'));
      if (name !== 'config.yaml') expect(texts, `${name}, ${why}`).to.include(text);
      else
        expect(
          texts.every((each) => each.includes('# mine')),
          `${name}, ${why}`,
        ).to.equal(true);
    }
  }

  it('reads the same and loses nothing, wherever a change is killed', async () => {
    const fault = bundleChild('fault');
    const home = box.path('home');
    try {
      const play = (at: number) => {
        rmSync(home, { recursive: true, force: true });
        for (const [name, text] of Object.entries(OLD)) {
          const path = join(home, '.steward', name);
          mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
          writeFileSync(path, text, { mode: 0o600 });
        }
        const args = ['--require', fault.path, BIN, 'config', 'set', 'da.name', 'Nova'];
        const env = { FAULT_AT: String(at), FAULT_MODE: 'kill', STEWARD_NO_CODE_CACHE: '1' };
        return spawnSync(process.execPath, args, {
          env: cleanEnv(home, env),
          cwd: box.path(''),
          encoding: 'utf8',
        });
      };
      const whole = play(0);
      expect(whole.status, whole.stderr).to.equal(0);
      const after = await valuesIn(home);
      const before = after.replace('"name":"Nova"', '"name":"DA"');
      expectKept(areaOf(home).root, 'not killed');
      const calls = Number(/calls (\d+)/.exec(whole.stderr)?.[1]);
      expect(calls).to.be.greaterThan(20);
      const copy = box.path('copy');
      for (let at = 1; at <= calls; at += Math.max(1, Math.floor(calls / KILLS))) {
        const why = `killed at call ${at} of ${calls}`;
        expect(play(at).signal, why).to.equal('SIGKILL');
        const left = await valuesIn(home);
        expect([before, after], why).to.include(left);
        expectKept(areaOf(home).root, why);
        // The next change finishes the move. A copy of the home is another area, whose lock nobody holds.
        rmSync(copy, { recursive: true, force: true });
        cpSync(join(home, '.steward'), join(copy, '.steward'), { recursive: true });
        const told: string[] = [];
        const tell = (text: string): void => void told.push(text);
        await updateConfig({ area: areaOf(copy), clock: systemClock(), machineId: '0123456789ab', tell });
        expect(await valuesIn(copy), why).to.equal(left);
        expectKept(areaOf(copy).root, why);
        for (const name of ['sense/config.json', 'work/config.yaml'])
          expect(existsSync(join(copy, '.steward', name)), why).to.equal(false);
        expect(areaOf(copy).sense.isSetUp, why).to.equal(true);
      }
    } finally {
      fault.remove();
    }
  });
});
