import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

import { findProgram } from '../../src/lib/platform/process/spawn';
import { emptyHome, steward } from '../helpers/cli';
import { fakeCrontab } from '../helpers/schedule';
import { startDaemon } from '../helpers/daemon';
import { bareEnvironment } from '../helpers/git';
import { script } from '../helpers/speech';

const DIST = resolve(__dirname, '../../dist');

/** Each looks for programs of its own. */
const COMMANDS = [
  'init --yes --repo ~/repo',
  'status',
  'doctor',
  'sense capture',
  'sense insight build --force',
  'sense install',
  'sense install --status',
  'install --yes --dry-run',
  'uninstall --dry-run',
  'notify test',
  'notify speak one',
  'notify send two --wait',
  'notify send three --source job --wait',
  'notify send four',
  'open',
  'go',
  'work setup ann/work',
  'standup --repo ~/repo',
  'daemon restart',
];

describe('a PATH with relative and empty entries (built)', function () {
  this.timeout(300_000);
  let home: { path: string; remove: () => void };

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => {
    home = emptyHome();
  });
  afterEach(() => home.remove());

  const at = (...names: string[]): string => join(home.path, ...names);

  /** A folder in which every word of the product is a program that notes its name. */
  function projectOfCanaries(): string {
    const canary = script(at('canary'), `echo "\${0##*/}" >>'${at('ran')}'`);
    for (const folder of [at('project'), at('project', 'Programs')]) {
      mkdirSync(folder);
      for (const word of builtWords()) linkSync(canary, join(folder, word));
    }
    return at('project');
  }

  /** The programs of a small machine, without a scheduler, a desktop or a sound card of its own. */
  function programs(): string {
    fakeCrontab(at('bin'));
    script(at('bin', 'systemctl'), 'exit 1');
    script(at('bin', 'xdg-open'), 'exit 0');
    for (const name of ['git', 'sh', 'cat', 'mv', 'rm'])
      symlinkSync(findProgram(name) ?? '', at('bin', name));
    return at('bin');
  }

  it('runs no program in the current folder, and passes no such PATH to child processes', async () => {
    const cwd = projectOfCanaries();
    mkdirSync(at('.steward'), { mode: 0o700 });
    const config = 'notify:\n  smsCommand: [sh, -c, "cat >../sms; notify-send done; git --version"]\n';
    writeFileSync(at('.steward', 'config.yaml'), config, { mode: 0o600 });
    execFileSync('git', ['init', '-q', at('repo')], { env: bareEnvironment(home.path) });
    const env = {
      PATH: ['', '.', 'Programs', programs()].join(':'),
      DISPLAY: ':4711',
      HYPRLAND_INSTANCE_SIGNATURE: 'none',
      XDG_RUNTIME_DIR: home.path,
    };
    const daemon = await startDaemon({ home: home.path, cwd, env });
    try {
      for (const words of COMMANDS) {
        const { code, stderr } = await steward(words.split(' '), { home: home.path, cwd, env });
        // A mistake in the words or in the configuration would start nothing.
        expect(code, `${words}: ${stderr}`).not.to.be.oneOf([2, 3]);
      }
    } finally {
      await daemon.stop();
    }
    expect(ran()).to.deep.equal([]);
    expect(existsSync(at('sms')), 'the programs of absolute entries run').to.equal(true);
  });

  function ran(): string[] {
    if (!existsSync(at('ran'))) return [];
    return [...new Set(readFileSync(at('ran'), 'utf8').trim().split('\n'))].sort();
  }
});

/** Every word that the built product may name a program by, those of its libraries included. */
function builtWords(): Set<string> {
  const bundles = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.js'),
  );
  const words = bundles.flatMap((path) =>
    [...readFileSync(join(DIST, path), 'utf8').matchAll(/["'`]([a-z][a-z0-9_.+-]{0,40})["'`]/g)].map(
      ([, word = '']) => word,
    ),
  );
  return new Set(words);
}
