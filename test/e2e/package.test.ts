import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import { version } from '../../package.json';
import { cleanEnv } from '../helpers/cli';

const REPO = join(__dirname, '..', '..');

describe('the packed steward', function () {
  this.timeout(180_000);
  let root: string;
  let env: NodeJS.ProcessEnv;
  let bin: string;
  let files: string[];
  let installing: { stdout: string; stderr: string };

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'steward-pack-'));
    env = cleanEnv(join(root, 'home'), {
      npm_config_cache: join(root, 'npm'),
      npm_config_update_notifier: 'false',
    });
    mkdirSync(join(root, 'home'));
    // The scripts were run by whoever built what these tests run.
    const packed = npm(['pack', '--ignore-scripts', '--json', '--pack-destination', root], REPO).stdout;
    const [facts] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
    files = facts.files.map(({ path }) => path);
    // No registry listens here; what npm asks it for, it tells at this level.
    const from = [
      '--registry',
      'http://127.0.0.1:9',
      '--fetch-retries',
      '0',
      '--loglevel',
      'http',
      '--prefix',
      join(root, 'prefix'),
    ];
    installing = npm(['install', '--global', ...from, join(root, facts.filename)], root);
    bin =
      process.platform === 'win32'
        ? join(root, 'prefix', 'steward.cmd')
        : join(root, 'prefix', 'bin', 'steward');
  });

  const modules = (): string =>
    join(root, 'prefix', process.platform === 'win32' ? '' : 'lib', 'node_modules');

  after(() => {
    rmSync(root, { recursive: true, force: true });
  });

  function npm(args: string[], cwd: string): { stdout: string; stderr: string } {
    const result = spawnSync('npm', args, {
      cwd,
      env,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    if (result.status !== 0) throw new Error(`npm ${args.join(' ')}: ${result.stderr}`);
    return result;
  }

  function installed(
    args: string[],
    extra: NodeJS.ProcessEnv = {},
  ): { code: number | null; stdout: string; stderr: string } {
    const result = spawnSync(bin, args, {
      cwd: root,
      env: { ...env, ...extra },
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    return { code: result.status, stdout: result.stdout, stderr: result.stderr };
  }

  it('contains the runtime files and no development files', () => {
    expect(files).to.include.members([
      'bin/run.js',
      'dist/main.js',
      'dist/cli.js',
      'dist/THIRD-PARTY-LICENSES.txt',
      'LICENSE',
    ]);
    expect(
      files.filter((path) => /^(src|test|scripts|bench)\//.test(path) || path === 'bin/dev.js'),
    ).to.deep.equal([]);
  });

  it('installs no dependencies, needs no registry, and prints no warning', () => {
    expect(installing.stderr.replace(/^npm http cache steward-cli@file:.*\n/m, '')).to.equal('');
    expect(installing.stdout).to.match(/^\s*added 1 package in \S+\s*$/);
    expect(readdirSync(modules()).filter((name) => !name.startsWith('.'))).to.deep.equal(['steward-cli']);
    expect(readdirSync(join(modules(), 'steward-cli'))).not.to.include('node_modules');
  });

  it('also finds a globally installed koffi', () => {
    mkdirSync(join(modules(), 'koffi'));
    writeFileSync(join(modules(), 'koffi', 'index.js'), '');
    const bundles = join(modules(), 'steward-cli', 'dist');
    const using = readdirSync(bundles, { recursive: true, encoding: 'utf8' })
      .map((name) => join(bundles, name))
      .filter((path) => path.endsWith('.js') && readFileSync(path, 'utf8').includes('require("koffi")'));
    expect(using).not.to.deep.equal([]);
    for (const path of using) {
      expect(createRequire(path).resolve('koffi')).to.equal(join(modules(), 'koffi', 'index.js'));
    }
  });

  it('prints its version and help, runs a command, and rejects a wrong flag', () => {
    expect(installed(['--version'])).to.deep.equal({ code: 0, stdout: `steward ${version}\n`, stderr: '' });
    expect(installed(['--help']).stdout).to.match(/EVERY DAY/);
    expect(installed(['config', 'path', '--json'])).to.include({ code: 0, stderr: '' });
    expect(installed(['sense', 'verison']).code).to.equal(2);
  });

  it('runs from a read-only folder without a home', function () {
    if (process.platform === 'win32') this.skip();
    const nowhere = { HOME: '/dev/null', XDG_CACHE_HOME: undefined };
    expect(installed(['config', 'path'], nowhere)).to.include({ code: 0, stderr: '' });
  });

  it('loads each heavy library from its own bundle (slow)', () => {
    const dist = join(modules(), 'steward-cli', 'dist');
    const vendors = readdirSync(join(dist, 'vendor'));
    expect(vendors).to.include.members([
      'yaml.js',
      'cosmiconfig.js',
      'x11.js',
      'undici.js',
      'dbus-native.js',
      'eventsource-parser.js',
      'listr2.js',
      'chrono-node.js',
      'octokit.js',
    ]);
    for (const name of vendors) {
      const script = `const m = require(${JSON.stringify(join(dist, 'vendor', name))}); if (Object.keys(m).length === 0) throw new Error('empty')`;
      const result = spawnSync(process.execPath, ['-e', script], { cwd: root, env, encoding: 'utf8' });
      expect(result.stderr, name).to.equal('');
    }
    expect(statSync(join(dist, 'cli.js')).size).to.be.lessThan(1_700_000);
    // An assistant waits for the hook before and after each tool.
    const sizes = { 'hook.js': 127_000, 'statusline.js': 66_500, 'notify-send.js': 42_000 };
    for (const [name, size] of Object.entries(sizes)) {
      expect(statSync(join(dist, name)).size, name).to.be.lessThan(size);
      // node:tty alone takes 3 ms.
      const builtins = readFileSync(join(dist, name), 'utf8').match(/(?<=require\(")node:\w+/g) ?? [];
      const cheap = ['node:buffer', 'node:fs', 'node:os', 'node:path', 'node:timers'];
      expect(builtins.filter((builtin) => !cheap.includes(builtin))).to.deep.equal([]);
    }
    expect(statSync(join(dist, 'overview.js')).size).to.be.lessThan(220_000);
    expect(statSync(join(dist, 'overview-rest.js')).size).to.be.lessThan(435_000);
    for (const name of ['cli.js', 'overview.js', 'overview-rest.js', ...Object.keys(sizes), 'main.js'])
      expect(readFileSync(join(dist, name), 'utf8'), name).not.to.include(REPO);
  });
});
