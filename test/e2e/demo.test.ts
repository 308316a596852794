import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { steward, type StewardResult } from '../helpers/cli';
import { startDaemon, until, type RunningDaemon } from '../helpers/daemon';

/** What ssh tells of a login. */
const LOGIN = { SSH_CONNECTION: '192.0.2.7 50022 192.0.2.8 22' };

describe('steward demo', function () {
  this.timeout(120_000);
  let base: string;
  let home: string;
  let temp: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'demo-test-'));
    [home, temp] = [join(base, 'home'), join(base, 'temp')];
    mkdirSync(home);
    mkdirSync(temp);
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  const env = () => ({ TMPDIR: temp, TEMP: temp, TMP: temp, GH_TOKEN: 'ghp_mine', DISPLAY: ':7', ...LOGIN });
  const demo = (...args: string[]): Promise<StewardResult> =>
    steward(['demo', ...args], { home, env: env() });
  let served: RunningDaemon | undefined;
  const serve = async (): Promise<RunningDaemon> =>
    (served = await startDaemon({ home, env: env(), args: ['demo', '--json'] }));
  afterEach(async () => {
    await served?.stop('SIGKILL');
    served = undefined;
  });
  const expectNothingLeft = (): void => {
    expect(readdirSync(home)).to.deep.equal([]);
    expect(readdirSync(temp).filter((name) => name.startsWith('steward-'))).to.deep.equal([]);
  };

  it('runs a command on invented data and leaves nothing', async () => {
    const result = await demo('--', 'sessions', '--json');
    expect(result.code, result.stderr).to.equal(0);
    expect(result.stderr).to.match(/^demo: invented data in /);
    const { sessions } = JSON.parse(result.stdout) as { sessions: { assistant: string; status: string }[] };
    expect(sessions.map(({ assistant }) => assistant).sort()).to.deep.equal([
      'claude-code',
      'codex',
      'copilot',
      'opencode',
    ]);
    expect(sessions.filter(({ status }) => status === 'waiting')).to.have.length(3);
    expectNothingLeft();
  });

  it('says what the demo does not do (slow)', async () => {
    const { rows, notes } = JSON.parse((await demo('--', 'usage', '--by', 'commit', '--json')).stdout) as {
      rows: { input: number }[];
      notes: string[];
    };
    expect(rows.some(({ input }) => input > 0)).to.equal(true);
    expect(notes.join())
      .to.include('whether commits were kept is unknown')
      .and.not.include('git is not installed');
    const added = await demo('--', 'work', 'remind', 'call Ann tomorrow at 9');
    expect(added.code).to.equal(4);
    expect(added.stderr).to.include('Not saved: The demo has no credential: its issues are read-only.');
    const gone = await demo('--', 'go', '1');
    expect(gone.stderr).to.match(
      /^(?:.*\n)?.*The demo has no terminal for .+\.\nOutside the demo, steward go /,
    );
    const { stdout } = await demo('--', 'doctor', 'sense', 'work', '--json');
    const { counts } = JSON.parse(stdout) as { counts: { failed: number } };
    expect(counts.failed).to.equal(0);
  });

  it('serves the pages, marked as a demo, until Ctrl-C', async () => {
    const running = await serve();
    const { port } = new URL(running.url);
    await until('how to open it elsewhere', () =>
      running.output().includes(`ssh -L ${port}:127.0.0.1:${port}`),
    );
    const page = await (await fetch(`${running.url}/`)).text();
    expect(page).to.include('<html lang="en" data-demo>');
    const day = (await (await fetch(`${running.url}/api/day`)).json()) as { record: { apps: unknown[] } };
    expect(day.record.apps).to.not.be.empty;
    // What its pages send: they are signed in.
    const headers = { authorization: 'Bearer demo' };
    const board = (await (await fetch(`${running.url}/api/work`, { headers })).json()) as {
      items: { title: string }[];
    };
    expect(board.items.map(({ title }) => title)).to.include('Write the release notes of the checkout');
    const { jobs, modules } = (await (await fetch(`${running.url}/api/status`)).json()) as {
      jobs: { id: string }[];
      modules: { id: string; found: string }[];
    };
    expect(modules.find(({ id }) => id === 'machines')?.found).to.match(
      /^laptop: news \d+ m old · studio: news \d+ m old$/,
    );
    expect(jobs.map(({ id }) => id)).to.deep.equal(['upgrade']);
    expect(await running.stop('SIGINT')).to.equal(0);
    expectNothingLeft();
  });

  it('runs commands on the demo that is served (slow)', async () => {
    const running = await serve();
    const { folder } = running.document as unknown as { folder: string };
    const named = await demo('--', 'sessions', 'name', '1', 'The urgent one');
    expect(named.code, named.stderr).to.equal(0);
    expect(named.stderr).to.include(folder);
    expect((await demo('--', 'sessions')).stdout).to.include('The urgent one');
    expect(await running.stop('SIGTERM')).to.equal(0);
    expectNothingLeft();
  });

  it('removes the folder of a killed demo at the next start (slow)', async () => {
    const running = await serve();
    await running.stop('SIGKILL');
    // Where the temporary folder has a long path, the socket of a killed daemon is in a folder of its own, which stays.
    const demos = (): string[] => readdirSync(temp).filter((name) => name.startsWith('steward-demo-'));
    expect(demos()).to.have.length(1);
    expect((await demo('--', 'status')).code).to.equal(0);
    expect(demos()).to.deep.equal([]);
  });

  it('shows a second machine, a day off and issues that are ready (slow)', async () => {
    const kept = join(base, 'kept');
    const time = await demo('--keep', kept, '--', 'time', '--of', 'last 2 weeks', '--json');
    expect(time.code, time.stderr).to.equal(0);
    expect(time.stdout).to.include('laptop');
    expect(JSON.parse((await demo('--keep', kept, '--json', '--', 'sessions')).stdout)).to.have.property(
      'sessions',
    );
    const ready = await demo('--keep', kept, '--', 'work', 'ready');
    expect(ready.stdout).to.include('Write the release notes');
    const recent = await demo('--keep', kept, '--', 'sense', 'recent', '--days', '14', '--json');
    const days = JSON.parse(recent.stdout) as { totalMinutes: number }[];
    expect(days.filter(({ totalMinutes }) => totalMinutes === 0)).to.have.length(1);
    expectNothingLeft();
  });

  it('refuses to keep its data in a folder with other files', async () => {
    mkdirSync(join(base, 'full', 'of-work'), { recursive: true });
    const result = await demo('--keep', join(base, 'full'), '--', 'status');
    expect(result.code).to.equal(2);
    expect(result.stderr).to.include('is not empty, and is not a demo');
  });

  it('takes no credential, display or program into the demo (slow)', async () => {
    const result = await demo('--', 'work', 'add', 'Something new');
    expect(result.code).to.not.equal(0);
    expect(result.stderr).to.match(/sign|log|token|credential/i);
    const again = await demo('--', 'demo');
    expect(again.stderr).to.include('This is the demo already');
  });
});
