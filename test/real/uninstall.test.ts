import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import { BIN, cleanEnv } from '../helpers/cli';
import { until } from '../helpers/desktop-kit';
import { startNamespace, type Namespace } from '../helpers/namespace';
import { requirePrograms } from '../helpers/real-part';
import { removeFolder, snapshot } from '../helpers/scratch';

const SETTINGS =
  '{\r\n\t"model": "x",\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}\r\n}';
/** What a daemon that runs writes to by itself; a socket cannot be read. */
const LIVING = [
  '.cache',
  '.local/state',
  '.steward/daemon',
  '.steward/sense',
  '.steward/goals',
  '.steward/observability',
  '.steward/state',
];
const OWN_CRONTAB = '# mine\n0 5 * * * true\n';

describe('uninstall: restores a home, with a real cron', function () {
  this.timeout(300_000);
  let root = '';
  let home = '';
  let space: Namespace | undefined;

  before(async function () {
    requirePrograms(this, { unshare: 'util-linux', cron: 'cron', crontab: 'cron' });
    if (process.getuid?.() !== 0) this.skip();
    root = mkdtempSync(join(tmpdir(), 'steward-uninstall-'));
    home = join(root, 'home');
    mkdirSync(home);
    space = await startNamespace(
      join(root, 'namespace'),
      ['mount -t tmpfs tmpfs /var/spool/cron', 'mkdir -m 1730 /var/spool/cron/crontabs', 'cron -f &'].join(
        '\n',
      ),
      cleanEnv(home),
    );
  });
  after(async () => {
    await space?.stop();
    if (root !== '') removeFolder(root);
  });
  afterEach(async () => void (await run('daemon', 'stop')));
  beforeEach(() => {
    removeFolder(home);
    mkdirSync(join(home, '.claude'), { recursive: true });
    writeFileSync(join(home, '.claude', 'settings.json'), SETTINGS);
    writeFileSync(join(home, '.bashrc'), 'alias ll=ls\n');
  });

  async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    if (space === undefined) throw new Error('The namespace was not started.');
    return space.exec(process.execPath, [BIN, ...args]);
  }
  async function done(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    expect(code, `${args.join(' ')}: ${stdout}${stderr}`).to.equal(0);
    return stdout;
  }
  async function installEverything(): Promise<void> {
    await done('init', '--yes', '--name', 'Ann', '--push', '--voice', 'mute');
    await done('config', 'set', 'daemon.port', '31397');
    for (const part of ['hooks', 'daemon']) await done('install', part);
    for (const shell of ['bash', 'fish', 'zsh']) await done('install', 'completion', '--shell', shell);
    await done('sense', 'capture');
    await until('the daemon', async () => (await run('daemon', 'status')).code === 0, 60_000);
    const status = JSON.parse(await done('status', '--json')) as { parts: { id: string; state: string }[] };
    expect(status.parts.find(({ id }) => id === 'hooks')).to.have.property('state', 'ok');
    expect(status.parts.find(({ id }) => id === 'daemon')).to.have.property('state', 'ok');
  }

  it('leaves nothing: jobs, daemon, hooks, completion, user area, state and cache', async () => {
    const before = snapshot(home);
    await installEverything();
    const dry = snapshot(home, LIVING);
    expect(Object.keys(dry).length).to.be.greaterThan(Object.keys(before).length + 10);
    expect(await done('uninstall', '--purge', '--dry-run')).to.include('Would remove daemon from cron');
    expect(snapshot(home, LIVING)).to.deep.equal(dry);
    const told = await done('uninstall', '--purge', '--yes');
    expect(told).to.include('Removed daemon from cron').and.include('hooks from');
    expect(snapshot(home)).to.deep.equal(before);
    expect((await space?.exec('crontab', ['-l']))?.code).to.equal(1);
    expect(await done('uninstall', '--purge', '--yes')).to.include('Nothing is installed.');
    expect(snapshot(home)).to.deep.equal(before);
  });

  it('removes its lines from files that were edited since, and keeps the edits', async () => {
    const file = join(root, 'crontab');
    writeFileSync(file, OWN_CRONTAB);
    await space?.exec('crontab', [file]);
    const before = snapshot(home);
    await installEverything();
    const settings = join(home, '.claude', 'settings.json');
    writeFileSync(settings, readFileSync(settings, 'utf8').replace('"model": "x"', '"model": "y"'));
    await done('uninstall', '--purge', '--yes');
    const edited = SETTINGS.replace('"model": "x"', '"model": "y"');
    expect(readFileSync(settings, 'utf8')).to.equal(edited);
    writeFileSync(settings, SETTINGS);
    expect(snapshot(home)).to.deep.equal(before);
    expect((await space?.exec('crontab', ['-l']))?.stdout).to.equal(OWN_CRONTAB);
    await space?.exec('crontab', ['-r']);
  });

  it('keeps the data without --purge, and leaves and names an edited completion script', async () => {
    await installEverything();
    const script = join(home, '.config', 'fish', 'completions', 'steward.fish');
    writeFileSync(script, '# mine\n');
    const { code, stdout } = await run('uninstall');
    expect(code).to.equal(6);
    expect(stdout).to.include(`Not removed: ${script}: changed since it was installed`);
    expect(readFileSync(script, 'utf8')).to.equal('# mine\n');
    expect(await done('config', 'show', '--json')).to.include('Ann');
    expect((await run('daemon', 'status')).code).to.equal(8);
  });

  it('asks before a purge, and refuses to delete a home folder', async () => {
    await done('init', '--yes');
    const asked = await run('uninstall', '--purge');
    expect([asked.code, asked.stdout]).to.deep.equal([2, '']);
    expect(asked.stderr).to.include('This will be deleted:').and.include('--yes');
    const wide = await space?.exec(process.execPath, [BIN, 'uninstall', '--purge', '--yes'], {
      STEWARD_HOME: home,
    });
    expect(wide?.code).to.equal(2);
    expect(wide?.stderr).to.include('contains your home folder');
    writeFileSync(join(home, '.steward', 'mine.txt'), 'mine');
    expect((await run('uninstall', '--purge', '--yes')).stderr).to.include("not steward's");
    expect(snapshot(join(home, '.steward'))).to.have.keys(['', 'mine.txt']);
  });
});
