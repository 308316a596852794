import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { version } from '../../package.json';
import { hasAccount } from '../helpers/account';
import { BIN, cleanEnv, emptyHome, jsonOf, withoutCode, steward } from '../helpers/cli';

const REPO = join(__dirname, '..', '..');

describe('the built steward', () => {
  it('prints its version', async () => {
    expect(await steward(['--version'])).to.deep.equal({
      code: 0,
      stdout: `steward ${version}\n`,
      stderr: '',
    });
    expect(jsonOf(await steward(['--version', '--json']))).to.deep.equal({ version });
  });

  it('gives the same output for a hot command as the full program', async () => {
    const home = emptyHome();
    try {
      // `--debug` is a flag that only the full program reads. Its run also writes the settings that the hot one needs.
      const full = await steward(['statusline', '--json', '--debug'], { home: home.path });
      const hot = await steward(['statusline', '--json'], { home: home.path });
      expect(full).to.include({ code: 0, stderr: '' });
      expect(jsonOf(full)).to.be.an('object');
      expect(hot).to.deep.equal(full);
    } finally {
      home.remove();
    }
  });

  it('prints the result of a command as one JSON document', async () => {
    const home = emptyHome();
    try {
      const config = join(home.path, '.steward', 'config.yaml');
      const text = await steward(['config', 'path'], { home: home.path });
      expect(text.stdout).to.include(config);
      const json = await steward(['config', 'path', '--json'], { home: home.path });
      expect(JSON.stringify(jsonOf(json))).to.include(JSON.stringify(config));
      expect(json.stderr).to.equal('');
    } finally {
      home.remove();
    }
  });

  it('writes only its code cache into an empty home', async () => {
    const home = emptyHome();
    try {
      withoutCode(home.path);
      await steward(['config', 'path'], { home: home.path, ownProcess: true });
      expect(readdirSync(home.path)).to.deep.equal(['.cache']);
      const env = { STEWARD_NO_CODE_CACHE: '1' };
      await steward(['config', 'path'], { home: home.path, env, ownProcess: true });
      const cache = join(home.path, '.cache', 'steward', 'code');
      expect(readdirSync(cache).filter((name) => !/^[0-9a-f]{16}-v/.test(name))).to.deep.equal([]);
    } finally {
      home.remove();
    }
  });

  describe('explains what is wrong and what to do', () => {
    const mistakes: [args: string[], message: RegExp, hint: RegExp][] = [
      [
        ['senes', 'sources'],
        /Unknown command "steward senes sources"/,
        /Did you mean "steward sense sources"\?/,
      ],
      [['sense', 'soruces'], /Unknown command/, /Did you mean "steward sense sources"\?/],
      [['statsu'], /Unknown command "steward statsu"/, /Did you mean "steward status"\?/],
      [['stnadup', '--since', '7d'], /Unknown command/, /Did you mean "steward standup"\?/],
      [['completions', 'bash'], /Unknown command/, /Did you mean "steward completion"\?/],
      [['daemon', 'start'], /Unknown command/, /Did you mean "steward up"\?/],
      [['sense', 'yesterday'], /Unknown|does not take/, /sense today/],
      [['unistall'], /Unknown command/, /Did you mean "steward uninstall"\?/],
      [['frobnicate'], /Unknown command/, /steward --help/],
      [['help', 'senes'], /Unknown command/, /Did you mean "steward sense"\?/],
      [['--jsn'], /Unknown flag --jsn/, /steward --help/],
      [
        ['config', 'path', '--jsn'],
        /Unknown flag --jsn for "steward config path"/,
        /Did you mean "--json"\?/,
      ],
      [
        ['config', 'path', 'surplus'],
        /^"steward config path" does not take "surplus"\.$/m,
        /steward config path --help/,
      ],
      [['shell-hook'], /^"steward shell-hook" needs SHELL\.$/m, /steward shell-hook --help/],
      [['sense', 'recent', '--days', 'x'], /^Invalid --days "x"\. Use a whole number\.$/m, /--help/],
      [
        ['sense', 'export', '--format', 'xml'],
        /^Invalid --format "xml"\. Use one of json, csv\.$/m,
        /--help/,
      ],
      [['config', 'set'], /^"steward config set" needs KEY and VALUE\.$/m, /--help/],
      [['completion', 'csh'], /^Invalid value "csh"\. Use one of bash, zsh, fish\.$/m, /--help/],
      [['sense', '--json'], /needs a subcommand/, /steward sense --help/],
    ];
    for (const [args, message, hint] of mistakes) {
      it(`steward ${args.join(' ')}`, async () => {
        const result = await steward(args.filter((word) => word !== '--json'));
        if (!args.includes('--json')) {
          const [first, second] = result.stderr.split('\n');
          expect(first).to.match(message);
          expect(second).to.match(hint);
          expect(result.stderr).not.to.match(/ {4}at /);
          expect(result).to.include({ code: 2, stdout: '' });
        }
        const json = await steward([...args, '--json']);
        expect(json).to.include({ code: 2, stdout: '' });
        const { error } = JSON.parse(json.stderr) as {
          error: { kind: string; message: string; hint: string };
        };
        expect(error.kind).to.equal('usage');
        expect(error.message).to.match(message);
        expect(error.hint).to.match(hint);
      });
    }
  });

  it('shows help for all, a topic and a command', async () => {
    const all = await steward(['--help']);
    expect(all).to.include({ code: 0, stderr: '' });
    const groups = [...all.stdout.matchAll(/^[A-Z ]+$/gm)].map(String);
    expect(groups).to.deep.equal(['EVERY DAY', 'SET UP', 'WORK AND AGENTS', 'LOOK INSIDE', 'MORE']);
    const rows = [...all.stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}\S/gm)].map(([, name]) => name);
    expect(rows).to.have.length(20).and.include.members(['sense today', 'sessions', 'go', 'status']);
    expect((await steward([])).stdout).to.equal(all.stdout);
    const every = (await steward(['help', '--all'])).stdout;
    for (const name of [...rows, 'sense sources', 'config path', 'help'])
      expect(every).to.match(new RegExp(`^  ${name} `, 'm'));
    expect(every).not.to.match(/^ {2}(?:hook|notify phase|sense version|tick) /m);
    const topic = await steward(['sense']);
    expect(topic).to.include({ code: 0, stderr: '' });
    expect(topic.stdout).to.include('sense today').and.not.include('sense version');
    expect((await steward(['sense', 'version', '--help'])).stdout).to.include('USAGE');
    const command = await steward(['config', 'path', '--help']);
    expect(command.stdout).to.match(/USAGE[\s\S]*EXAMPLES[\s\S]*RELATED/);
    expect((await steward(['help', 'config', 'path'])).stdout).to.equal(command.stdout);
    // A topic that is also a command.
    expect((await steward(['usage', '--help'])).stdout.match(/^ {2}usage prices/gm)).to.have.length(1);
    for (const words of [
      ['help', 'help'],
      ['help', '--help'],
    ])
      expect((await steward(words)).stdout, words.join(' ')).to.match(/USAGE +\$ steward help/);
  });

  it('wraps the allowed values of a flag between words', async () => {
    const { stdout } = await steward(['notify', 'send', '--help']);
    expect(stdout.replace(/\s+/g, ' ')).to.include(
      '<options: taskComplete, longTask, backgroundAgent, error, security, attention, reminder, limit>',
    );
  });

  it('prints the version for each spelling of the flag', async () => {
    const { stdout } = await steward(['--version']);
    for (const word of ['version', '-v', '-V'])
      expect(await steward([word]), word).to.include({ code: 0, stdout, stderr: '' });
    expect(JSON.parse((await steward(['version', '--json'])).stdout)).to.have.all.keys('version');
  });

  it('gives every command a verb, two examples and related commands', () => {
    const manifest = JSON.parse(readFileSync(join(REPO, 'oclif.manifest.json'), 'utf8')) as {
      commands: Record<
        string,
        {
          summary?: string;
          examples?: unknown[];
          related?: unknown[];
          hidden?: boolean;
          flags: Record<string, { type: string; helpValue?: string; options?: unknown; hidden?: boolean }>;
        }
      >;
    };
    for (const [id, { summary, examples, related, hidden, flags }] of Object.entries(manifest.commands)) {
      expect(flags, id).to.have.property('json');
      if (hidden === true) continue;
      expect(summary, id).to.match(/^[A-Z][a-z]+,? .*[^.]$/);
      expect(examples?.length, id).to.be.at.least(2);
      expect(related?.length, id).to.be.at.least(1);
      // "--slug <value>" says nothing of what it takes.
      for (const [name, flag] of Object.entries(flags)) {
        if (flag.type !== 'option' || flag.hidden === true || flag.options !== undefined) continue;
        expect(flag.helpValue, `${id} --${name}`).to.be.a('string');
      }
    }
  });

  it('uses colour only on a terminal or if forced', async () => {
    const escape = '\u001b[';
    expect((await steward(['--help'])).stdout).not.to.include(escape);
    const forced = await steward(['--help'], { env: { FORCE_COLOR: '1' } });
    expect(forced.stdout).to.include(escape);
    const refused = await steward(['--help'], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } });
    expect(refused.stdout).not.to.include(escape);
  });

  it('leaves stdin alone', async () => {
    const result = await steward(['completion'], { input: 'zsh\n', env: { SHELL: '/bin/fish' } });
    expect(result.code).to.equal(0);
    expect(result.stdout).to.include('# fish completion');
    expect((await steward(['shell-hook'], { input: 'zsh\n' })).code).to.equal(2);
  });

  it('runs for a user without an account and without SHELL (slow)', function () {
    // Only root can become somebody else.
    if (process.getuid?.() !== 0) return this.skip();
    const home = emptyHome();
    try {
      // The user may not be allowed to read this checkout.
      const copy = join(home.path, 'copy');
      for (const name of ['bin/run.js', 'dist', 'oclif.manifest.json', 'package.json', 'templates'])
        cpSync(join(REPO, name), join(copy, name), { recursive: true });
      for (const folder of [home.path, copy]) chmodSync(folder, 0o777);
      const stranger = { uid: 54_321, gid: 54_321 };
      for (const command of [
        ['status'],
        ['init', '--yes'],
        ['sense', '--help'],
        ['config', 'show', '--all'],
      ]) {
        const env = cleanEnv(home.path, { SHELL: undefined });
        const args = [join(copy, 'bin/run.js'), ...command];
        const { status, stderr } = spawnSync(process.execPath, args, {
          ...stranger,
          cwd: '/',
          env,
          encoding: 'utf8',
        });
        expect({ command, status, stderr }).to.deep.equal({ command, status: 0, stderr: '' });
      }
      for (const command of ['status', 'doctor', 'up']) {
        const args = [join(copy, 'bin/run.js'), command];
        const env = { PATH: process.env['PATH'] };
        const { stderr } = spawnSync(process.execPath, args, {
          ...stranger,
          cwd: '/',
          env,
          encoding: 'utf8',
        });
        expect(stderr, `${command} without HOME`).to.equal(
          'Your user account has no home folder.\nSet HOME to the absolute path of a folder that you own.\n',
        );
      }
    } finally {
      home.remove();
    }
  });

  it('continues and keeps its exit code when nothing reads its output', function () {
    if (process.platform === 'win32') this.skip();
    const home = emptyHome();
    try {
      const calls = [
        ['config set no.key 1', 2],
        ['sense init', 0],
        ['config set da.name Nova', 0],
      ] as const;
      for (const [command, code] of calls) {
        const line = `{ "${process.execPath}" "${BIN}" ${command} 2>&1; echo "code $?" >&3; } 3>&2 | :`;
        const result = spawnSync('sh', ['-c', line], { env: cleanEnv(home.path), encoding: 'utf8' });
        expect(result.stderr, command).to.equal(`code ${code}\n`);
      }
    } finally {
      home.remove();
    }
  });

  it('ends quietly when the reader has closed the pipe', function () {
    if (process.platform === 'win32') this.skip();
    const home = emptyHome();
    try {
      for (const command of ['--help', '--version', 'completion bash']) {
        const line = `{ "${process.execPath}" "${BIN}" ${command}; echo "code $?" >&2; } | :`;
        const result = spawnSync('sh', ['-c', line], { env: cleanEnv(home.path), encoding: 'utf8' });
        expect(result.stderr).to.equal('code 0\n');
      }
    } finally {
      home.remove();
    }
  });

  it('says that it is not built, but never to an assistant', () => {
    const home = emptyHome();
    try {
      cpSync(join(REPO, 'bin'), join(home.path, 'bin'), { recursive: true });
      const run = (verb: string): { status: number | null; stderr: string } => {
        const args = [join(home.path, 'bin', 'run.js'), verb];
        return spawnSync(process.execPath, args, { env: cleanEnv(home.path), encoding: 'utf8' });
      };
      expect(run('status').stderr).to.match(
        /^steward is not built yet: .*main\.js is missing\.\nRun "npm ci"/,
      );
      expect(run('status').status).to.equal(8);
      expect(run('hook')).to.include({ status: 0, stderr: '' });
    } finally {
      home.remove();
    }
  });

  it('names the way to install what builds it', () => {
    const home = emptyHome();
    try {
      for (const name of ['scripts', 'package.json'])
        cpSync(join(REPO, name), join(home.path, name), { recursive: true });
      const built = spawnSync(process.execPath, [join(home.path, 'scripts', 'build.mjs')], {
        encoding: 'utf8',
      });
      expect(built.status).to.equal(8);
      expect(built.stderr).to.match(/^esbuild, .* is not installed\.\nRun "npm ci --include=dev"/);
    } finally {
      home.remove();
    }
  });

  it('reports that Node is too old before it loads anything', () => {
    const script = `
      Object.defineProperty(process.versions, 'node', { value: '20.18.3' });
      require(${JSON.stringify(BIN)});
    `;
    const result = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(result.status).to.equal(8);
    expect(result.stderr).to.match(/needs Node\.js 20\.19 or newer; this is 20\.18\.3/);
  });

  it('exits 130 on Ctrl-C', async function () {
    if (process.platform === 'win32') this.skip();
    const home = emptyHome();
    // Nothing built in waits for long: a module given to the process does, and says when the edge listens.
    const hold = `
      const on = process.on;
      process.on = function (event, listener) {
        const result = on.call(this, event, listener);
        if (event === 'SIGINT') { setInterval(() => {}, 1000); console.error('listening'); }
        return result;
      };
    `;
    const preload = `data:text/javascript,${encodeURIComponent(hold)}`;
    try {
      const child = spawn(process.execPath, ['--import', preload, BIN, 'config', 'path'], {
        env: cleanEnv(home.path),
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (text.includes('listening')) child.kill('SIGINT');
      });
      const [code, signal] = await new Promise<unknown[]>((done) => child.on('close', (...end) => done(end)));
      expect([code, signal]).to.deep.equal([130, null]);
    } finally {
      home.remove();
    }
  });

  it('gives the same output from source (slow)', async function () {
    this.timeout(60_000);
    // The library of commands asks for the account before the source can stand in for it.
    if (!hasAccount()) return this.skip();
    const home = emptyHome();
    try {
      const run = (args: string[]): string => {
        const { status, stdout, stderr } = spawnSync(
          process.execPath,
          [join(REPO, 'bin', 'dev.js'), ...args],
          { env: cleanEnv(home.path), encoding: 'utf8' },
        );
        expect(status, stderr).to.equal(0);
        return stdout;
      };
      const built = await steward(['help', 'config', 'path'], { home: home.path });
      expect(run(['help', 'config', 'path'])).to.equal(built.stdout);
      expect(run(['--version'])).to.equal(`steward ${version}\n`);
    } finally {
      home.remove();
    }
  });

  it('lists the licences of bundled libraries', () => {
    const text = readFileSync(join(REPO, 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['@oclif/core', 'yaml', 'cosmiconfig', 'undici'])
      expect(text).to.match(new RegExp(`^${name} \\d`, 'm'));
    expect(text).not.to.match(/^(typescript|esbuild|mocha) \d/m);
    expect(existsSync(join(REPO, 'dist', 'main.js'))).to.equal(true);
  });
});
