import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import { jsonOf, steward, type StewardResult } from '../helpers/cli';
import { fakeCrontab, type FakeCrontab } from '../helpers/schedule';
import { snapshot } from '../helpers/scratch';

/** What a look at the settings leaves in any case. */
const LOOKED = ['.cache'];

describe('install and uninstall, in parts (built)', function () {
  this.timeout(240_000);
  let root = '';
  let home = '';
  let crontab: FakeCrontab;

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'steward-parts-'));
    home = join(root, 'home');
    mkdirSync(join(home, '.claude'), { recursive: true });
    writeFileSync(join(home, '.claude', 'settings.json'), '{}\n');
    crontab = fakeCrontab(join(root, 'cron'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const run = (...args: string[]): Promise<StewardResult> =>
    steward(args, { home, env: { PATH: crontab.path } });
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    expect(code, `${args.join(' ')}: ${stdout}${stderr}`).to.equal(0);
    return stdout;
  };
  const skill = (): string => join(home, '.claude', 'skills', 'work', 'SKILL.md');
  const script = (): string => join(home, '.local', 'share', 'bash-completion', 'completions', 'steward');

  it('install --dry-run lists the steps, and writes nothing', async () => {
    const before = snapshot(home, LOOKED);
    const hooks = await done('install', 'hooks', '--skill', '--dry-run');
    expect(hooks)
      .to.include(`Would add 12 hooks to ${join(home, '.claude', 'settings.json')}: `)
      .and.to.include(`Would write the work skill: ${join(home, '.claude', 'skills', 'work')}\n`)
      .and.to.match(/Nothing was written\.\n$/);
    expect(await done('install', 'completion', '--shell', 'bash', '--dry-run')).to.include(
      `Would install: bash completion in ${script()}\n`,
    );
    expect(snapshot(home, LOOKED)).to.deep.equal(before);
    expect(jsonOf(await run('install', 'hooks', '--dry-run', '--json'))).to.deep.include({ dryRun: true });
    expect(snapshot(home, LOOKED)).to.deep.equal(before);
    await done('install', 'hooks', '--skill');
    await done('install', 'completion', '--shell', 'bash');
    const after = snapshot(home, LOOKED);
    expect(await done('install', 'hooks', '--dry-run')).to.match(/^Hooks already installed in /);
    expect(await done('install', 'completion', '--shell', 'bash', '--dry-run')).to.match(
      /^Already installed: bash completion in /,
    );
    expect(snapshot(home, LOOKED)).to.deep.equal(after);
  });

  it('install adds the work skill only on request, and hooks status shows it', async () => {
    await done('install', 'hooks');
    expect(existsSync(skill())).to.equal(false);
    expect(await done('hooks', 'status')).to.include(
      'work skill: not installed; to add it: steward install hooks --skill',
    );
    await done('install', 'hooks', '--skill');
    expect(existsSync(skill())).to.equal(true);
    expect(await done('hooks', 'status')).to.include(
      `work skill: ${join(home, '.claude', 'skills', 'work')}`,
    );
    expect(jsonOf(await run('hooks', 'status', '--json'))).to.have.nested.property('skill.exists', true);
    const refused = await run('install', 'completion', '--skill');
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include('--skill belongs to "steward install hooks".');
  });

  it('uninstall removes the named parts, and leaves the others (slow)', async () => {
    await done('install', 'hooks', '--skill');
    await done('install', 'completion', '--shell', 'bash');
    await done('sense', 'install', '--scheduler', 'cron');
    const before = snapshot(home, LOOKED);
    expect(await done('uninstall', 'daemon', '--dry-run')).to.equal('Nothing is installed.\n');
    expect(snapshot(home, LOOKED)).to.deep.equal(before);
    expect(await done('uninstall', 'daemon')).to.equal('Nothing is installed.\n');
    expect(existsSync(skill()) && existsSync(script())).to.equal(true);
    expect(await done('uninstall', 'completion')).to.equal(`Removed ${script()}\n`);
    expect(existsSync(script())).to.equal(false);
    const folder = join(home, '.claude', 'skills', 'work');
    expect(await done('uninstall', '--dry-run')).to.include(`Would remove the work skill: ${folder}\n`);
    const took = await done('uninstall', 'hooks');
    expect(took).to.match(/^Removed \d+ hooks from /);
    expect(took).to.include(`Removed the work skill: ${folder}\n`);
    expect([existsSync(skill()), readFileSync(join(home, '.claude', 'settings.json'), 'utf8')]).to.deep.equal(
      [false, '{}\n'],
    );
    expect(crontab.text()).to.include('steward-tick');
    expect(await done('uninstall', 'jobs')).to.equal('Removed tick from cron\n');
    expect(crontab.text()).to.equal(undefined);
    expect(await done('uninstall', '--dry-run')).to.equal('Nothing is installed.\n');
    await steward(['config', 'path'], { home, ownProcess: true });
    expect(existsSync(join(home, '.cache', 'steward'))).to.equal(true);
    expect(await done('uninstall')).to.equal('Nothing is installed.\n');
    expect(existsSync(join(home, '.cache', 'steward'))).to.equal(false);
  });

  it('finds a job in a crontab whether or not cron is running', async () => {
    writeFileSync(join(root, 'cron', 'systemctl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    await done('sense', 'install', '--scheduler', 'cron');
    const told = await done('install', 'jobs', '--dry-run');
    expect(told).to.match(/^Already installed: tick, which runs every 2 min\n[^]*Nothing was written\.\n$/);
    expect(await done('install', 'jobs')).to.match(/^Already installed: tick/);
    expect(await done('work', 'install')).to.match(/^Already installed: /);
  });

  it('uninstall removes the browser extension and its code', async () => {
    const { folder } = jsonOf(await run('sense', 'web', 'install', '--json')) as { folder: string };
    const paths = [folder, join(folder, '..', 'web.json')];
    const removed = (verb: string): string =>
      [
        ...paths.map((path) => `${verb} ${path}\n`),
        'Remove the extension from the browser too: on chrome://extensions, or in Firefox on about:addons.\n',
      ].join('');
    expect(await done('uninstall', '--dry-run')).to.equal(removed('Would remove'));
    expect(paths.map(existsSync)).to.deep.equal([true, true]);
    expect(await done('uninstall')).to.equal(removed('Removed'));
    expect(paths.map(existsSync)).to.deep.equal([false, false]);
    expect(await done('uninstall')).to.equal('Nothing is installed.\n');
  });

  it('uninstall refuses an unknown part, and a purge of one part', async () => {
    const none = await run('uninstall', 'cleanup');
    expect(none.code).to.equal(2);
    expect(none.stderr).to.include('cleanup');
    const purge = await run('uninstall', 'hooks', '--purge', '--yes');
    expect(purge.code).to.equal(2);
    expect(purge.stderr).to.include('--purge');
  });
});
