import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { readMachines, readPublishedDay } from '../../src/lib/sync/exchange';
import { emptyHome, steward } from '../helpers/cli';
import { bareEnvironment } from '../helpers/git';
import { killsOr } from '../helpers/random';
import { requirePrograms } from '../helpers/real-part';
import { killedAt, WRITING_CALLS } from '../helpers/strace';

/** Rounds of 48 commands are killed until there were so many kills. */
const KILLS = killsOr(10);

describe('a machine that is killed while it publishes (built)', function () {
  this.timeout(300_000 + KILLS * 10_000);
  const home = emptyHome();
  const folder = join(home.path, 'exchange');
  after(() => home.remove());
  before(function () {
    requirePrograms(this, { strace: 'strace', git: 'git' });
  });

  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await steward(args, { home: home.path });
    expect(code, stderr).to.equal(0);
    return stdout;
  };
  const published = (): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort();
  /** Everything that is there can be read by the other machines. */
  const expectWhole = (): void => {
    const damaged: string[] = [];
    const machines = readMachines(folder, (path, reason) => {
      // The machine's own file is written last.
      if (reason !== 'missing') damaged.push(`${path}: ${reason}`);
    });
    for (const machine of machines) {
      for (const day of machine.days.daily)
        readPublishedDay(machine, day, (path, reason) => damaged.push(`${path}: ${reason}`));
    }
    expect(damaged).to.deep.equal([]);
  };

  it('leaves no half file, wherever it is killed, and the next run completes it', async () => {
    const repo = join(home.path, 'repo');
    mkdirSync(repo);
    const env = bareEnvironment(home.path);
    const commit = (subject: string): void => {
      const args = [
        '-c',
        'user.email=me@example.org',
        '-c',
        'user.name=Me',
        'commit',
        '-q',
        '--allow-empty',
        '-m',
        subject,
      ];
      expect(spawnSync('git', args, { cwd: repo, env }).status).to.equal(0);
    };
    spawnSync('git', ['init', '-q'], { cwd: repo, env });
    spawnSync('git', ['config', 'user.email', 'me@example.org'], { cwd: repo, env });
    commit('first');
    await run('config', 'set', 'sense.repos', repo);
    await run('sense', 'capture');
    await run('sync', 'setup', '--create', folder);
    const complete = published();
    let kills = 0;
    for (let round = 0; kills < KILLS; round += 1) {
      expect(round, 'rounds').to.be.below(KILLS);
      for (let n = 1; n <= 8 && kills < KILLS; n += 1) {
        for (const calls of WRITING_CALLS.slice(0, 3)) {
          const at = { n, calls, home: home.path };
          commit(`${calls} ${n}`);
          if (killedAt(at, ['sense', 'capture'])) kills += 1;
          expectWhole();
          // Turning details on and off rewrites every file.
          if (killedAt(at, ['sync', 'setup', n % 2 === 0 ? '--no-details' : '--details'])) kills += 1;
          expectWhole();
        }
      }
    }
    await run('sync', 'setup', '--no-details');
    await run('sense', 'capture');
    expect(published()).to.deep.equal(complete);
    expect(complete.map((name) => readFileSync(join(folder, name), 'utf8')).join('')).to.not.contain(
      '"subject"',
    );
    const { changed } = JSON.parse(await run('sync', 'setup', '--dry-run', '--json')) as {
      changed: { files: number };
    };
    expect(changed.files).to.equal(0);
  });
});
