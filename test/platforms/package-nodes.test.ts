import { spawn, spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { commands } from '../../oclif.manifest.json';
import { version } from '../../package.json';
import { cleanEnv } from '../helpers/cli';
import { removeFolder } from '../helpers/scratch';
import { NODE_LINES, nodeOfLine, requirePart } from '../helpers/real-part';

const REPO = join(__dirname, '..', '..');
const SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];

/** What a person would try first, and what it ends with in an empty home. */
const TRIED: readonly [args: string, code: number][] = [
  ['--version', 0],
  ['sense init', 0],
  ['sense capture', 0],
  ['sense today --json', 0],
  ['sense status', 0],
  ['sense recent', 0],
  ['sense classify explain Firefox', 0],
  ['config show', 0],
  ['config set sense.retentionDays 60', 0],
  ['notify routes', 0],
  ['notify speak --dry-run live', 0],
  ['agents route hello', 0],
  ['work board', 0],
  ['sessions', 0],
  ['hooks status', 0],
  ['daemon status', 8],
  ['completion bash', 0],
  ['sense verison', 2],
];

interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
}

describe('the package on every Node that it is for', function () {
  this.timeout(600_000);
  let root: string;
  let prefix: string;
  let facts: Packed;
  const modules = (): string => join(prefix, 'lib', 'node_modules', 'steward-cli');

  before(function () {
    if (process.platform !== 'linux') this.skip();
    root = mkdtempSync(join(tmpdir(), 'steward-nodes-'));
    prefix = join(root, 'prefix');
    mkdirSync(join(root, 'home'));
    const packed = npm(['pack', '--ignore-scripts', '--json', '--pack-destination', root]);
    facts = (JSON.parse(packed) as [Packed])[0];
    npm(['install', '--global', '--offline', '--prefix', prefix, join(root, facts.filename)]);
  });

  after(() => {
    if (root !== undefined) removeFolder(root);
  });

  function npm(args: string[]): string {
    const env = cleanEnv(join(root, 'home'), {
      npm_config_cache: join(root, 'npm'),
      npm_config_update_notifier: 'false',
    });
    const result = spawnSync('npm', args, { cwd: REPO, env, encoding: 'utf8' });
    if (result.status !== 0) throw new Error(`npm ${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  }

  function run(
    bin: string,
    args: readonly string[],
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    return new Promise((resolve, reject) => {
      const home = join(root, 'home');
      const env = cleanEnv(home, { PATH: `${bin}${delimiter}${process.env['PATH']}` });
      const child = spawn(join(prefix, 'bin', 'steward'), args, {
        cwd: root,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 60_000,
      });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    });
  }

  it('is small: 1.6 MB as a tarball, 5 MB installed', () => {
    expect(facts.size).to.be.lessThan(1_600_000);
    expect(facts.unpackedSize).to.be.lessThan(5_000_000);
    expect(statSync(join(root, facts.filename)).size).to.equal(facts.size);
  });

  it('runs nothing when it is installed, and depends on nothing', () => {
    const manifest = JSON.parse(readFileSync(join(modules(), 'package.json'), 'utf8')) as {
      scripts?: Record<string, string>;
    };
    expect(Object.keys(manifest.scripts ?? {}).filter((name) => SCRIPTS.includes(name))).to.deep.equal([]);
    const depends = Object.keys(manifest).filter((key) => /dependenc/i.test(key));
    expect(depends).to.deep.equal(['devDependencies']);
  });

  it('brings the licence of every package that is in it', () => {
    const text = readFileSync(join(modules(), 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of [
      '@oclif/core',
      'undici',
      'x11',
      '@homebridge/dbus-native',
      'yaml',
      'valibot',
      '@octokit/core',
    ])
      expect(text, name).to.match(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+.* \\(`, 'm'));
  });

  for (const line of NODE_LINES) {
    it(`Node ${line}: every command answers --help, and what a person tries first works`, async function () {
      const bin = nodeOfLine(line);
      const name = `node-${process.platform}-${process.arch}@${line}`;
      if (bin === undefined) return requirePart(this, false, `the package ${name} cannot be fetched`);
      rmSync(join(root, 'home'), { recursive: true, force: true });
      mkdirSync(join(root, 'home'));
      for (const [args, code] of TRIED) {
        const done = await run(bin, args.split(' '));
        expect(done.code, `${args}\n${done.stdout}${done.stderr}`).to.equal(code);
      }
      expect((await run(bin, ['--version'])).stdout).to.equal(`steward ${version}\n`);
      const waiting = Object.keys(commands).map((id) => id.split(':'));
      const worker = async (): Promise<void> => {
        for (let words = waiting.pop(); words !== undefined; words = waiting.pop()) {
          const { code, stdout, stderr } = await run(bin, [...words, '--help']);
          expect({ code, stderr }, words.join(' ')).to.deep.equal({ code: 0, stderr: '' });
          expect(stdout, words.join(' ')).to.include('USAGE').and.include(words.join(' '));
        }
      };
      await Promise.all([worker(), worker()]);
    });
  }
});
