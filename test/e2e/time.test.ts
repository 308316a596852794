import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { DailyRecord } from '../../src/lib/sense/record';
import { addDays } from '../../src/lib/platform/time/time';
import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';

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
      '2 questions answered, median 23 m, longest 35 m.',
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
    expect(await keys('issue')).to.deep.equal(['#12', 'no issue', 'other folders', 'unknown']);
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

  it('names formats that exclude each other once', async () => {
    const { code, stderr } = await run('--csv', '--ics');
    expect([code, stderr.split('\n')[0]]).to.deep.equal([2, '--ics cannot be combined with --csv.']);
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
    expect(record.goalTags).to.deep.equal({
      G1: { minutes: 60, working: 120, reasons: ['repos: shop'] },
      G2: { minutes: 20, working: 135, reasons: ['repos: notes'] },
    });
    expect((await run('--by', 'goal', '--explain')).stdout).to.include('G2  repos: notes');
    expect(readFileSync(goals, 'utf8'), 'goals are only read').to.equal(text);
  });
});
