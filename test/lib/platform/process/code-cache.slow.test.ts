import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { expect } from 'chai';

const REPO = resolve(__dirname, '..', '..', '..', '..');

/** A bundle whose compiled code is used is recognised by what V8 says of it, not by its time. */
const BUNDLE = `
  exports.answer = function () { return require('./vendor/b.js').value + 1; };
  exports.other = function () { return [${Array.from({ length: 200 }, (_, i) => `'text ${i}'`).join()}].length; };
`;
const VENDOR = `exports.value = 41;`;

describe('code cache', () => {
  let root: string;
  let folder: string;
  let cacheHome: string;
  let code: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'steward-code-cache-'));
    folder = join(root, 'dist');
    cacheHome = join(root, 'cache');
    code = join(cacheHome, 'steward', 'code');
    mkdirSync(join(folder, 'vendor'), { recursive: true });
    mkdirSync(cacheHome);
    writeFileSync(join(folder, 'a.js'), BUNDLE);
    writeFileSync(join(folder, 'vendor', 'b.js'), VENDOR);
  });

  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  /** Loads the bundle in a process of its own, with our own cache on every Node; `used` says of each script whether V8 took the cached code. */
  function run(
    options: {
      build?: string;
      kind?: string;
      env?: NodeJS.ProcessEnv;
      args?: string[];
    } = {},
  ): { answer: number; used: string[] } {
    const script = `
      const vm = require('node:vm');
      const used = [];
      const Original = vm.Script;
      vm.Script = class extends Original {
        constructor(source, options) {
          super(source, options);
          const rejected = this.cachedDataRejected;
          used.push(rejected === undefined ? 'compiled' : rejected ? 'rejected' : 'cached');
        }
      };
      require('node:module').enableCompileCache = undefined;
      const { bundleLoader } = require(${JSON.stringify(join(REPO, 'src/lib/platform/process/code-cache.ts'))});
      // Not written into this script: its text is one of Node's arguments, which are in the cache's key.
      const { KIND: kind, BUILD: build, UNUSED } = process.env;
      const unused = new Set(UNUSED === undefined ? [] : [UNUSED]);
      const load = bundleLoader({ folder: ${JSON.stringify(folder)}, build, kind, unused, native: require(${JSON.stringify('node:module')}).createRequire(${JSON.stringify(join(folder, 'main.js'))}) });
      const id = './a.js';
      const answer = load(id).answer();
      if (load(id) !== load(id)) throw new Error('evaluated twice');
      if (kind === 'other') load(id).other();
      process.stdout.write(JSON.stringify({ answer, used }));
    `;
    const env = {
      PATH: process.env['PATH'],
      HOME: root,
      XDG_CACHE_HOME: cacheHome,
      KIND: options.kind ?? 'answer',
      BUILD: options.build ?? 'aaaa',
      ...options.env,
    };
    const result = spawnSync(
      process.execPath,
      [...(options.args ?? []), '--require', 'tsx/cjs', '-e', script],
      { cwd: REPO, env, encoding: 'utf8' },
    );
    expect(result.stderr).to.equal('');
    expect(result.status).to.equal(0);
    return JSON.parse(result.stdout) as { answer: number; used: string[] };
  }

  const WITHOUT = { answer: 42, used: ['compiled', 'compiled'] };
  const WITH = { answer: 42, used: ['cached', 'cached'] };

  function files(): string[] {
    return readdirSync(code, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.bin'))
      .sort();
  }

  it('compiles the first run, and takes its code in the second', function () {
    expect(run()).to.deep.equal(WITHOUT);
    expect(files()).to.have.length(2);
    expect(run()).to.deep.equal(WITH);
  });

  it('keeps the folder at 0700 and the files at 0600, whatever the umask', function () {
    if (process.platform === 'win32') this.skip();
    const before = process.umask(0);
    try {
      run();
    } finally {
      process.umask(before);
    }
    expect(statSync(code).mode & 0o777).to.equal(0o700);
    for (const name of files()) expect(statSync(join(code, name)).mode & 0o777).to.equal(0o600);
  });

  it('has an entry of its own for other bytes, another set of options, other arguments', () => {
    run();
    expect(run({ env: { NODE_OPTIONS: '--no-deprecation' } })).to.deep.equal(WITHOUT);
    expect(run({ args: ['--no-warnings'] })).to.deep.equal(WITHOUT);
    expect(files()).to.have.length(6);
    expect(run({ build: 'cccc' })).to.deep.equal(WITHOUT);
  });

  it('keeps the functions of each kind of run apart', () => {
    run();
    const [own] = files();
    expect(run({ kind: 'other' })).to.deep.equal(WITHOUT);
    const sizes = files().map((name) => statSync(join(code, name)).size);
    expect(sizes).to.have.length(4);
    expect(Math.max(...sizes)).to.be.greaterThan(statSync(join(code, own ?? '')).size + 1000);
    expect(run({ kind: 'other' })).to.deep.equal(WITH);
    expect(run()).to.deep.equal(WITH);
  });

  it('does not store a bundle that the run barely used', () => {
    run({ env: { UNUSED: 'a.js' } });
    expect(files().map((name) => basename(name))).to.deep.equal(['b.bin']);
    expect(run()).to.deep.equal({ answer: 42, used: ['compiled', 'cached'] });
    expect(run()).to.deep.equal(WITH);
  });

  it('serves two builds that run in turns', () => {
    run();
    expect(run({ build: 'cccc' })).to.deep.equal(WITHOUT);
    expect(run()).to.deep.equal(WITH);
    expect(run({ build: 'cccc' })).to.deep.equal(WITH);
  });

  it('is bounded: the oldest go', () => {
    run();
    for (let index = 0; index < 40; index += 1) {
      mkdirSync(join(code, `${index}`));
      utimesSync(join(code, `${index}`), 1000 + index, 1000 + index);
    }
    run({ env: { NODE_OPTIONS: '--no-deprecation' } });
    expect(readdirSync(code)).to.have.length(32);
    expect(run()).to.deep.equal(WITH);
  });

  it('runs without a cache that is corrupt, and mends it', () => {
    run();
    for (const name of files()) writeFileSync(join(code, name), Buffer.from('not V8 data\0\0\0\0'));
    expect(run()).to.deep.equal(WITHOUT);
    expect(run()).to.deep.equal(WITH);
  });

  it('finds one flipped bit', () => {
    run();
    const good = files().map((name) => readFileSync(join(code, name)));
    for (const at of [0, 0.2, 0.49, 0.5, 0.7, 0.999]) {
      files().forEach((name, index) => {
        const bytes = Buffer.from(good[index] ?? '');
        const place = Math.floor(at * bytes.length);
        bytes[place] = (bytes[place] ?? 0) ^ 4;
        writeFileSync(join(code, name), bytes);
      });
      expect(run(), String(at)).to.deep.equal(WITHOUT);
    }
  });

  it('runs without a cache that is cut short', () => {
    run();
    for (const name of files())
      writeFileSync(join(code, name), readFileSync(join(code, name)).subarray(0, 100));
    expect(run().answer).to.equal(42);
  });

  it('refuses a file that others may write', function () {
    if (process.platform === 'win32') this.skip();
    run();
    for (const name of files()) chmodSync(join(code, name), 0o620);
    expect(run()).to.deep.equal(WITHOUT);
  });

  it('refuses a folder that others may write', function () {
    if (process.platform === 'win32') this.skip();
    run();
    chmodSync(code, 0o777);
    expect(run()).to.deep.equal(WITHOUT);
  });

  it('refuses a symbolic link in place of a file, and does not write through it', function () {
    if (process.platform === 'win32') this.skip();
    run();
    const elsewhere = join(root, 'elsewhere');
    mkdirSync(elsewhere);
    for (const name of files()) {
      renameSync(join(code, name), join(elsewhere, basename(name)));
      symlinkSync(join(elsewhere, basename(name)), join(code, name));
    }
    const before = readdirSync(elsewhere).map((name) => readFileSync(join(elsewhere, basename(name))));
    expect(run()).to.deep.equal(WITHOUT);
    expect(readdirSync(elsewhere).map((name) => readFileSync(join(elsewhere, basename(name))))).to.deep.equal(
      before,
    );
    for (const name of files()) expect(lstatSync(join(code, name)).isFile()).to.equal(true);
  });

  it('refuses a symbolic link in place of the folder', function () {
    if (process.platform === 'win32') this.skip();
    run();
    renameSync(code, join(root, 'moved'));
    symlinkSync(join(root, 'moved'), code);
    expect(run()).to.deep.equal(WITHOUT);
  });

  it('refuses what another user owns', function () {
    // Only root can give a file away.
    if (process.getuid?.() !== 0) this.skip();
    run();
    const chown = spawnSync('chown', ['-R', '65534', code], { encoding: 'utf8' });
    expect(chown.status).to.equal(0);
    expect(run()).to.deep.equal(WITHOUT);
  });

  it('works where nothing can be written, and says nothing', () => {
    // A file where the folder would be: no user, root included, can write there.
    rmSync(cacheHome, { recursive: true });
    writeFileSync(cacheHome, '');
    expect(run()).to.deep.equal(WITHOUT);
    expect(run()).to.deep.equal(WITHOUT);
  });

  it('works without a home folder', () => {
    // Below a file nothing can be made, not even by root.
    writeFileSync(join(root, 'file'), '');
    const env = { HOME: join(root, 'file', 'home'), XDG_CACHE_HOME: undefined };
    expect(run({ env })).to.deep.equal(WITHOUT);
  });

  it('is switched off by STEWARD_NO_CODE_CACHE=1', () => {
    run({ env: { STEWARD_NO_CODE_CACHE: '1' } });
    expect(readdirSync(cacheHome)).to.deep.equal([]);
    run();
    expect(run({ env: { STEWARD_NO_CODE_CACHE: '1' } })).to.deep.equal({ answer: 42, used: [] });
  });

  it('executes the bundle, never only the cache: new bytes of the same length are run', () => {
    run();
    writeFileSync(join(folder, 'vendor', 'b.js'), VENDOR.replace('41', '99'));
    // The build gives new bytes a new hash.
    expect(run({ build: 'dddd' }).answer).to.equal(100);
  });
});
