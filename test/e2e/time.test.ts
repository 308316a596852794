import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { DailyRecord } from '../../src/lib/time/record';
import { addDays } from '../../src/lib/platform/time/time';
import { bareEnvironment } from '../helpers/git';
import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';

const MARKDOWN = `## Time

| Repository | You | Working | Waiting | Held up |
| --- | ---: | ---: | ---: | ---: |
| shop | 1 h 00 m | 2 h 00 m | 10 m | 10 m |
| notes | 20 m | 2 h 15 m | 35 m |  |
| other folders | 10 m |  |  |  |
| unknown | 30 m |  |  |  |

2 questions answered; median wait 23 m, longest 35 m.

At most 3 sessions worked at the same time.
`;

/** A scripted day: three sessions in two repositories, an hour away, a browser. */
describe('steward time (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  const day = addDays(new Date().toISOString().slice(0, 10), -1);
  beforeEach(() => {
    home = emptyHome();
    const folder = join(home.path, '.steward', 'sense', 'events');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(
      join(folder, `${day}.jsonl`),
      scriptedDay()
        .map((event) => `${JSON.stringify(event)}\n`)
        .join(''),
    );
  });
  afterEach(() => home.remove());

  const run = (...args: string[]): Promise<StewardResult> =>
    steward(['time', '--of', day, ...args], { home: home.path, env: { TZ: 'UTC' } });

  const at = (minute: number): string =>
    new Date(Date.parse(`${day}T09:00:00Z`) + minute * 60_000).toISOString();

  function samples(from: number, to: number, event: object, detail: object = {}): object[] {
    const count = (to - from) / 2;
    return Array.from({ length: count }, (_, i) => ({
      ...{ ts: at(from + 2 * (i + 1)), type: 'app-focus', source: 'appFocus', app: 'Ghostty', ...event },
      detail: { intervalSec: 120, via: 'x11', ...detail },
    }));
  }

  function scriptedDay(): object[] {
    const state = (minute: number, session: string, to: string, repo: string, more: object = {}) => ({
      ...{ ts: at(minute), type: 'session-state', source: 'agentSession', repo },
      detail: { session, state: to, ...more },
    });
    const away = (from: number, to: number) => ({
      ...{ ts: at(to), type: 'away', source: 'appFocus' },
      detail: { from: at(from), reason: 'idle' },
    });
    const login = { branch: '12-login', sessions: ['s1'] };
    return [
      ...samples(0, 60, { repo: 'shop' }, login),
      ...samples(60, 90, { app: 'Firefox' }),
      ...samples(90, 100, {}, { otherFolder: true }),
      ...Array.from({ length: 30 }, (_, i) => away(100 + 2 * i, 102 + 2 * i)),
      ...samples(160, 180, { repo: 'notes' }, { sessions: [{ id: 's2', assistant: 'codex' }] }),
      state(0, 's1', 'working', 'shop', { branch: '12-login', prompt: true }),
      state(70, 's1', 'waiting', 'shop', { branch: '12-login', reason: 'permission_prompt' }),
      state(80, 's1', 'working', 'shop', { branch: '12-login' }),
      state(110, 's1', 'ready', 'shop', { branch: '12-login' }),
      state(10, 's2', 'working', 'notes', { assistant: 'codex' }),
      state(130, 's2', 'waiting', 'notes', { assistant: 'codex', reason: 'permission_prompt' }),
      state(165, 's2', 'working', 'notes', { assistant: 'codex' }),
      state(20, 's3', 'working', 'shop'),
      state(40, 's3', 'over', 'shop'),
      state(180, 's1', 'over', 'shop'),
      state(180, 's2', 'over', 'notes'),
    ];
  }

  it('shows the expected table of the sample day', async () => {
    const { code, stdout, stderr } = await run();
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout.split('\n').slice(1)).to.deep.equal([
      '2 h 00 m tracked',
      '',
      'repo                you   working  waiting  held up',
      'shop           1 h 00 m  2 h 00 m     10 m     10 m',
      'notes              20 m  2 h 15 m     35 m',
      'other folders      10 m',
      'unknown            30 m',
      '',
      '2 questions answered; median wait 23 m, longest 35 m.',
      '',
      'At most 3 sessions worked at the same time.',
      '',
    ]);
  });

  it('prints the same report as JSON, by each key', async () => {
    const zero = { working: 0, waiting: 0, heldUp: 0 };
    expect(jsonOf(await run('--json'))).to.deep.equal({
      ...{ from: day, to: day, timezone: 'UTC', totalMinutes: 120 },
      rows: [
        { key: 'shop', minutes: 60, working: 120, waiting: 10, heldUp: 10 },
        { key: 'notes', minutes: 20, working: 135, waiting: 35, heldUp: 0 },
        { key: 'other folders', minutes: 10, ...zero },
        { key: 'unknown', minutes: 30, ...zero },
      ],
    });
    const keys = async (by: string): Promise<string[]> =>
      (jsonOf(await run('--by', by, '--json')) as { rows: { key: string }[] }).rows.map(({ key }) => key);
    expect(await keys('branch')).to.deep.equal([
      'shop:12-login',
      'notes',
      'shop',
      'other folders',
      'unknown',
    ]);
    expect(await keys('assistant')).to.deep.equal(['claude-code', 'codex', 'other folders', 'unknown']);
    expect(await keys('issue')).to.deep.equal(['shop#12', 'no issue', 'other folders', 'unknown']);
    expect(await keys('app')).to.deep.equal(['Ghostty', 'Firefox']);
  });

  it('reads "last week" and "last month" as whole periods', async () => {
    const periodOf = async (of: string): Promise<{ from: string; to: string }> =>
      jsonOf(await steward(['time', '--of', of, '--json'], { home: home.path, env: { TZ: 'UTC' } })) as never;
    const before = (date: string): string =>
      new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
    for (const unit of ['week', 'month']) {
      const [last, current] = [await periodOf(`last ${unit}`), await periodOf(unit)];
      expect(last.to, unit).to.equal(before(current.from));
      expect(last.from < last.to, unit).to.equal(true);
    }
  });

  it('rejects periods that it would read as one day', async () => {
    for (const of of ['last fortnight', '2026-13']) {
      const { code, stderr } = await steward(['time', '--of', of], { home: home.path });
      expect([code, stderr.split('\n')[0]]).to.deep.equal([2, `Invalid day "${of}".`]);
    }
  });

  it('names formats that exclude each other once', async () => {
    const { code, stderr } = await run('--csv', '--ics');
    expect([code, stderr.split('\n')[0]]).to.deep.equal([2, '--ics cannot be combined with --csv.']);
  });

  const rollUp = (date: string): Promise<StewardResult> =>
    steward(['sense', 'rollup', date], { home: home.path, env: { TZ: 'UTC' } });
  const pathOf = (folder: string, name: string): string => join(home.path, '.steward', 'sense', folder, name);

  it('reports a damaged record that cannot be built again', async () => {
    await rollUp(day);
    const path = pathOf('daily', `${day}.json`);
    writeFileSync(path, '{');
    expect((await run()).stderr, 'the log still exists').to.equal('');
    rmSync(pathOf('events', `${day}.jsonl`));
    const { code, stdout, stderr } = await run();
    expect(code).to.equal(0);
    expect(stderr.replace(/\s+/g, ' ').trim()).to.equal(
      `${path} is not a valid daily record. The event log is deleted or unreadable, so the record cannot be rebuilt. Restore it from a backup, or delete it.`,
    );
    expect(stdout).to.not.match(/not recorded/i);
    expect(jsonOf(await run('--json'))).to.include({ totalMinutes: null });
  });

  it("shows a backfilled day's commits and agents' time, and your own time as not recorded", async () => {
    const past = addDays(day, -1);
    const shop = join(home.path, 'src', 'shop');
    mkdirSync(shop, { recursive: true });
    const date = `${past}T10:00:00Z`;
    const author = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const env = { ...bareEnvironment(home.path), ...author };
    const git = (...args: string[]): unknown =>
      execFileSync('git', args, { cwd: shop, env, stdio: 'ignore' });
    git('init', '-q', '-b', 'main');
    for (const [key, value] of [
      ['user.email', 'me@example.org'],
      ['user.name', 'Me'],
    ])
      git('config', '--global', key!, value!);
    git('commit', '-q', '--allow-empty', '-m', 'First');
    const transcripts = join(home.path, '.claude', 'projects', 'shop');
    mkdirSync(transcripts, { recursive: true });
    const lines = ['00', '02', '04', '06'].map((minute) =>
      JSON.stringify({ type: 'user', sessionId: 's9', cwd: shop, timestamp: `${past}T10:${minute}:00Z` }),
    );
    writeFileSync(join(transcripts, 's9.jsonl'), `${lines.join('\n')}\n`);
    for (const args of [
      ['sense', 'init'],
      ['config', 'add', 'sense.repos', shop],
      ['sense', 'backfill', '--of', '6d'],
    ]) {
      const { code, stderr } = await steward(args, { home: home.path, env: { TZ: 'UTC' } });
      expect([code, stderr], args.join(' ')).to.deep.equal([0, '']);
    }
    const { stdout } = await steward(['time', '--of', past], { home: home.path, env: { TZ: 'UTC' } });
    expect(stdout.split('\n').slice(1)).to.deep.equal([
      '',
      'repo  you  working  waiting  held up',
      'shop           8 m',
      '',
      '1 commit.',
      '',
      'Your own time was not recorded on 1 day.',
      '',
    ]);
    expect(readFileSync(pathOf('daily', `${past}.md`), 'utf8')).to.include('| shop |  | 8 m |  |  |');
  });

  it('shows today in the status line', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const ts = `${today}T00:00:01.000Z`;
    const sample = {
      ts,
      type: 'app-focus',
      source: 'appFocus',
      app: 'Ghostty',
      detail: { intervalSec: 3600 },
    };
    writeFileSync(pathOf('events', `${today}.jsonl`), `${JSON.stringify(sample)}\n`);
    const call = (...args: string[]): Promise<StewardResult> =>
      steward(args, { home: home.path, env: { TZ: 'UTC' } });
    await call('sense', 'init');
    for (let time = 0; time < 2; time += 1)
      expect((await call('statusline')).stdout).to.equal('no session · 1 h 00 m today\n');
    expect(jsonOf(await call('statusline', '--json'))).to.deep.include({
      time: { totalMinutes: 60, heldUpMinutes: 0 },
    });
  });

  it('stores the ledger and the goals of a day in its record, the same bytes each time', async () => {
    const goals = join(home.path, '.steward', 'goals', 'goals.md');
    mkdirSync(join(home.path, '.steward', 'goals'), { recursive: true, mode: 0o700 });
    const text = '## Active Goals\n\n- **G1**: Ship it\n  repos: shop\n- **G2**: Write\n  repos: notes\n';
    writeFileSync(goals, text);
    const rollup = async (): Promise<DailyRecord> => {
      const { code, stderr } = await steward(['sense', 'rollup', day], {
        home: home.path,
        env: { TZ: 'UTC' },
      });
      expect([code, stderr]).to.deep.equal([0, '']);
      return JSON.parse(
        readFileSync(join(home.path, '.steward', 'sense', 'daily', `${day}.json`), 'utf8'),
      ) as DailyRecord;
    };
    const record = await rollup();
    const again = { ...(await rollup()), generatedAt: record.generatedAt };
    expect(JSON.stringify(again)).to.equal(JSON.stringify(record));
    expect(record.ledger?.cells).to.deep.equal({
      working: { front: 75, desk: 140, away: 40 },
      waiting: { front: 5, desk: 10, away: 30 },
      ready: { desk: 20, away: 50 },
    });
    expect(record.ledger?.answers.times).to.deep.equal([10, 35]);
    expect(readFileSync(pathOf('daily', `${day}.md`), 'utf8')).to.include(MARKDOWN);
    expect(record.goalTags).to.deep.equal({
      G1: { minutes: 60, working: 120, reasons: ['repos: shop'] },
      G2: { minutes: 20, working: 135, reasons: ['repos: notes'] },
    });
    expect((await run('--by', 'goal')).stdout).to.match(/^G1 Ship it +1 h 00 m +2 h 00 m/m);
    expect(readFileSync(goals, 'utf8'), 'goals are only read').to.equal(text);
  });
});
