import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { emptyHome, steward } from '../helpers/cli';
import { startDaemon, until } from '../helpers/daemon';
import { bareEnvironment } from '../helpers/git';
import { hookJson, verbOf, type RecordedEvent } from '../helpers/hooks';

const SUBJECT = 'rosebud-subject';
const CLIENT = 'rosebud-client';

interface SyncPlan {
  folder: string | null;
  details: boolean;
  files: { path: string; bytes: number; change: string }[];
}

describe('several machines with one exchange folder (built)', function () {
  this.timeout(120_000);
  const homes = [emptyHome(), emptyHome(), emptyHome()] as const;
  const [laptop, desktop, shared] = homes;
  const folder = join(shared.path, 'Sync', 'steward');
  after(() => homes.forEach(({ remove }) => remove()));

  const run = async (home: { path: string }, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await steward(args, { home: home.path });
    expect(code, stderr).to.equal(0);
    return stdout;
  };
  const json = async <T>(home: { path: string }, ...args: string[]): Promise<T> =>
    JSON.parse(await run(home, ...args, '--json')) as T;
  const hook = async (
    home: { path: string },
    event: RecordedEvent,
    session: string,
    cwd: string,
  ): Promise<void> => {
    const { code } = await steward(['hook', verbOf(event)], {
      home: home.path,
      input: hookJson(event, { session_id: session, cwd }),
    });
    expect(code).to.equal(0);
  };
  const commit = (home: { path: string }, repo: string): void => {
    const cwd = join(home.path, repo);
    mkdirSync(cwd, { recursive: true });
    const env = { ...bareEnvironment(home.path), GIT_AUTHOR_DATE: '@1795168800 +0000' };
    for (const args of [
      ['init', '-q'],
      ['commit', '-q', '--allow-empty', '-m', SUBJECT],
    ]) {
      const done = spawnSync('git', ['-c', 'user.email=me@example.org', '-c', 'user.name=Me', ...args], {
        cwd,
        env,
      });
      expect(done.status, String(done.stderr)).to.equal(0);
    }
    spawnSync('git', ['config', 'user.email', 'me@example.org'], { cwd, env });
  };
  /** Each file below the shared folder with its text. */
  const files = (): Record<string, string> => {
    const names = readdirSync(shared.path, { recursive: true, encoding: 'utf8' }).sort();
    const paths = names.filter(
      (name) => !name.startsWith('.cache') && statSync(join(shared.path, name)).isFile(),
    );
    return Object.fromEntries(paths.map((name) => [name, readFileSync(join(shared.path, name), 'utf8')]));
  };

  before(async () => {
    mkdirSync(join(shared.path, 'Sync'));
    for (const home of [laptop, desktop]) {
      commit(home, 'shop');
      await run(home, 'config', 'set', 'sense.repos', join(home.path, 'shop'));
      await run(home, 'config', 'set', 'sessions.titles', 'true');
    }
    const client = join(laptop.path, CLIENT);
    commit(laptop, CLIENT);
    await run(laptop, 'config', 'add', 'sense.repos', client);
    writeFileSync(join(client, 'RESTRICTED.md'), '');
    for (const event of ['session-start', 'prompt', 'tool', 'stop'] as const) {
      // The times of a session are rounded to whole seconds, so a shorter session would have no length.
      const prompted = Date.now();
      if (event === 'stop') await until('a whole second', () => Date.now() - prompted >= 1000);
      await hook(laptop, event, 'aaaaaaaa-0000-4000-8000-000000000001', join(laptop.path, 'shop'));
      await hook(laptop, event, 'bbbbbbbb-0000-4000-8000-000000000002', client);
    }
    await run(laptop, 'sense', 'capture');
  });

  it('previews the folder and the details that it is given, and writes nothing', async () => {
    const plan = await json<SyncPlan>(laptop, 'sync', 'setup', '--create', folder, '--details', '--dry-run');
    expect(plan).to.include({ folder, details: true });
    expect(existsSync(folder)).to.equal(false);
    const wrong = await steward(['sync', 'setup', join(folder, 'a', 'b'), '--dry-run'], {
      home: laptop.path,
    });
    expect(wrong.stderr).to.include('does not exist');
  });

  it('writes exactly what the plan lists, and nothing else below the folder', async () => {
    const before = await json<SyncPlan>(laptop, 'sync', 'setup', '--dry-run');
    expect(before.files.map(({ path }) => path.replace(/\d{4}-\d\d-\d\d/, 'DAY'))).to.include.members([
      'machine.json',
      'daily/DAY.json',
    ]);
    expect(files()).to.deep.equal({});
    await run(laptop, 'sync', 'setup', '--create', folder);
    const id = readdirSync(join(folder, 'machines'))[0] ?? '';
    const written = Object.entries(files()).map(([name, text]) => [name, Buffer.byteLength(text)]);
    // The daemon writes that one, while sessions run.
    const planned = before.files.filter(({ path }) => path !== 'live.json');
    expect(planned).to.have.length(before.files.length - 1);
    expect(written).to.deep.equal(
      planned.map(({ path, bytes }) => [join('Sync/steward/machines', id, path), bytes]).sort(),
    );
    const shown = await run(laptop, 'sync', 'setup', '--dry-run', '--show', 'machine.json');
    expect(shown).to.equal(files()[join('Sync/steward/machines', id, 'machine.json')]);
  });

  it('lets no subject, path or title leave without details, and no name of restricted work with them', async () => {
    const all = (): string => JSON.stringify(files());
    expect(all()).to.not.match(new RegExp(`${SUBJECT}|${CLIENT}|SECRET|bbbbbbbb|aaaaaaaa|${laptop.path}`));
    expect(Object.values(files()).join('\n')).to.contain('"repo":"shop"');
    await run(laptop, 'sync', 'setup', '--details');
    expect(all()).to.contain(SUBJECT);
    expect(all()).to.contain('SECRET-PROMPT');
    expect(all()).to.not.match(new RegExp(`${CLIENT}|bbbbbbbb`));
    await run(laptop, 'sync', 'setup', '--no-details');
    expect(all()).to.not.match(new RegExp(`${SUBJECT}|${CLIENT}|SECRET|bbbbbbbb|aaaaaaaa|${laptop.path}`));
  });

  it('publishes no restricted repository while its folder is missing, in any exchange folder', async () => {
    const [client, other] = [join(laptop.path, CLIENT), join(shared.path, 'other')];
    const all = (): string => JSON.stringify(files());
    renameSync(client, `${client}-unmounted`);
    try {
      await run(laptop, 'sync', 'setup', '--create', folder, '--details');
      expect(all())
        .to.contain(SUBJECT)
        .and.not.match(new RegExp(`${CLIENT}|bbbbbbbb`));
      await run(laptop, 'config', 'remove', 'sense.repos', client);
      await run(laptop, 'sync', 'setup', '--create', other);
      expect(all()).to.not.match(new RegExp(`${CLIENT}|bbbbbbbb`));
    } finally {
      renameSync(`${client}-unmounted`, client);
    }
    await run(laptop, 'config', 'add', 'sense.repos', client);
    await run(laptop, 'sync', 'setup', '--no-details');
    await run(laptop, 'sync', 'setup', '--create', folder);
    rmSync(other, { recursive: true });
    await run(laptop, 'sync', 'leave', other);
    expect(all()).to.not.match(new RegExp(`${CLIENT}|${SUBJECT}`));
  });

  it('publishes after each capture, and writes nothing if nothing changed', async () => {
    const before = files();
    await run(laptop, 'sense', 'capture');
    expect(files()).to.deep.equal(before);
    commit(laptop, 'shop');
    await run(laptop, 'sense', 'capture');
    expect(files()).to.not.deep.equal(before);
  });

  it('repairs a damaged file when the folder is set again', async () => {
    const [name = '', text] = Object.entries(files()).find(([path]) => path.endsWith('machine.json')) ?? [];
    writeFileSync(join(shared.path, name), '{bad');
    await run(laptop, 'sync', 'setup', '--create', folder);
    await run(desktop, 'sync', 'setup', '--create', folder);
    expect(Object.keys(JSON.parse(files()[name] ?? '') as object)).to.deep.equal(
      Object.keys(JSON.parse(text ?? '') as object),
    );
    const { code, stderr } = await steward(['sync', 'setup', ''], { home: laptop.path });
    expect([code, stderr]).to.deep.equal([
      2,
      'Invalid folder "".\nUse a non-empty path without line breaks.\n',
    ]);
  });

  it('shows both machines, whose common commit has one id', async () => {
    await run(desktop, 'sense', 'capture');
    await run(desktop, 'sync', 'setup', '--create', folder);
    await run(desktop, 'sync', 'rename', 'desk');
    const { machines } = await json<{ machines: { name: string; isThis: boolean }[] }>(
      desktop,
      'sync',
      'status',
    );
    expect(machines).to.have.length(2);
    expect(machines.filter(({ isThis }) => isThis).map(({ name }) => name)).to.deep.equal(['desk']);
    const commits = Object.entries(files())
      .filter(([name]) => name.includes('/daily/'))
      .map(([, text]) => (JSON.parse(text) as { commits: { id: string }[] }).commits.map(({ id }) => id));
    expect(commits[0]?.some((id) => commits[1]?.includes(id))).to.equal(true);
    await run(desktop, 'config', 'set', 'timezone', 'Pacific/Kiritimati');
    const { machines: seen } = await json<{ machines: { lastSeen: string }[] }>(desktop, 'sync', 'status');
    const local = seen.map(({ lastSeen }) => new Date(Date.parse(lastSeen) + 14 * 3_600_000).toISOString());
    const text = await run(desktop, 'sync', 'status');
    for (const iso of local) expect(text).to.include(`written ${iso.slice(11, 16)}`);
  });

  it('refuses a name that it would have to cut', async () => {
    const { code, stderr } = await steward(['sync', 'rename', 'x'.repeat(61)], { home: laptop.path });
    expect([code, stderr.split('\n')[0]]).to.deep.equal([2, 'The name has more than 60 characters.']);
  });

  it('saves details and a name while the folder is gone, and publishes them once it is back', async () => {
    const away = `${folder}-away`;
    renameSync(folder, away);
    const saved = `Saved, but not published yet: Exchange folder not found: ${folder}.\nConnect the drive or start the sync tool to resume publishing. To stop publishing: steward sync leave`;
    expect(await run(laptop, 'sync', 'setup', '--details')).to.equal(`${saved}\n`);
    expect(await run(laptop, 'sync', 'rename', 'lap')).to.equal(`This machine is now named lap. ${saved}\n`);
    expect(existsSync(folder)).to.equal(false);
    renameSync(away, folder);
    await run(laptop, 'sense', 'capture');
    const all = JSON.stringify(files());
    expect(all).to.contain(SUBJECT).and.contain('"name\\":\\"lap');
    await run(laptop, 'sync', 'setup', '--no-details');
  });

  it('names details that are still published while sense is off, and a machine that cannot be read', async () => {
    const status = async (): Promise<string> => (await run(laptop, 'status')).replace(/\s+/g, ' ');
    await run(laptop, 'sync', 'setup', '--details');
    await run(laptop, 'config', 'set', 'sense.enabled', 'false');
    await run(laptop, 'config', 'set', 'sync.details', 'false');
    await run(laptop, 'sense', 'capture');
    expect(JSON.stringify(files())).to.contain(SUBJECT);
    expect(await run(laptop, 'sync', 'status')).to.contain(
      `${folder} (with details until the next publication)`,
    );
    expect(await status()).to.contain('details are still published');
    const { stdout } = await steward(['doctor', 'sync'], { home: laptop.path });
    expect(stdout).to.contain('details are still published').and.contain('steward sync setup --no-details');
    await run(laptop, 'sync', 'setup', '--no-details');
    await run(laptop, 'config', 'set', 'sense.enabled', 'true');
    expect(await run(laptop, 'sync', 'status')).to.contain(`${folder} (without details)`);
    const other = join(folder, 'machines', 'eeeeeeeeeeee');
    mkdirSync(other);
    expect(await status()).to.match(/sync warning .*machines\/eeeeeeeeeeee\/machine.json: missing/);
    rmSync(other, { recursive: true });
    expect(await status()).to.match(/sync ok 2 machines/);
  });

  it('reports a folder that is gone, does not create it, and purges there once it is back', async () => {
    const away = `${folder}-away`;
    renameSync(folder, away);
    const { stderr } = await steward(['sense', 'capture'], { home: laptop.path });
    expect(stderr).to.match(/Not published to other machines: Exchange folder not found/);
    expect(await run(laptop, 'status')).to.match(/sync +warning +Exchange folder not found/);
    expect((await steward(['doctor', 'sync'], { home: laptop.path })).stdout).to.match(
      /failed +sync\.folder/,
    );
    const purge = await steward(['sense', 'purge', '--all', '--yes'], { home: laptop.path });
    expect(purge.code, purge.stderr).to.equal(0);
    expect(purge.stderr).to.contain('Published files not removed');
    expect(existsSync(folder)).to.equal(false);
    expect((await run(laptop, 'status')).replace(/\s+/g, ' ')).to.contain('purged data is still published');
    renameSync(away, folder);
    await run(laptop, 'sense', 'capture');
    const own = Object.keys(files()).filter((name) => /\/(daily|sessions|usage)\//.test(name));
    expect(own).to.have.length(1);
    expect(await run(laptop, 'status')).to.match(/sync +ok +2 machines/);
  });

  it('rewrites what was published at once when sessions are forgotten', async () => {
    await hook(desktop, 'prompt', 'cccccccc-0000-4000-8000-000000000003', join(desktop.path, 'shop'));
    const prompted = Date.now();
    await until('a whole second', () => Date.now() - prompted >= 1000);
    await hook(desktop, 'stop', 'cccccccc-0000-4000-8000-000000000003', join(desktop.path, 'shop'));
    await run(desktop, 'sense', 'capture');
    await run(desktop, 'sync', 'setup', '--details');
    expect(Object.values(files()).join('')).to.contain('SECRET-PROMPT');
    const state = join(desktop.path, '.local', 'state', 'steward');
    const names = readdirSync(state, { recursive: true, encoding: 'utf8' });
    const merged = join(state, names.find((name) => name.endsWith('received')) ?? 'no copy', 'merged');
    mkdirSync(merged);
    await run(desktop, 'sessions', 'forget', '--yes');
    expect(existsSync(merged)).to.equal(false);
    expect(Object.values(files()).join('')).to.not.match(/SECRET-PROMPT|"slug"/);
    await run(desktop, 'sync', 'setup', '--no-details');
  });

  it('removes a purged day when the folder is set again, and no forgotten session returns', async () => {
    const [one, two] = [folder, join(shared.path, 'two')];
    const own = Object.keys(files()).length;
    const dayFiles = (): string[] =>
      Object.keys(files()).filter(
        (name) => /\/(?:daily|sessions|usage)\//.test(name) && !name.startsWith('two'),
      );
    const others = dayFiles().length;
    await run(desktop, 'sync', 'setup', '--create', two);
    await run(desktop, 'sync', 'leave');
    await run(desktop, 'sense', 'purge', '--all', '--records', '--yes');
    await run(desktop, 'sync', 'setup', '--create', two);
    expect(Object.keys(files()).filter((name) => /^two\/.*\/daily/.test(name))).to.deep.equal([]);
    await run(desktop, 'sync', 'setup', '--create', one);
    expect(dayFiles().length).to.be.lessThan(others);
    rmSync(two, { recursive: true });
    expect(Object.keys(files()).length).to.be.lessThan(own);
  });

  it('publishes from the daemon, once the folder is back', async () => {
    const away = `${folder}-away`;
    renameSync(folder, away);
    const daemon = await startDaemon({ home: laptop.path });
    try {
      const jobs = async (): Promise<{ id: string; reason?: string }[]> =>
        (await json<{ jobs: { id: string; reason?: string }[] }>(laptop, 'daemon', 'status')).jobs;
      await until('the job to fail', async () =>
        (await jobs()).some(({ id, reason = '' }) => id === 'sync' && reason.includes('not found')),
      );
      expect(existsSync(folder)).to.equal(false);
    } finally {
      await daemon.stop();
      renameSync(away, folder);
    }
    const own = readdirSync(join(folder, 'machines')).map((id) =>
      join(folder, 'machines', id, 'machine.json'),
    );
    own.forEach((path) => rmSync(path));
    const again = await startDaemon({ home: laptop.path });
    try {
      await until('the daemon to publish', () => own.some((path) => existsSync(path)));
    } finally {
      await again.stop();
    }
    await run(desktop, 'sense', 'capture');
    expect(own.every((path) => existsSync(path))).to.equal(true);
  });

  it('leaves with or without its files, and forgets the other machine', async () => {
    const { stderr, code } = await steward(['sync', 'setup', join(laptop.path, '.steward', 'x')], {
      home: laptop.path,
    });
    expect(code, stderr).to.equal(2);
    expect(await run(laptop, 'sync', 'setup', '--create', folder, '--details')).to.match(
      /, with details\.$/m,
    );
    expect(await run(laptop, 'sync', 'leave', '--remove')).to.contain('Removed');
    expect((await json<{ folder: unknown }>(laptop, 'sync', 'status')).folder).to.equal(null);
    expect(await run(laptop, 'sync', 'setup', '--create', folder)).to.not.contain('with details');
    expect((await json<{ details: unknown }>(laptop, 'sync', 'status')).details).to.equal(false);
    const wanted = ['sync', 'forget', 'desk'];
    expect(await run(laptop, ...wanted)).to.contain('Would remove');
    await run(laptop, ...wanted, '--yes');
    expect(readdirSync(join(folder, 'machines'))).to.have.length(1);
    expect(await run(laptop, 'sync', 'leave')).to.not.contain('Removed');
    expect(readdirSync(join(folder, 'machines'))).to.have.length(1);
  });
});
