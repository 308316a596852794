import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { emptyHome, steward } from '../helpers/cli';
import { bareEnvironment } from '../helpers/git';

const REPO = 'rosebud';

describe('purged data in exchange folders that were left or replaced (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  let folder = '';
  let other = '';
  beforeEach(async () => {
    home = emptyHome();
    [folder, other] = [join(home.path, 'one'), join(home.path, 'two')];
    const repo = join(home.path, REPO);
    mkdirSync(repo);
    const git = (...args: string[]): void => {
      execFileSync('git', ['-c', 'user.email=me@example.org', '-c', 'user.name=Me', ...args], {
        cwd: repo,
        env: bareEnvironment(home.path),
      });
    };
    git('init', '--quiet');
    git('config', 'user.email', 'me@example.org');
    git('commit', '--quiet', '--allow-empty', '-m', 'start');
    await run('config', 'set', 'sense.repos', repo);
    await run('sense', 'capture');
    await run('sync', 'setup', '--create', folder);
    expect(textIn(folder)).to.contain(REPO);
  });
  afterEach(() => home.remove());

  /** The output of a command that must succeed, on one line. */
  async function run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await steward(args, { home: home.path });
    expect(code, `${stdout}${stderr}`).to.equal(0);
    return `${stdout} ${stderr}`.replace(/\s+/g, ' ');
  }
  function textIn(path: string): string {
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .map((name) => join(path, name))
      .filter((name) => statSync(name).isFile())
      .map((name) => readFileSync(name, 'utf8'))
      .join('\n');
  }
  const purge = (): Promise<string> => run('sense', 'purge', '--repo', REPO, '--records', '--yes');

  it('are named by a purge, and cleared by the command that it prints', async () => {
    expect(await run('sync', 'setup', '--create', other)).to.contain(
      `remain in ${folder}. To delete them: steward sync leave ${folder} --remove`,
    );
    expect(textIn(other)).to.contain(REPO);
    expect(await run('sync', 'leave')).to.contain(`Published files remain in ${other}.`);
    const said = await purge();
    for (const path of [folder, other]) {
      expect(said)
        .to.contain(`Purged data is still in ${path}.`)
        .and.contain(`steward sync leave ${path} --remove`);
      expect(textIn(path)).to.contain(REPO);
      await run('sync', 'leave', path, '--remove');
    }
    expect(textIn(folder) + textIn(other)).to.not.contain(REPO);
    expect(await run('status')).to.not.contain('still');
  });

  it('are named until they are cleared, also while they are away', async () => {
    renameSync(folder, `${folder}-away`);
    expect(await purge()).to.contain('Published files not removed; steward will retry.');
    const pending = `Purged data is still in ${folder}.`;
    expect(await run('sync', 'leave')).to.contain(pending);
    expect(await run('sync', 'status')).to.contain(pending);
    expect(await run('status')).to.contain(`purged data is still in ${folder}`);
    expect(await run('doctor', 'sync')).to.contain(`steward sync leave ${folder}`);
    expect(await run('sync', 'setup', '--create', other)).to.contain(pending);
    expect(existsSync(folder)).to.equal(false);
    renameSync(`${folder}-away`, folder);
    expect(await run('sync', 'leave', '--remove')).to.contain(pending);
    expect(textIn(folder)).to.contain(REPO);
    expect(await run('sync', 'leave', folder, '--remove')).to.contain(
      `Deleted what this machine published to ${folder}.`,
    );
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(await run('status')).to.not.contain('still');
    expect(await run('sync', 'status')).to.not.contain('still');
    const { code, stderr } = await steward(['sync', 'leave', folder], { home: home.path });
    expect([code, stderr]).to.deep.equal([
      5,
      `"${folder}" is not a former folder or repository.\nKnown: none. To leave the current folder: steward sync leave\n`,
    ]);
  });

  it('are rewritten when they are used again, or forgotten on request', async () => {
    renameSync(folder, `${folder}-away`);
    await run('sync', 'leave');
    expect(await purge()).to.contain(`Purged data is still in ${folder}.`);
    renameSync(`${folder}-away`, folder);
    await run('sync', 'setup', '--create', folder);
    expect(textIn(folder)).to.not.contain(REPO);
    expect(await run('sync', 'status')).to.not.contain('still');
    await run('sync', 'leave');
    renameSync(folder, `${folder}-away`);
    expect(await purge()).to.contain(`Purged data is still in ${folder}.`);
    await run('sync', 'leave', folder);
    expect(await run('status')).to.not.contain('still');
  });

  it('are cleared by "uninstall --purge", which names those that it cannot reach', async () => {
    const [machine = ''] = readdirSync(join(folder, 'machines'));
    const [own, otherOwn] = [folder, other].map((path) => join(path, 'machines', machine));
    await run('sync', 'setup', '--create', other);
    renameSync(folder, `${folder}-away`);
    const unreachable = `Not deleted, because it is not reachable: published files in ${own ?? ''}`;
    const dry = await run('uninstall', '--purge', '--dry-run');
    expect(dry)
      .to.contain(unreachable)
      .and.contain(`${otherOwn ?? ''} published files`);
    expect(existsSync(otherOwn ?? '')).to.equal(true);
    const { code, stdout, stderr } = await steward(['uninstall', '--purge', '--yes'], { home: home.path });
    expect(stderr).to.contain(unreachable);
    expect([code, stdout]).to.deep.equal([
      6,
      `Nothing is installed.\nNot removed: published files, ${own ?? ''}: Exchange folder not found: ${folder}. Delete this yourself.\nDeleted the data. Remove the program as you installed it.\n`,
    ]);
    expect(readdirSync(other)).to.deep.equal([]);
    expect(existsSync(join(home.path, '.steward'))).to.equal(false);
  });
});
