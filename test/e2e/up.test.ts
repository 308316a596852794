import { expect } from 'chai';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { until } from '../helpers/daemon';
import { startGitHub } from '../helpers/github';
import { bareEnvironment } from '../helpers/git';
import { requireTerminal } from '../helpers/real-part';

/** Runs a program on a terminal of its own, gives each of its questions the answer; prints the exit code last. */
const ON_TERMINAL = `
import os, pty, sys
answer = sys.argv[1].encode().decode('unicode_escape').encode()
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen = b''
asked = 0
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    seen += data
    if seen.count(b'[Y/n]') + seen.count(b'[y/N]') > asked:
        asked += 1
        os.write(fd, answer)
sys.stdout.buffer.write(seen)
print('exit', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

describe('steward up (built)', function () {
  this.timeout(120_000);
  let home: { path: string; remove: () => void };
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());

  it('is what npm start runs, in one process that a signal ends (slow)', async () => {
    const script = join(BIN, '..', '..', 'scripts', 'start.mjs');
    const launcher = join(BIN, '..', '..', 'dist', 'main.js');
    const built = { bytes: readFileSync(launcher), ino: statSync(launcher).ino };
    const child = spawn(process.execPath, [script, '--port', '0'], {
      cwd: home.path,
      env: cleanEnv(home.path),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
    let said = '';
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    // It builds first, which takes its time on a machine that is busy.
    const isServed = (): boolean => said.includes('Dashboard: http://127.0.0.1:');
    await until('the dashboard is served', isServed, 100_000);
    expect(shown).to.include('No activity found yet.').and.include('steward demo');
    // Hooks and jobs run from there meanwhile: a build that changes nothing leaves it alone.
    if (readFileSync(launcher).equals(built.bytes)) expect(statSync(launcher).ino).to.equal(built.ino);
    expect(existsSync(area('sense', 'set-up.json'))).to.equal(true);
    child.kill('SIGTERM');
    expect(await ended).to.equal(0);
  });

  const startedByNpm = () => {
    const npm = spawn('npm', ['start', '--', '--port', '0'], {
      cwd: join(BIN, '..', '..'),
      env: cleanEnv(home.path),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // All that npm has started holds these streams.
    const ended = new Promise((resolve) => npm.on('close', resolve));
    npm.stdout.resume();
    return { npm, ended };
  };
  const childrenOf = (pid: number | string): string[] => {
    const path = `/proc/${pid}/task/${pid}/children`;
    return existsSync(path) ? readFileSync(path, 'utf8').split(' ').filter(Boolean) : [];
  };
  const isCompiler = (pid: string): boolean =>
    existsSync(`/proc/${pid}/exe`) && readlinkSync(`/proc/${pid}/exe`).includes('esbuild');

  it('ends with npm, also if npm is killed, and leaves no compiler running (slow)', async function () {
    if (process.platform !== 'linux') return this.skip();
    const { npm, ended } = startedByNpm();
    let said = '';
    npm.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    await until('the dashboard is served', () => said.includes('Dashboard: http://127.0.0.1:'), 100_000);
    const [daemon = ''] = childrenOf(npm.pid ?? 0).flatMap(childrenOf);
    expect(readFileSync(`/proc/${daemon}/cmdline`, 'utf8')).to.include('start.mjs');
    expect(childrenOf(daemon).filter(isCompiler)).to.deep.equal([]);
    npm.kill('SIGKILL');
    await ended;
  });

  it('ends with npm if npm is killed during the build', async function () {
    if (process.platform !== 'linux') return this.skip();
    const { npm, ended } = startedByNpm();
    npm.stderr.resume();
    const compilers = (): string[] =>
      childrenOf(npm.pid ?? 0)
        .flatMap(childrenOf)
        .flatMap(childrenOf)
        .filter(isCompiler);
    await until('the build compiles', () => compilers().length > 0, 100_000);
    npm.kill('SIGKILL');
    await ended;
  });

  const area = (...names: string[]): string => join(home.path, '.steward', ...names);
  const repository = (): string => {
    const repo = join(home.path, 'app');
    mkdirSync(repo);
    const env = bareEnvironment(home.path);
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: repo, env });
    const author = ['-c', 'user.email=me@example.org', '-c', 'user.name=Me'];
    execFileSync('git', [...author, 'commit', '-q', '--allow-empty', '-m', 'First'], { cwd: repo, env });
    return repo;
  };
  /** A repository of a person who commits as `ann`, with commits of these addresses and names. */
  const repositoryOf = (...authors: [email: string, name: string][]): string => {
    const repo = join(home.path, 'shared');
    mkdirSync(repo);
    const env = bareEnvironment(home.path);
    const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: repo, env });
    git('init', '-q', '-b', 'main');
    git('config', 'user.email', 'ann@example.org');
    git('config', 'user.name', 'Ann');
    for (const [email, name] of authors)
      git('-c', `user.email=${email}`, '-c', `user.name=${name}`, 'commit', '-q', '--allow-empty', '-m', 'x');
    return repo;
  };
  const answered = (answer: string, cwd = home.path): { text: string; code: number } => {
    const { stdout } = spawnSync(
      'python3',
      ['-c', ON_TERMINAL, answer, process.execPath, BIN, 'up', '--once'],
      {
        cwd,
        env: cleanEnv(home.path),
        encoding: 'utf8',
        timeout: 60_000,
      },
    );
    return { text: stdout, code: Number(/exit (-?\d+)\s*$/.exec(stdout)?.[1]) };
  };

  it('also sweeps once work is set up, but not right after another sweep (slow)', async () => {
    const github = await startGitHub({ labels: true });
    try {
      const env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
      const made = await steward(['work', 'setup', 'ann/work'], { home: home.path, env });
      expect(made.code, made.stderr).to.equal(0);
      mkdirSync(area('goals'), { recursive: true });
      writeFileSync(area('goals', 'goals.md'), '## Active Goals\n- **G1**: Run a marathon\n');
      const issues = async (): Promise<string[]> =>
        ((await github.api('GET', '/repos/ann/work/issues')) as { title: string }[]).map(
          ({ title }) => title,
        );
      const upUntil = async (done: () => boolean | Promise<boolean>): Promise<void> => {
        const child = spawn(process.execPath, [BIN, 'up', '--yes', '--port', '0'], {
          cwd: home.path,
          env: { ...cleanEnv(home.path), ...env },
          stdio: 'ignore',
        });
        const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
        await until('the sweep', done, 60_000);
        child.kill('SIGTERM');
        expect(await ended).to.equal(0);
      };
      await upUntil(async () => (await issues()).length > 0);
      expect(await issues()).to.deep.equal(['[Goal] Run a marathon [goal:G1]']);
      const sweeps = (): number =>
        readFileSync(area('observability', 'work-sweep.jsonl'), 'utf8').trim().split('\n').length;
      expect(sweeps()).to.equal(1);
      await upUntil(async () => {
        const { stdout } = await steward(['daemon', 'status', '--json'], { home: home.path });
        return stdout.includes('not due: it ran within the last hour');
      });
      expect(sweeps()).to.equal(1);
    } finally {
      await github.close();
    }
  });

  it('needs --yes without a terminal, and otherwise writes nothing', async () => {
    const result = await steward(['up'], { home: home.path });
    expect(result).to.include({ code: 2, stdout: '' });
    expect(result.stderr)
      .to.match(/never\s+records titles/)
      .and.include('steward up --yes');
    expect(existsSync(area())).to.equal(false);
  });

  it('sets up, watches the current repository once, captures, and shows the day', async () => {
    const repo = repository();
    mkdirSync(join(repo, 'deep'));
    for (const cwd of [join(repo, 'deep'), repo]) {
      const result = await steward(['up', '--yes', '--once', '--json'], { home: home.path, cwd });
      expect(result.code, result.stderr).to.equal(0);
      expect(jsonOf(result)).to.include({ watching: repo, created: cwd !== repo });
      const config = readFileSync(area('config.yaml'), 'utf8');
      expect(config).to.include(`\nsense:\n  repos:\n    - ${repo}\n`);
      expect(config.split(repo)).to.have.length(2);
    }
    const again = await steward(['up', '--once'], { home: home.path, cwd: repo });
    expect(again.code, 'the question was answered').to.equal(0);
    expect(again.stdout).to.match(/commits +1 +app 1/);
  });

  it('shows commits of earlier days on its first screen, and in a standup', async () => {
    const repo = join(home.path, 'shop');
    mkdirSync(repo);
    const env = bareEnvironment(home.path);
    const git = (args: string[], more: NodeJS.ProcessEnv = {}): unknown =>
      execFileSync('git', args, { cwd: repo, env: { ...env, ...more } });
    git(['init', '-q', '-b', 'main']);
    git(['config', 'user.email', 'me@example.org']);
    git(['config', 'user.name', 'Me']);
    for (let ago = 10; ago > 0; ago -= 1) {
      const at = new Date(Date.now() - ago * 86_400_000).toISOString();
      git(['commit', '-q', '--allow-empty', '-m', `Work of ${ago} days ago`], {
        GIT_AUTHOR_DATE: at,
        GIT_COMMITTER_DATE: at,
      });
    }
    const shown = await steward(['up', '--yes', '--once'], { home: home.path, cwd: repo });
    expect(shown.code, shown.stderr).to.equal(0);
    expect(shown.stderr).to.include('Added 10 commits and 0 sessions on 10 days');
    expect(shown.stdout.match(/1 commit .*time not recorded/g)).to.have.length(6);
    const standup = await steward(['standup'], { home: home.path });
    expect(standup.stdout)
      .to.include('Work of 1 days ago')
      .and.include('No application time was recorded on');
  });

  it('works outside a repository, and says so', async () => {
    const result = await steward(['up', '--yes', '--once'], { home: home.path });
    expect(result.code).to.equal(0);
    expect(result.stderr).to.include('not a git repository');
    expect(jsonOf(await steward(['up', '--yes', '--once', '--json'], { home: home.path }))).to.include({
      watching: null,
    });
  });

  it('names what it looked for where nothing is yours, then counts your other addresses', async () => {
    const hostile = '$(touch${IFS}x)@example.org';
    const cwd = repositoryOf(['bob@example.org', 'Bob'], ['ann@home.example', 'Ann'], [hostile, 'Ann']);
    const up = (...more: string[]) => steward(['up', '--yes', '--once', ...more], { home: home.path, cwd });
    const { stdout } = await up();
    expect(stdout)
      .to.include('none by ann@example.org in the last 30 days; 3 by others')
      .and.include('none in the transcripts of Claude Code')
      .and.include('\n  steward config add user.emails ann@home.example\n')
      .and.include('\n  steward demo\n')
      .and.not.include('not recorded');
    const aliases = [{ email: 'ann@home.example', commits: 1 }];
    const emails = ['ann@example.org'];
    expect(jsonOf(await up('--json'))).to.deep.include({
      authors: { days: 30, emails, own: 0, others: 3, aliases },
    });
    const added = await steward(['config', 'add', 'user.emails', 'ann@home.example'], { home: home.path });
    expect(added.code, added.stderr).to.equal(0);
    expect(jsonOf(await up('--json'))).to.deep.include({
      authors: { days: 30, emails: [...emails, 'ann@home.example'], own: 1, others: 2, aliases: [] },
    });
  });

  describe('on a terminal', () => {
    before(function () {
      requireTerminal(this);
    });

    it('continues on yes, and on an empty answer', () => {
      const yes = answered('y\\n', repository());
      expect(yes.code, yes.text).to.equal(0);
      expect(yes.text)
        .to.include('Start? [Y/n]')
        .and.include('\nTo silence them: steward notify mute')
        .and.match(/commits +1 +app 1/);
    });

    it('asks once whether other addresses under your name are yours (slow)', () => {
      const cwd = repositoryOf(['bob@example.org', 'Bob'], ['ann@home.example', 'Ann']);
      const yes = answered('y\\n', cwd);
      expect(yes.code, yes.text).to.equal(0);
      expect(yes.text)
        .to.include('There are commits under your name by ann@home.example (1 commit).')
        .and.match(/commits +1 +shared 1/);
      expect(readFileSync(area('config.yaml'), 'utf8')).to.include('ann@home.example');
      expect(answered('y\\n', cwd).text).to.not.include('Are they yours');
    });

    it('sets nothing up on no: 130', () => {
      const no = answered('n\\n');
      expect(no.code, no.text).to.equal(130);
      expect(no.text).to.include('Nothing was set up');
      expect(existsSync(area())).to.equal(false);
    });

    for (const [name, keys] of [
      ['Ctrl-C', '\\x03'],
      ['the end of input', '\\x04'],
    ] as const) {
      it(`sets nothing up on ${name}: 130`, () => {
        const { code, text } = answered(keys);
        expect(code, text).to.equal(130);
        expect(existsSync(area())).to.equal(false);
      });
    }
  });
});
