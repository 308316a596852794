import { expect } from 'chai';
import { spawn } from 'node:child_process';

import { BIN, cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { startGitHub, type Fault, type GitHub } from '../helpers/github';
import { issuesOf } from '../helpers/work-kill';

interface Status {
  unfinished: number;
  waiting: { count: number; reason: string }[];
}
interface Result {
  created: number;
  titles: string[];
}

describe('work add and remind, cut short (built)', function () {
  this.timeout(180_000);
  let github: GitHub;
  let home: ReturnType<typeof emptyHome>;
  beforeEach(async () => {
    home = emptyHome();
    github = await startGitHub({ labels: true });
    await json('setup', 'ann/work');
  });
  afterEach(async () => {
    home.remove();
    await github.close();
  });

  const env = (): Record<string, string> => ({ GITHUB_API_URL: github.url, GH_TOKEN: github.token });
  const run = (args: readonly string[], more: Record<string, string> = {}): Promise<StewardResult> =>
    steward(['work', ...args], { home: home.path, env: { ...env(), ...more } });
  const json = async (...args: string[]): Promise<unknown> => {
    const result = await run([...args, '--json']);
    expect(result.code, `${args.join(' ')}: ${result.stderr}`).to.equal(0);
    return jsonOf(result);
  };
  /** Runs a command, and `cut` once GitHub gets its request for an issue. */
  const cutShort = (
    args: readonly string[],
    fault: Fault,
    cut: (kill: (signal: NodeJS.Signals) => void) => unknown,
  ): Promise<StewardResult> =>
    new Promise((done, fail) => {
      const child = spawn(process.execPath, [BIN, 'work', ...args], { env: cleanEnv(home.path, env()) });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.on('close', (code) => {
        github.fault = () => undefined;
        done({ code, stdout, stderr });
      });
      github.fault = ({ method, path }) => {
        if (method !== 'POST' || !path.endsWith('/issues')) return undefined;
        github.fault = () => undefined;
        Promise.resolve(cut((signal) => child.kill(signal))).catch(fail);
        return fault;
      };
    });
  const killed = (args: readonly string[], fault: Fault): Promise<StewardResult> =>
    cutShort(args, fault, (kill) => kill('SIGKILL'));
  const titles = async (): Promise<string[]> =>
    (await issuesOf(github, 'ann/work')).map(({ title }) => title).sort();
  const posts = (): number =>
    github.seen.filter(({ method, path }) => method === 'POST' && path.endsWith('/issues')).length;
  const waiting = async (): Promise<number> =>
    ((await json('status')) as Status).waiting.reduce((sum, { count }) => sum + count, 0);

  it('each becomes exactly one issue with the next sweep, which counts what it creates', async () => {
    const interrupted = await cutShort(['add', 'Interrupted'], 'hang', async (kill) => {
      // Another process leaves the issue to the command that is creating it.
      expect(await json('deliver')).to.include({ later: 1, done: 0 });
      kill('SIGINT');
    });
    expect([interrupted.code, interrupted.stdout]).to.deep.equal([130, '']);
    expect(interrupted.stderr).to.equal(
      'Interrupted before GitHub confirmed the issue.\nThe issue is queued. The daemon or the next "steward work sweep" creates it once.\n',
    );
    expect(posts()).to.equal(1);
    expect((await run(['status'])).stdout).to.match(
      /1 capture waiting: not confirmed yet\nunconfirmed +1 issue; the next fetch shows whether GitHub created it\n/,
    );
    await killed(['add', 'Hangs'], 'hang');
    await killed(['remind', 'water the plants tomorrow at 9'], 'drop');
    const offline = await run(['add', 'Offline'], { GITHUB_API_URL: 'http://127.0.0.1:9' });
    expect(offline.stdout).to.match(/^Queued: Offline\n/);
    expect(await titles()).to.deep.equal(['[Reminder] water the plants']);
    expect(await waiting()).to.equal(4);

    const swept = (await json('sweep')) as Result;
    expect([swept.created, [...swept.titles].sort()]).to.deep.equal([3, ['Hangs', 'Interrupted', 'Offline']]);
    const all = ['Hangs', 'Interrupted', 'Offline', '[Reminder] water the plants'];
    expect(await titles()).to.deep.equal(all);
    expect(await json('status')).to.deep.include({ unfinished: 0, waiting: [] });
    expect((await run(['sweep'])).stdout).to.match(/^0 created /);
    expect(await titles()).to.deep.equal(all);
  });

  it('the same command continues with the queued issue, and says so', async () => {
    const again = /The same issue was already queued/;
    for (const fault of ['hang', 'drop'] as const) {
      const args = ['remind', 'call Ann', '--at', 'in 40 days 9:00'];
      await killed(args, fault);
      const resumed = await run([...args, '--json']);
      expect([resumed.code, again.test(resumed.stderr)], resumed.stderr).to.deep.equal([0, true]);
      const { number } = jsonOf(resumed) as { number: number };
      expect(await titles()).to.deep.equal(Array<string>(number).fill('[Reminder] call Ann'));
      expect(await waiting()).to.equal(0);
    }
    await killed(['add', 'Label it', '--priority', 'P1'], 'hang');
    const other = await run(['add', 'Label it', '--priority', 'P2']);
    expect([other.code, other.stderr]).to.deep.equal([0, '']);
    const away = { GITHUB_API_URL: 'http://127.0.0.1:9' };
    expect((await run(['add', 'Label it', '--priority', 'P1'], away)).stderr).to.match(again);
    expect(await waiting()).to.equal(1);
  });

  it('two at once and a delivery each send their own, and queue nothing', async () => {
    const [one, two] = await Promise.all([json('add', 'One'), json('add', 'Two'), json('deliver')]);
    expect([one, two]).to.have.nested.property('[0].resumed', false);
    expect(await titles()).to.deep.equal(['One', 'Two']);
    expect(posts()).to.equal(2);
    await json('deliver');
    expect(await json('status')).to.deep.include({ unfinished: 0, waiting: [] });
    const rejected = await run(['add', 'x'], { GH_TOKEN: 'not_a_good_one' });
    expect([rejected.code, await waiting()]).to.deep.equal([4, 0]);
  });
});
