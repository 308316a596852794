import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { startGitHttp, type GitHttp } from '../helpers/git';
import { scratch } from '../helpers/scratch';
import { startSshd, type Sshd } from '../helpers/sshd';

const BASIC = `Basic ${Buffer.from('ann:pass').toString('base64')}`;

describe('sync through any git repository (built)', function () {
  this.timeout(180_000);
  const { path } = scratch();
  let homes: ReturnType<typeof emptyHome>[] = [];

  beforeEach(async () => {
    homes = [emptyHome(), emptyHome()];
    execFileSync('git', ['init', '--quiet', '--bare', path('days.git')]);
    execFileSync('git', ['-C', path('days.git'), 'config', 'http.receivepack', 'true']);
    for (const index of [0, 1]) {
      await succeeds(index, 'sense', 'capture');
      await succeeds(index, 'sync', 'setup', '--create', join(homeOf(index), 'exchange'));
    }
  });
  afterEach(() => homes.forEach((home) => home.remove()));

  const homeOf = (index: number): string => homes[index]?.path ?? '';
  const run = (index: number, ...args: string[]): Promise<StewardResult> =>
    steward(args, { home: homeOf(index) });
  async function succeeds(index: number, ...args: string[]): Promise<StewardResult> {
    const result = await run(index, ...args);
    expect(result.code, result.stderr).to.equal(0);
    return result;
  }
  const configure = (index: number, key: string, value: string): unknown =>
    execFileSync('git', ['config', '--file', join(homeOf(index), '.gitconfig'), key, value]);

  async function meetThrough(address: string): Promise<void> {
    for (const index of [0, 1]) await succeeds(index, 'sync', 'connect', 'git', address);
    const now = jsonOf(await succeeds(0, 'sync', 'now', '--json')) as { machines: unknown[] };
    expect(now.machines).to.have.length(1);
    expect((await succeeds(1, 'sync', 'now')).stdout).to.match(/^.+ \(this machine\) .+\.\n.+: .+\.\n$/);
    expect(branches()).to.have.length(2);
    await succeeds(1, 'sync', 'leave', '--remove');
    expect(branches()).to.have.length(1);
  }
  const branches = (): string[] =>
    execFileSync('git', ['-C', path('days.git'), 'branch', '--list', '--format=%(refname:short)'], {
      encoding: 'utf8',
    }).match(/machine-\w+/g) ?? [];

  it('takes a folder, such as a mounted disk', async () => {
    await meetThrough(path('days.git'));
  });

  it('says what is missing at a wrong address, and keeps the former engine', async () => {
    const wrong = await run(0, 'sync', 'connect', 'git', path('none.git'));
    expect(wrong).to.include({ code: 8, stdout: '' });
    expect(wrong.stderr).to.include('none.git');
    for (const address of ['http://nas/days.git', 'https://ann:pw@nas/days.git', '-x@nas:days.git', 'days'])
      expect((await run(0, 'sync', 'connect', 'git', '--', address)).code, address).to.equal(2);
    const { engine } = jsonOf(await succeeds(0, 'sync', 'status', '--json')) as { engine: unknown };
    expect(engine).to.equal(null);
  });

  it('needs no folder, refuses a repository with other contents, and keeps the working one', async () => {
    const [other, home] = [path('other'), emptyHome()];
    homes.push(home);
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', other]);
    const me = ['-c', 'user.email=me@example.org', '-c', 'user.name=Me'];
    execFileSync('git', ['-C', other, ...me, 'commit', '--quiet', '--allow-empty', '-m', 'x']);
    const refuse = async (): Promise<void> => {
      const { code, stderr } = await run(2, 'sync', 'connect', 'git', other);
      expect(code, stderr).to.equal(6);
      expect(stderr)
        .to.include('is not empty: it has the branch or tag main.')
        .and.include('git init --bare');
      expect(execFileSync('git', ['-C', other, 'branch', '--list'], { encoding: 'utf8' })).to.equal(
        '* main\n',
      );
    };
    await refuse();
    expect(existsSync(join(home.path, 'steward-exchange'))).to.equal(false);
    await succeeds(2, 'sync', 'connect', 'git', path('days.git'));
    await refuse();
    expect((await run(2, 'sync', 'connect', 'git', path('none.git'))).code).to.equal(8);
    const status = jsonOf(await succeeds(2, 'sync', 'status', '--json'));
    expect(status).to.deep.include({ folder: join(home.path, 'steward-exchange'), problem: null });
    expect(JSON.stringify(status)).to.include('days.git, last exchange').and.not.include('none.git');
    await succeeds(2, 'sync', 'setup', '~/elsewhere', '--create');
    await succeeds(2, 'sync', 'leave', '~/steward-exchange', '--remove');
  });

  it('brings shared settings with one sync now, tells twins apart, and says that a machine left', async () => {
    const address = path('days.git');
    for (const index of [0, 1]) await succeeds(index, 'sync', 'connect', 'git', address);
    for (const index of [0, 1]) await succeeds(index, 'sync', 'settings', 'on');
    expect((await succeeds(0, 'sync', 'status')).stdout).to.include('this machine; none are published yet.');
    await succeeds(0, 'goals', 'add', 'Ship it');
    await succeeds(0, 'sync', 'now');
    expect((await succeeds(1, 'sync', 'now')).stdout).to.match(/-[0-9a-f]{4}: settings came, written /);
    expect((await succeeds(1, 'goals')).stdout).to.include('Ship it');
    const { stdout } = await succeeds(1, 'sync', 'status');
    expect(stdout).to.match(/-[0-9a-f]{4} and .+ have the same name\..* steward sync rename NAME/);
    await succeeds(1, 'sync', 'leave');
    await succeeds(0, 'sync', 'now');
    expect((await succeeds(0, 'sync', 'status')).stdout).to.match(/: left .+; its days stay\./);
    const again = await run(1, 'sync', 'leave', '--remove');
    expect(again.code).to.equal(5);
    expect(again.stderr).to.include('days.git --remove').and.not.include('sync setup');
  });

  describe('over ssh', () => {
    let sshd: Sshd | undefined;
    afterEach(() => sshd?.process.kill());

    it("takes the person's key and ssh command", async function () {
      sshd = await startSshd(path);
      if (sshd === undefined) this.skip();
      const { port, options } = sshd;
      const address = `ssh://${userInfo().username}@127.0.0.1:${port}${path('days.git')}`;
      const refused = await run(0, 'sync', 'connect', 'git', address);
      expect(refused.code, refused.stderr).to.be.equal(8);
      expect(refused.stderr).to.include('Host key verification failed');
      const closed = await run(0, 'sync', 'connect', 'git', 'ssh://127.0.0.1:1/days.git');
      expect(closed.stderr).to.match(/failed: ssh: .*Connection refused/);
      for (const index of [0, 1]) configure(index, 'core.sshCommand', ['ssh', ...options].join(' '));
      await meetThrough(address);
    });
  });

  describe('over https', () => {
    let http: GitHttp | undefined;
    afterEach(async () => http?.close());

    async function serve(authorization: string): Promise<string> {
      const made = spawnSync(
        'openssl',
        ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
          .concat(['-keyout', path('key.pem'), '-out', path('cert.pem'), '-days', '30', '-subj', '/CN=nas'])
          .concat(['-addext', 'subjectAltName=IP:127.0.0.1']),
      );
      if (made.error !== undefined) return '';
      expect(made.status, String(made.stderr)).to.equal(0);
      const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(path(name), 'utf8')) as [
        string,
        string,
      ];
      http = await startGitHttp(path(), authorization, { key, cert });
      for (const index of [0, 1]) configure(index, 'http.sslCAInfo', path('cert.pem'));
      return `${http.url}/days.git`;
    }

    it("takes the person's credential helper, and keeps no password", async function () {
      const address = await serve(BASIC);
      if (address === '') this.skip();
      const refused = await run(0, 'sync', 'connect', 'git', address);
      expect(refused).to.include({ code: 4 });
      expect(refused.stderr).to.include('git ls-remote');
      const typed = await run(0, 'sync', 'connect', 'git', address.replace('//', '//ann:pass@'));
      expect(typed.stderr).to.include('Invalid repository "https://…@').and.not.include('pass@');
      for (const index of [0, 1])
        configure(index, 'credential.helper', '!f() { echo username=ann; echo password=pass; }; f');
      await meetThrough(address);
      const stored = join(homeOf(0), '.steward');
      const search = spawnSync('grep', ['-rlE', 'pass|YW5uOnBhc3M', stored], { encoding: 'utf8' });
      expect(search).to.include({ status: 1, stdout: '' });
    });

    it('refuses a repository that everybody can read', async function () {
      const address = await serve('');
      if (address === '') this.skip();
      const open = await run(0, 'sync', 'connect', 'git', address);
      expect(open.code, open.stderr).to.equal(6);
      expect(open.stderr).to.include('is public, so nothing was pushed');
      expect(branches()).to.deep.equal([]);
    });
  });
});
