import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { expect } from 'chai';

import { emptyHome, jsonOf, steward } from '../helpers/cli';
import { startGitHttp, type GitHttp } from '../helpers/git';
import { startGitHub, type GitHub } from '../helpers/github';

/** One address for GitHub's API and its git repositories, as on a GitHub Enterprise server. */
async function startFront(github: GitHub, git: GitHttp): Promise<Server> {
  const forward = (from: IncomingMessage, to: ServerResponse): void => {
    const base = new URL(/\.git(?:\/|$|\?)/.test(from.url ?? '') ? git.url : github.url);
    const { method = 'GET', url: path = '/', headers } = from;
    const sent = request({ host: base.hostname, port: base.port, method, path, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to);
    });
    sent.on('error', () => to.destroy());
    from.pipe(sent);
  };
  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe('sync through a private GitHub repository (built)', function () {
  this.timeout(120_000);
  let github: GitHub;
  let git: GitHttp;
  let front: Server;
  let homes: ReturnType<typeof emptyHome>[] = [];
  beforeEach(async () => {
    github = await startGitHub();
    homes = [emptyHome(), emptyHome(), emptyHome()];
    const root = (homes[2] as (typeof homes)[number]).path;
    mkdirSync(join(root, 'ann'), { recursive: true });
    execFileSync('git', ['init', '--quiet', '--bare', join(root, 'ann', 'work.git')]);
    execFileSync('git', ['-C', join(root, 'ann', 'work.git'), 'config', 'http.receivepack', 'true']);
    const basic = Buffer.from(`x-access-token:${github.token}`).toString('base64');
    git = await startGitHttp(root, `Basic ${basic}`);
    front = await startFront(github, git);
  });
  afterEach(async () => {
    front.closeAllConnections();
    front.close();
    await git.close();
    await github.close();
    for (const home of homes) home.remove();
  });

  const run = (index: number, ...args: string[]): ReturnType<typeof steward> => {
    const home = homes[index]?.path ?? '';
    const env = {
      GITHUB_API_URL: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
      GH_TOKEN: github.token,
    };
    return steward(args, { home, env });
  };
  const set = async (index: number): Promise<void> => {
    const folder = join(homes[index]?.path ?? '', 'exchange');
    for (const args of [
      ['sense', 'capture'],
      ['sync', 'setup', '--create', folder],
    ]) {
      const { code, stderr } = await run(index, ...args);
      expect(code, stderr).to.equal(0);
    }
  };

  it('carries each machine to the other, and removes a forgotten one', async () => {
    await set(0);
    await set(1);
    for (const index of [0, 1]) {
      const { code, stderr } = await run(index, 'sync', 'connect', 'git', 'ann/work');
      expect(code, stderr).to.equal(0);
    }
    const again = await run(0, 'sync', 'connect', 'git', 'ann/work', '--json');
    expect((jsonOf(again) as { received: string[] }).received).to.have.length(1);
    const status = jsonOf(await run(0, 'sync', 'status', '--json')) as {
      machines: { id: string; isThis: boolean }[];
      engine: { engine: string; problem: boolean };
    };
    expect(status.machines).to.have.length(2);
    expect(status.engine).to.include({ engine: 'git', problem: false });
    const other = status.machines.find(({ isThis }) => !isThis)?.id ?? '';
    expect((await run(0, 'sync', 'forget', other, '--yes')).code).to.equal(0);
    expect(branches()).not.to.include(other);
  });

  const idOf = (home: string): string =>
    readFileSync(join(home, '.local', 'state', 'steward', 'machine-id'), 'utf8').trim();
  const branches = (): string => {
    const repo = join(homes[2]?.path ?? '', 'ann', 'work.git');
    return execFileSync('git', ['-C', repo, 'branch', '--list'], { encoding: 'utf8' });
  };

  /** The clone of a machine, if it exists. */
  const cloneOf = (index: number): string | undefined => {
    const state = join(homes[index]?.path ?? '', '.local', 'state');
    const names = readdirSync(state, { recursive: true, encoding: 'utf8' });
    return names.map((name) => join(state, name)).find((path) => basename(path) === 'exchange');
  };
  /** Everything that a machine's clone contains: its objects and its copies of files. */
  const contents = (index: number): string => {
    const clone = cloneOf(index) ?? '';
    const objects = ['cat-file', '--batch', '--batch-all-objects'];
    const files = readdirSync(clone, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => readFileSync(join(clone, name), 'utf8'));
    return [execFileSync('git', ['-C', clone, ...objects], { encoding: 'utf8' }), ...files].join('\n');
  };

  it('leaves nothing of purged data or details in the clones, and no clone after leaving', async () => {
    const home = homes[0]?.path ?? '';
    const shop = join(home, 'shop');
    mkdirSync(shop);
    const me = ['-c', 'user.email=me@example.org', '-c', 'user.name=Me'];
    execFileSync('git', ['init', '--quiet'], { cwd: shop });
    execFileSync('git', ['config', 'user.email', 'me@example.org'], { cwd: shop });
    execFileSync('git', [...me, 'commit', '--quiet', '--allow-empty', '-m', 'rosebud'], { cwd: shop });
    expect((await run(0, 'config', 'set', 'sense.repos', shop)).code).to.equal(0);
    await set(0);
    await set(1);
    const connect = async (index: number): Promise<void> => {
      const { code, stderr } = await run(index, 'sync', 'connect', 'git', 'ann/work');
      expect(code, stderr).to.equal(0);
    };
    const details = async (state: string): Promise<void> => {
      expect((await run(0, 'sync', 'setup', `--${state}`)).code).to.equal(0);
    };
    await details('details');
    for (const index of [0, 1]) await connect(index);
    for (const index of [0, 1]) expect(contents(index)).to.include('rosebud');
    await details('no-details');
    expect(readdirSync(cloneOf(0) ?? ''))
      .to.not.include('.git')
      .and.not.include('own');
    for (const index of [0, 1]) await connect(index);
    for (const index of [0, 1]) expect(contents(index)).to.include('"shop"').and.not.include('rosebud');
    const purge = await run(0, 'sense', 'purge', '--all', '--records', '--yes');
    expect(purge.code, purge.stderr).to.equal(0);
    expect(readdirSync(cloneOf(0) ?? ''))
      .to.not.include('.git')
      .and.not.include('own');
    for (const index of [0, 1]) await connect(index);
    for (const index of [0, 1]) expect(contents(index)).to.not.include('shop');
    expect((await run(1, 'sync', 'leave', '--remove')).code).to.equal(0);
    expect((await run(0, 'sync', 'leave')).code).to.equal(0);
    expect([cloneOf(0), cloneOf(1)]).to.deep.equal([undefined, undefined]);
  });

  it('deletes its branch when it leaves, and exchanges nothing afterwards', async () => {
    await set(0);
    expect((await run(0, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    expect(branches()).to.match(/machine-[0-9a-f]{12}/);
    // The clone may be lost, since it is only a cache.
    rmSync(cloneOf(0) ?? '', { recursive: true });
    const { code, stderr } = await run(0, 'sync', 'leave', '--remove');
    expect(code, stderr).to.equal(0);
    expect(branches()).to.equal('');
    await set(0);
    const status = jsonOf(await run(0, 'sync', 'status', '--json')) as { engine: unknown };
    expect(status.engine).to.equal(null);
  });

  it('names a former repository after a purge, and deletes its branch on request', async () => {
    const purge = ['sense', 'purge', '--all', '--records', '--yes'];
    const still = 'urged data is still in ann/work';
    const shown = async (): Promise<string> => (await run(0, 'status')).stdout.replace(/\s+/g, ' ');
    await set(0);
    expect((await run(0, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    expect((await run(0, ...purge)).stderr).to.not.include(still);
    expect(await shown()).to.not.include(still);
    // The purge has not reached the repository yet.
    const left = await run(0, 'sync', 'leave');
    expect(left.stderr).to.include(
      'Published files remain in ann/work. To delete them: steward sync leave ann/work --remove',
    );
    expect(left.stderr).to.include(`P${still}.`);
    expect(await shown()).to.include(still);
    await set(0);
    expect((await run(0, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    expect(await shown()).to.not.include(still);
    expect((await run(0, 'sync', 'leave')).stderr).to.not.include(still);
    expect((await run(0, ...purge)).stderr).to.include(still);
    expect(branches()).to.include('machine-');
    expect((await run(0, 'sync', 'leave', 'ann/work', '--remove')).stdout).to.equal(
      'Deleted what this machine published to ann/work.\n',
    );
    expect([branches(), cloneOf(0)]).to.deep.equal(['', undefined]);
    expect(await shown()).to.not.include(still);
  });

  it('deletes its branch when steward is uninstalled with all data', async () => {
    await set(0);
    expect((await run(0, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    const branch = branches().trim();
    const dry = await run(0, 'uninstall', '--purge', '--dry-run');
    expect(dry.stderr).to.include(`${branch} in ann/work`);
    const { code, stderr } = await run(0, 'uninstall', '--purge', '--yes');
    expect(code, stderr).to.equal(0);
    expect(branches()).to.equal('');
    expect(readdirSync(join(homes[0]?.path ?? '', 'exchange'))).to.deep.equal([]);
  });

  it("deletes a machine's branch once it adopted another one, at the latest when it is told to do so again", async () => {
    await set(0);
    expect((await run(0, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    const old = /machine-([0-9a-f]{12})/.exec(branches())?.[1] ?? '';
    // A new laptop, with a copy of the old one's area.
    const [from, to] = homes.map(({ path }) => path) as [string, string];
    cpSync(join(from, '.steward'), join(to, '.steward'), { recursive: true });
    mkdirSync(join(to, '.local', 'state', 'steward'), { recursive: true });
    writeFileSync(join(to, '.local', 'state', 'steward', 'machine-id'), 'bbbbbbbbbbbb\n');
    await set(1);
    expect((await run(1, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    expect(branches()).to.include(old).and.include('bbbbbbbbbbbb');
    git.refuse = 500;
    const refused = await run(1, 'sync', 'adopt', old);
    expect(refused.code).to.equal(8);
    expect(refused.stderr).to.include('Syncing through git failed');
    expect(idOf(to)).to.equal('bbbbbbbbbbbb');
    git.refuse = undefined;
    expect((await run(1, 'sync', 'adopt', old)).code).to.equal(0);
    expect(idOf(to)).to.equal(old);
    expect(branches()).to.include(old).and.not.include('bbbbbbbbbbbb');
    expect(readdirSync(join(to, 'exchange', 'machines'))).to.deep.equal([old]);
    expect((await run(1, 'sync', 'adopt', old)).code).to.equal(0);
  });

  it('exchanges nothing while the folder is missing', async () => {
    await set(0);
    expect((await run(0, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    const folder = join(homes[0]?.path ?? '', 'exchange');
    rmSync(folder, { recursive: true });
    const { code, stderr } = await run(0, 'sync', 'connect', 'git', 'ann/work');
    expect([code, stderr]).to.deep.equal([
      8,
      `Exchange folder not found: ${folder}.\nConnect the drive or start the sync tool to resume publishing. To stop publishing: steward sync leave\n`,
    ]);
    expect(existsSync(folder)).to.equal(false);
    await set(1);
    const received = await run(1, 'sync', 'connect', 'git', 'ann/work', '--json');
    expect((jsonOf(received) as { received: string[] }).received).to.have.length(1);
  });

  it('forgets nothing while the repository cannot be reached', async () => {
    await set(0);
    await set(1);
    for (const index of [1, 0])
      expect((await run(index, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    const machines = async (): Promise<{ id: string; isThis: boolean }[]> =>
      (jsonOf(await run(0, 'sync', 'status', '--json')) as { machines: { id: string; isThis: boolean }[] })
        .machines;
    const other = (await machines()).find(({ isThis }) => !isThis)?.id ?? '';
    git.refuse = 500;
    expect((await run(0, 'sync', 'forget', other, '--yes')).code).to.equal(8);
    expect(await machines()).to.have.length(2);
  });

  it('sends nothing to a repository that is not private, and says why', async () => {
    await set(0);
    await github.api('PATCH', '/repos/ann/work', { private: false, visibility: 'public' });
    const { code, stderr } = await run(0, 'sync', 'connect', 'git', 'ann/work');
    expect([code, stderr]).to.deep.equal([
      6,
      'ann/work is public, so nothing was pushed.\nMake the repository private, use a different one, or delete the data already published: steward sync leave --remove\n',
    ]);
    expect(git.seen).to.deep.equal([]);
  });

  it('shows a failed exchange in status and sync status', async () => {
    await set(0);
    expect((await run(0, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(0);
    git.refuse = 500;
    expect((await run(0, 'sync', 'connect', 'git', 'ann/work')).code).to.equal(8);
    expect((await run(0, 'sync', 'status')).stdout).to.match(/git: Syncing through git failed: /);
    expect((await run(0, 'status')).stdout).to.match(/Syncing through git failed/);
  });
});
