import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { bareEnvironment } from '../helpers/git';
import { requirePrograms } from '../helpers/real-part';

const SECRET = 'rosebud-4711';

describe('purging the temp files of killed writers (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  before(function () {
    requirePrograms(this, { strace: 'strace', git: 'git' });
  });
  beforeEach(() => {
    home = emptyHome();
    mkdirSync(join(home.path, 'dotfiles'));
    mkdirSync(join(home.path, '.steward'), { mode: 0o700 });
    writeFileSync(join(home.path, 'dotfiles', 'config.yaml'), '', { mode: 0o600 });
    symlinkSync(join(home.path, 'dotfiles', 'config.yaml'), join(home.path, '.steward', 'config.yaml'));
  });
  afterEach(() => home.remove());

  const good = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await steward(args, { home: home.path });
    expect(code, stderr).to.equal(0);
  };
  /** Runs a command that is killed before its n-th rename. */
  const killedAt = (n: number, ...args: string[]): void => {
    const calls = 'rename,renameat,renameat2';
    spawnSync(
      'strace',
      [
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        '-e',
        `trace=${calls}`,
        '-e',
        `inject=${calls}:signal=KILL:when=${n}`,
        process.execPath,
        BIN,
        ...args,
      ],
      { cwd: home.path, env: cleanEnv(home.path, { STEWARD_NO_CODE_CACHE: '1' }), timeout: 60_000 },
    );
  };
  /** The same at one rename after the other, until such a file is left. */
  const killed = (left: RegExp, ...args: string[]): void => {
    for (let n = 1; n <= 9 && !left.test(holders().join(' ')); n += 1) killedAt(n, ...args);
    expect(holders().join(' ')).to.match(left);
  };
  const holders = (): string[] =>
    readdirSync(home.path, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const path = join(home.path, name);
      return (
        !name.startsWith('repo') && statSync(path).isFile() && readFileSync(path, 'utf8').includes(SECRET)
      );
    });

  it('deletes commit subjects with their day, and tokens with a full purge', async () => {
    const repo = join(home.path, 'repo');
    mkdirSync(repo);
    const git = (...args: string[]): void => {
      const done = spawnSync('git', ['-c', 'user.email=me@example.org', '-c', 'user.name=Me', ...args], {
        cwd: repo,
        env: bareEnvironment(home.path),
      });
      expect(done.status, String(done.stderr)).to.equal(0);
    };
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', SECRET);
    await good('config', 'set', 'sense.repos', repo);
    await good('sense', 'init');
    killed(/sense\/\.state\.json\.\w+\.tmp/, 'sense', 'capture');
    await good('sense', 'capture');
    await good('sense', 'purge', '--of', 'today', '--yes');
    expect(holders()).to.deep.equal([]);

    killed(
      /dotfiles\/\.config\.yaml\.\w+\.tmp/,
      'config',
      'set',
      'notifications.chat.webhook',
      `https://example.org/${SECRET}`,
    );
    await good('uninstall', '--purge', '--yes');
    expect(holders()).to.deep.equal([]);
    expect(readdirSync(join(home.path, 'dotfiles'))).to.deep.equal(['config.yaml']);
  });
});
