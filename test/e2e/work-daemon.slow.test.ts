import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { ask, type RunningDaemon, signIn, startDaemon, until } from '../helpers/daemon';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { issuesOf } from '../helpers/work-kill';

interface Board {
  lastFetch: string | null;
  items: { title: string }[];
  setupRequired: boolean;
  stale: boolean;
}

describe('the work module of the daemon, and the sweep (built)', function () {
  this.timeout(180_000);
  let github: GitHub;
  let home: ReturnType<typeof emptyHome>;
  let daemon: RunningDaemon | undefined;
  const env = (): Record<string, string> => ({ GITHUB_API_URL: github.url, GH_TOKEN: github.token });
  const run = (args: string[], more: Record<string, string> = {}): Promise<StewardResult> =>
    steward(args, { home: home.path, env: { ...env(), ...more } });
  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${daemon?.url}${path}`)).json()) as T;
  beforeEach(async () => {
    home = emptyHome();
    github = await startGitHub({ labels: true });
  });
  afterEach(async () => {
    await daemon?.stop();
    daemon = undefined;
    home.remove();
    await github.close();
  });

  it('serves the board, refreshes it, and sends the captures that waited', async () => {
    daemon = await startDaemon({ home: home.path, env: env() });
    expect(await get<Board>('/api/work')).to.deep.include({ setupRequired: true, items: [] });
    await daemon.stop();
    expect((await run(['work', 'setup', 'ann/work'])).code).to.equal(0);
    // What the hook itself starts finds no service: the daemon does it.
    const input = hookJson('prompt', { cwd: home.path, prompt: 'remind me to call Ann' });
    const away = { GITHUB_API_URL: 'http://127.0.0.1:9', GH_TOKEN: github.token };
    await steward(['hook', 'prompt', '--no-tab'], { home: home.path, env: away, input });
    await github.api('POST', '/repos/ann/work/issues', { title: 'By hand', labels: ['Status:ready'] });
    daemon = await startDaemon({ home: home.path, env: env() });
    await until('the capture', async () => (await issuesOf(github, 'ann/work')).length === 2, 90_000);
    await until('the board', async () => (await get<Board>('/api/work')).items.length === 2);
    const headers = await signIn(home.path, daemon.url);
    const { text } = await ask(`${daemon.url}/api/work/columns`, { headers });
    const columns = JSON.parse(text) as Record<string, { title: string }[]>;
    expect(columns['Queued']?.map(({ title }) => title).sort()).to.deep.equal([
      'By hand',
      '[Reminder] call Ann',
    ]);
    await github.api('POST', '/repos/ann/work/issues', { title: 'Later', labels: [] });
    const refreshed = await fetch(`${daemon.url}/api/work/refresh`, { method: 'POST' });
    expect([refreshed.status, await refreshed.json()]).to.deep.include.members([200]);
    expect((await get<Board>('/api/work')).items).to.have.length(3);
    expect(await get('/api/work/status')).to.deep.include({ repo: 'ann/work', stale: false, unfinished: 0 });
    const { modules } = await get<{ modules: { id: string; state: string }[] }>('/api/status');
    expect(modules.find(({ id }) => id === 'work')).to.include({ state: 'ok' });
    const etag = (await fetch(`${daemon.url}/api/work`)).headers.get('etag') ?? '';
    const { lastFetch } = await get<Board>('/api/work/status');
    await until('another poll', async () => {
      await fetch(`${daemon?.url}/api/work/refresh`, { method: 'POST' });
      return (await get<Board>('/api/work/status')).lastFetch !== lastFetch;
    });
    const same = await fetch(`${daemon.url}/api/work`, { headers: { 'if-none-match': etag } });
    expect(same.status).to.equal(304);
    expect((await get<Board>('/api/work')).items[0]).not.to.have.property('labels');
    expect((await get<Board>('/api/work?full=1')).items[0]).to.have.property('labels');
  });

  it("shows in status that the daemon lacks the terminal's token", async () => {
    expect((await run(['work', 'setup', 'ann/work'])).code).to.equal(0);
    daemon = await startDaemon({ home: home.path, env: { GITHUB_API_URL: github.url } });
    await fetch(`${daemon.url}/api/work/refresh`, { method: 'POST' });
    const status = await run(['status']);
    expect(status.stdout.replace(/\s+/g, ' ')).to.include(
      "the daemon does not have this terminal's GitHub token gh auth login",
    );
    expect((await run(['status'], { GH_TOKEN: '' })).stdout).to.not.include('of this terminal');
  });

  it('sweep: exits 0 whatever happens, reports the failure, and returns its code with --strict', async () => {
    const before = jsonOf(await run(['work', 'sweep', '--json']));
    expect(before).to.deep.include({ repo: null, created: 0 });
    expect((await run(['work', 'setup', 'ann/work'])).code).to.equal(0);
    const away = { GITHUB_API_URL: 'http://127.0.0.1:9' };
    const offline = await run(['work', 'sweep', '--json'], away);
    expect([offline.code, (jsonOf(offline) as { errors: object[] }).errors.length]).to.deep.equal([0, 1]);
    expect((await run(['work', 'sweep', '--strict'], away)).code).to.equal(8);
    expect((await run(['work', 'sweep', '--of', '7d', '--dry-run'])).stdout).to.match(/^0 to create/);
  });

  it('sweep: looks back 24 hours and creates 50 issues by default, then pushes the task list', async () => {
    expect((await run(['work', 'setup', 'ann/work'])).code).to.equal(0);
    const session = (name: string, hoursAgo: number): void => {
      const folder = join(home.path, '.steward', 'sessions', name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'ISA.md'), `---\ntask: Do ${name}\nphase: execute\n---\n`);
      const time = Date.now() / 1000 - hoursAgo * 3600;
      utimesSync(join(folder, 'ISA.md'), time, time);
    };
    for (let n = 0; n < 51; n += 1) session(`s${n}`, 23);
    session('too-old', 25);
    const swept = jsonOf(await run(['work', 'sweep', '--json'])) as {
      errors: { step: string; message: string }[];
    };
    expect(swept).to.include({ sinceHours: 24, sessionsScanned: 51, created: 50, left: 1 });
    // Nobody serves git here, so the push fails.
    expect(swept.errors.map(({ step }) => step)).to.deep.equal(['task list']);
    expect(swept.errors[0]?.message).to.match(/^git could not read the repository/);
    expect((await run(['work', 'sweep', '--strict'])).code).to.equal(4);
    expect(
      jsonOf(await run(['work', 'sweep', '--json', '--since', '720h', '--max-create', '50'])),
    ).to.include({
      created: 1,
      left: 0,
    });
  });

  it('sweep: exits 0 for wrong flags and a broken configuration, reported on both streams', async () => {
    const mistakes: [string[], string][] = [
      [['--since', '7 days'], 'Invalid duration "7 days".'],
      [['--max', '5'], 'Unknown flag --max for "steward work sweep".'],
      [['--max-create', '900'], '--max-create: Expected an integer less than or equal to 500'],
      [['now'], '"steward work sweep" does not take "now".'],
    ];
    for (const [words, said] of mistakes) {
      const told = await run(['work', 'sweep', ...words]);
      expect([told.code, told.stdout], words.join(' ')).to.deep.equal([0, '']);
      expect(told.stderr).to.include(said);
      const strict = await run(['work', 'sweep', '--strict', '--json', ...words]);
      expect([strict.code, strict.stdout], words.join(' ')).to.deep.equal([2, '']);
      expect(strict.stderr).to.include('"kind": "usage"');
    }
    const asked = await run(['work', 'sweep', '--dry-run', '--json', '--since', '7 days']);
    expect(asked.code).to.equal(0);
    expect(jsonOf(asked)).to.deep.include({
      dryRun: true,
      sinceHours: 0,
      errors: [{ step: 'start', message: 'Invalid duration "7 days".' }],
    });
    const log = join(home.path, '.steward', 'observability', 'work-sweep.jsonl');
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    expect(lines).to.have.length(mistakes.length + 1);
    expect(JSON.parse(lines[0] ?? '')).to.deep.include({
      errors: [{ step: 'start', message: mistakes[0]?.[1] }],
    });

    writeFileSync(join(home.path, '.steward', 'config.yaml'), 'da: [');
    const broken = await run(['work', 'sweep']);
    expect([broken.code, broken.stdout]).to.deep.equal([0, 'The sweep did not start.\n']);
    expect(broken.stderr).to.include('config.yaml');
    expect((await run(['work', 'sweep', '--strict'])).code).to.equal(3);
  });
});
