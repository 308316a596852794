import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

import { cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';

const THEIRS =
  '{\r\n   "model": "x",\r\n   "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}\r\n}';

describe('hooks from the command line', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  const settings = (): string => join(home.path, '.claude', 'settings.json');
  const run = (args: string[]) => steward(args, { home: home.path });

  beforeEach(() => {
    home = emptyHome();
    mkdirSync(join(home.path, '.claude'));
    writeFileSync(settings(), THEIRS);
  });
  afterEach(() => home.remove());

  it('installs, reports, and uninstalls to the byte; repeating each changes nothing', async () => {
    expect((await run(['hooks', 'status'])).stdout).to.match(/^Not installed in /);
    const first = await run(['hooks', 'install']);
    expect(first).to.include({ code: 0, stderr: '' });
    expect(first.stdout).to.include('Added 12 hooks');
    const installed = readFileSync(settings(), 'utf8');
    expect((await run(['sessions'])).stdout).to.include('Sessions that start from now on are recorded.');
    expect((await run(['doctor', 'hooks'])).stdout)
      .to.match(/no sessions recorded yet[\s\S]*Start a session/)
      .and.to.not.include('steward install hooks');
    expect((await run(['hooks', 'install'])).stdout).to.match(/^Hooks already installed/);
    expect(readFileSync(settings(), 'utf8')).to.equal(installed);
    const status = jsonOf(await run(['hooks', 'status', '--json']));
    expect(status).to.include({ state: 'installed', switchedOffBy: null });
    expect(status).to.have.nested.property('node.version', process.versions.node);
    expect(status).to.have.nested.property('steward.version').that.matches(/^\d/);
    expect((await run(['hooks', 'uninstall'])).stdout).to.include('Removed 12 hooks from');
    expect(readFileSync(settings(), 'utf8')).to.equal(THEIRS);
    expect(readdirSync(join(home.path, '.claude'))).to.deep.equal(['settings.json']);
    expect(await run(['hooks', 'uninstall'])).to.include({
      code: 0,
      stdout: 'Nothing is installed.\n',
    });
  });

  it('registers no other assistant without asking, and nothing if none is installed', async () => {
    rmSync(join(home.path, '.claude'), { recursive: true });
    const env = { PATH: dirname(process.execPath) };
    const none = await steward(['hooks', 'install'], { home: home.path, env });
    expect([none.code, none.stdout]).to.deep.equal([5, '']);
    expect(none.stderr).to.include('assistants is installed').and.to.include('--assistant NAME');
    mkdirSync(join(home.path, '.codex'));
    mkdirSync(join(home.path, '.qwen'));
    for (const args of [
      ['hooks', 'install'],
      ['install', 'hooks'],
    ]) {
      const { code, stdout, stderr } = await steward(args, { home: home.path, env });
      expect(code, args.join(' ')).not.to.equal(0);
      expect(stdout + stderr, args.join(' ')).to.include('steward install hooks --assistant codex,qwen');
    }
    expect(readdirSync(join(home.path, '.codex'))).to.deep.equal([]);
    expect(readdirSync(join(home.path, '.qwen'))).to.deep.equal([]);
    expect(existsSync(join(home.path, '.claude'))).to.equal(false);
    // An assistant that is already registered needs no second consent.
    await steward(['hooks', 'install', '--assistant', 'codex'], { home: home.path, env });
    const again = await steward(['hooks', 'install'], { home: home.path, env });
    expect(again).to.include({ code: 0 });
    expect(again.stdout).to.match(/^Hooks already installed in .*\.codex/);
    const status = await steward(['hooks', 'status', '--assistant', 'claude-code'], { home: home.path, env });
    expect(status.stdout, 'the script is there for Codex').to.match(/^Not installed in /);
  });

  it('refuses to remove a folder in the place of the script', async function () {
    if (process.platform === 'win32') this.skip();
    await run(['hooks', 'install']);
    const script = join(home.path, '.steward', 'bin', 'steward-hook');
    rmSync(script);
    mkdirSync(script);
    const refused = await run(['hooks', 'uninstall']);
    expect(refused.code).to.equal(3);
    expect(refused.stderr).to.include(`Cannot remove ${script}: it is a folder`).and.not.to.include('bug');
    expect(existsSync(script)).to.equal(true);
  });

  it('writes nothing in a dry run, not even a machine id', async () => {
    const dry = await run(['hooks', 'install', '--dry-run', '--json']);
    expect(jsonOf(dry)).to.have.nested.property('hooks[0].settings', settings());
    expect(jsonOf(await run(['hooks', 'uninstall', '--dry-run', '--json']))).to.include({ dryRun: true });
    expect(readFileSync(settings(), 'utf8')).to.equal(THEIRS);
    expect(existsSync(join(home.path, '.steward'))).to.equal(false);
    expect(existsSync(join(home.path, '.local', 'state', 'steward', 'machine-id'))).to.equal(false);
  });

  it('exits 3 for settings that are not JSON and leaves them unchanged, and 2 for an unknown assistant', async () => {
    writeFileSync(settings(), '{ // mine\n}');
    for (const verb of ['install', 'uninstall', 'status']) {
      const refused = await run(['hooks', verb]);
      expect([refused.code, refused.stdout], verb).to.deep.equal([3, '']);
      expect(refused.stderr).to.include(`${settings()} is not JSON: line 1, column 3`);
    }
    expect(readFileSync(settings(), 'utf8')).to.equal('{ // mine\n}');
    expect((await run(['hooks', 'install', '--assistant', 'nobody'])).code).to.equal(2);
  });

  it('prints every failure, and registers with the other assistants', async () => {
    const codex = join(home.path, '.codex', 'hooks.json');
    mkdirSync(dirname(codex));
    writeFileSync(settings(), '{ // mine\n}');
    writeFileSync(codex, '[');
    const args = ['hooks', 'install', '--assistant', 'claude-code,codex,copilot'];
    const { code, stdout, stderr } = await run(args);
    expect(code).to.equal(3);
    for (const path of [settings(), codex]) expect(stderr).to.include(`${path} is not JSON`);
    expect(stdout).to.match(/copilot/i);
    const refused = await run([...args, '--json']);
    expect(refused.stdout).to.equal('');
    for (const path of [settings(), codex]) expect(refused.stderr).to.include(path);
  });

  it('registers commands that a shell runs, with a real steward (slow)', async function () {
    if (process.platform === 'win32') this.skip();
    await run(['hooks', 'install']);
    const { hooks } = JSON.parse(readFileSync(settings(), 'utf8')) as {
      hooks: Record<string, { hooks: { command: string }[] }[]>;
    };
    const registered = Object.entries(hooks).map(
      ([event, groups]) => [event, groups.at(-1)?.hooks[0]?.command ?? ''] as const,
    );
    expect(registered).to.have.length(12);
    for (const [event, command] of registered) {
      const input = JSON.stringify({ session_id: 's1', cwd: home.path, hook_event_name: event });
      const env = cleanEnv(home.path, { NODE_OPTIONS: '--require ./not-there.js' });
      const { status, stdout } = spawnSync('sh', ['-c', command], {
        cwd: home.path,
        env,
        input,
        encoding: 'utf8',
      });
      expect([status, stdout], event).to.deep.equal([0, '']);
    }
  });
});
