import { expect } from 'chai';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { join } from 'node:path';

import { emptyHome, withoutCode, steward, type StewardResult } from '../helpers/cli';
import { manyIssues } from '../helpers/large-data';

/** Nobody listens there. */
const ENV = { GITHUB_API_URL: 'http://127.0.0.1:9', GH_TOKEN: 'ghp_test' };

describe('work board (built), with a cached board', function () {
  this.timeout(180_000);
  let home: { path: string; remove: () => void };
  beforeEach(() => {
    home = emptyHome();
    // Its rights are changed, and its files looked at.
    withoutCode(home.path);
    mkdirSync(at('work'), { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(manyIssues(200, Date.now()))) write(`work/${name}`, text);
  });
  afterEach(() => {
    chmodAll(home.path, 0o700);
    home.remove();
  });

  const at = (name: string): string => join(home.path, '.steward', name);
  const write = (name: string, text: string): void => writeFileSync(at(name), text, { mode: 0o600 });
  const board = (args: string[] = [], env: Record<string, string> = {}): Promise<StewardResult> =>
    steward(['work', 'board', ...args], { home: home.path, env: { ...ENV, ...env } });
  const good = async (args: string[] = [], env: Record<string, string> = {}): Promise<string> => {
    const { code, stdout, stderr } = await board(args, env);
    expect([code, stderr]).to.deep.equal([0, '']);
    return stdout;
  };

  it('shows the board without a network while it is fresh', async () => {
    expect(await good()).to.match(/^ann\/work +40 open\n/);
  });

  it('reflects changes to lanes and issues, its age, and configuration errors', async () => {
    await good();
    write('work/config.yaml', 'POLL_INTERVAL_SECONDS: 3600\nKANBAN_COLUMNS: [Blocked, Queued]\n');
    for (const time of [1, 2]) {
      const text = await good();
      expect(text.indexOf('\nBlocked'), `run ${time}`).to.be.within(1, text.indexOf('\nQueued'));
      expect(text).not.to.include('\nComplete');
    }
    write('work/cache.json', manyIssues(100, Date.now())['cache.json'] ?? '');
    for (const time of [1, 2]) expect(await good(), `run ${time}`).to.match(/20 open\n/);
    write('settings.json', '{ broken');
    expect((await board()).code).to.equal(3);
    rmSync(at('settings.json'));
    expect((await board([], { STEWARD_PORT: 'abc' })).stderr).to.include('STEWARD_PORT');
    expect(await good()).to.match(/20 open\n/);
    const hourAgo = new Date(Date.now() - 3_700_000).toISOString();
    write('work/poll.json', JSON.stringify({ version: 1, repo: 'ann/work', lastFetch: hourAgo, failure: null })); // prettier-ignore
    for (const time of [1, 2])
      expect(await good(), `run ${time}`).to.match(/127\.0\.0\.1:9 .*Last fetched:/s);
  });

  it('stores no secret from the environment', async () => {
    const env = { ...ENV, STEWARD_MANAGED_API_KEY: 'sk-hush-hush' };
    const once = () => steward(['work', 'board'], { home: home.path, env, ownProcess: true });
    expect(await once()).to.deep.equal(await once());
    const cache = join(home.path, '.cache');
    const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const kept = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
    expect(kept.length).to.be.greaterThan(0);
    expect(kept.filter((text) => text.includes('hush'))).to.deep.equal([]);
  });

  it('works in a read-only user area; the sweep reports the problem and exits 0 (slow)', async function () {
    if (process.platform === 'win32' || process.getuid?.() !== 0) this.skip();
    const old = new Date(Date.now() - 86_400_000).toISOString();
    write('work/poll.json', JSON.stringify({ version: 1, repo: 'ann/work', lastFetch: old, failure: null }));
    chmodAll(home.path, 0o500, 65534);
    const run = (...args: string[]): Promise<StewardResult> =>
      steward(['work', ...args], { home: home.path, env: ENV, uid: 65534 });
    for (const args of [['board'], ['list'], ['ready']]) {
      const { code, stdout } = await run(...args);
      expect([args, code]).to.deep.equal([args, 0]);
      expect(stdout)
        .to.match(/The connection to 127\.0\.0\.1:9 .*Last fetched:/s)
        .and.include('Work on part');
    }
    const swept = await run('sweep');
    expect(swept.code, swept.stderr).to.equal(0);
    expect(swept.stderr).to.match(/^log: Permission denied: .*observability/m);
    expect((await run('sweep', '--strict')).code).to.equal(8);
  });
});

/** Everything in a folder, and the folder itself. */
function chmodAll(folder: string, mode: number, owner = process.getuid?.() ?? 0): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of [...entries.map(({ parentPath, name }) => join(parentPath, name)), folder]) {
    chownSync(entry, owner, owner);
    chmodSync(entry, mode);
  }
}
