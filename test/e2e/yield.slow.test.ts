import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { addDays } from '../../src/lib/platform/time/time';
import { authorSecondOf } from '../../src/lib/sense/git/identity';
import type { Yield, YieldRow } from '../../src/lib/usage/yield';
import { cacheText, emptyCache } from '../../src/lib/work/cache';
import { emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { gitBox, ME, type GitBox } from '../helpers/git';
import { seeded } from '../helpers/random';
import { claudeLine, lineOf } from '../helpers/usage';

const SESSIONS = [
  { id: 's1', repo: 'shop', branch: '12-login', until: 100 },
  { id: 's2', repo: 'shop', branch: '13-cart', until: 90 },
  { id: 's3', repo: 'notes', branch: 'main', until: 80 },
];

interface Expected {
  session: string;
  tokens: number;
  agents: number;
  you: number;
}

/** A generated day: three sessions in two repositories that use tokens and commit at random minutes. */
describe('steward usage by issue, branch and commit (built)', function () {
  this.timeout(60_000);
  const day = addDays(new Date().toISOString().slice(0, 10), -1);
  const startMs = Date.parse(`${day}T09:00:00Z`);
  const at = (minute: number): string => new Date(startMs + minute * 60_000).toISOString();
  let home: ReturnType<typeof emptyHome>;
  let box: GitBox;
  let shop: string;
  let events: object[];
  let expected: Map<string, Expected>;

  const file = (path: string, lines: readonly object[]): void => {
    mkdirSync(dirname(join(home.path, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(home.path, path), lines.map(lineOf).join(''), { mode: 0o600 });
  };
  const run = (...args: string[]): Promise<StewardResult> =>
    steward(['usage', '--of', day, ...args], { home: home.path });
  const rowsBy = async (by: string): Promise<YieldRow[]> =>
    (jsonOf(await run('--by', by, '--json')) as Yield).rows;
  const tokensOf = ({ input, output }: YieldRow): number | null =>
    input === null || output === null ? null : input + output;
  const add = (sha: string, repo: string, path: string, minute: number, branch: string): unknown =>
    events.push({
      ...{ ts: at(minute), type: 'git-commit', source: 'git', repo },
      detail: { sha, identity: identityOf(sha, minute), subject: `at ${minute}`, path, branch },
    });

  const identityOf = (sha: string, minute: number): string =>
    authorSecondOf({ sha, email: ME, authored: String(startMs / 1000 + minute * 60) });

  /** Your time is in the first hour, in s1. */
  function work({ id, repo, branch, until }: (typeof SESSIONS)[number], path: string, seed: number): void {
    const random = seeded(seed);
    const lines: object[] = [];
    let [tokens, since] = [0, 0];
    events.push(
      ...[0, until].map((minute, over) => ({
        ...{ ts: at(minute), type: 'session-state', source: 'agentSession', repo },
        detail: { session: id, state: over === 0 ? 'working' : 'over', branch },
      })),
    );
    box.git(path, ['checkout', '-q', '-B', branch]);
    for (let minute = 1; minute < until; minute += 1) {
      if (random.next() < 0.5) {
        const input = 1000 * Math.ceil(random.next() * 9);
        tokens += input;
        const more = { session: id, at: new Date(startMs + minute * 60_000 - 20_000).toISOString() };
        lines.push(claudeLine({ id: `${id}-${minute}`, input, output: 0, cwd: path, ...more }));
      }
      if (random.next() >= 0.08) continue;
      const files = { [`${id}-${minute}`]: 'x' };
      const sha = box.commit(path, { at: startMs / 1000 + minute * 60, files, subject: `at ${minute}` });
      add(sha, repo, path, minute, branch);
      const you = id === 's1' ? Math.max(0, Math.min(60, minute) - Math.min(60, since)) : 0;
      expected.set(sha, { session: id, tokens, agents: minute - since, you });
      [tokens, since] = [0, minute];
    }
    file(`.claude/projects/${repo}/${id}.jsonl`, lines);
  }

  beforeEach(async () => {
    [home, box, events, expected] = [emptyHome(), gitBox(), [], new Map()];
    shop = box.init('shop');
    const notes = box.init('notes');
    box.commit(shop, { at: startMs / 1000 - 1000, files: { start: '' } });
    work(SESSIONS[0] as never, shop, 7);
    box.git(shop, ['checkout', '-q', 'main']);
    work(SESSIONS[1] as never, shop, 11);
    work(SESSIONS[2] as never, notes, 13);
    const focus = { type: 'app-focus', source: 'appFocus', app: 'Ghostty', repo: 'shop' };
    const detail = { intervalSec: 120, via: 'x11', branch: '12-login', sessions: ['s1'] };
    for (let minute = 2; minute <= 60; minute += 2) events.push({ ts: at(minute), ...focus, detail });
    const idle = { type: 'away', source: 'appFocus' };
    for (let minute = 62; minute <= 110; minute += 2)
      events.push({ ts: at(minute), ...idle, detail: { from: at(minute - 2), reason: 'idle' } });
    file(`.steward/sense/events/${day}.jsonl`, events);
    const started = SESSIONS.map(({ id, repo, branch }) => ({
      ...{ ts: at(0), type: 'prompt', session: id, slug: null, repo, branch },
    }));
    file('.steward/state/work-events.jsonl', started);
  });
  afterEach(() => {
    home.remove();
    box.remove();
  });

  it('gives each commit what its session used since the one before', async () => {
    expect(expected.size).to.be.greaterThan(10);
    const rows = await rowsBy('commit');
    const found = rows.map((row) => {
      const { session } = row.commit ?? { session: null };
      return [row.key, { session, tokens: tokensOf(row), agents: row.agentMinutes, you: row.yourMinutes }];
    });
    expect(Object.fromEntries(found)).to.deep.equal(Object.fromEntries(expected));
    const first = rows[0] as YieldRow;
    expect(first.cost).to.equal(((tokensOf(first) ?? 0) * 5) / 1e6);
    const byTime = rows.map(({ commit }) => commit?.at ?? '');
    expect(byTime).to.deep.equal([...byTime].sort().reverse());
  });

  it('adds up by branch and issue, with commits kept, merged and reverted, and the state of the issue', async () => {
    const shas = (session: string): string[] =>
      [...expected].filter(([, each]) => each.session === session).map(([sha]) => sha);
    const [login, cart, main] = ['s1', 's2', 's3'].map((session) => shas(session));
    box.git(shop, ['checkout', '-q', 'main']);
    box.git(shop, ['merge', '-q', '--no-ff', '-m', 'Merge', '12-login']);
    box.git(shop, ['revert', '--no-edit', login?.[0] ?? '']);
    box.git(shop, ['revert', '--no-edit', login?.[1] ?? '']);
    box.git(shop, ['revert', '--no-edit', 'HEAD']);
    // The first commit of the cart is amended, and the others are on no branch any more.
    box.git(shop, ['checkout', '-q', '-B', '13-cart', cart?.[0] ?? '']);
    box.git(shop, ['commit', '-q', '--amend', '-m', 'Amended']);
    await steward(['config', 'set', 'WORK.repo', 'ann/shop'], { home: home.path });
    const issue = (number: number, state: 'open' | 'closed') => ({
      ...{ number, state, title: 'x', url: `https://github.com/ann/shop/issues/${number}`, labels: [] },
      ...{ stateReason: null, createdAt: at(0), updatedAt: at(9), identity: null, due: null },
      closedAt: state === 'closed' ? at(9) : null,
    });
    const issues = [issue(12, 'closed'), issue(13, 'open')];
    file('.steward/work/cache.json', [
      JSON.parse(cacheText({ ...emptyCache('ann/shop'), issues })) as object,
    ]);

    const outcome = (row: YieldRow | undefined) => {
      const { commits, kept, merged, reverted, unclear, issues: named } = row as YieldRow;
      return {
        commits,
        kept,
        merged,
        reverted,
        unclear,
        issues: named.map(({ key, state }) => `${key} ${state}`),
      };
    };
    for (const by of ['branch', 'issue']) {
      const rows = new Map((await rowsBy(by)).map((row) => [row.key, row]));
      const sum = (session: string): number =>
        [...expected.values()]
          .filter((each) => each.session === session)
          .reduce((all, { tokens }) => all + tokens, 0);
      const row = rows.get(by === 'branch' ? 'shop:12-login' : 'shop#12');
      expect(row?.input).to.be.at.least(sum('s1'));
      expect([row?.agentMinutes, row?.yourMinutes]).to.deep.equal([100, 60]);
      const all = login?.length ?? 0;
      expect(outcome(row)).to.deep.equal({
        ...{ commits: all, kept: all, merged: all, reverted: 1, unclear: 0, issues: ['shop#12 closed'] },
      });
      expect(outcome(rows.get(by === 'branch' ? 'shop:13-cart' : 'shop#13'))).to.deep.equal({
        ...{ commits: cart?.length, kept: 1, merged: 0, reverted: 0, unclear: 0, issues: ['shop#13 open'] },
      });
      const own = rows.get(by === 'branch' ? 'notes:main' : 'no issue');
      const count = main?.length;
      expect(outcome(own)).to.deep.equal({
        ...{ commits: count, kept: count, merged: count, reverted: 0, unclear: 0, issues: [] },
      });
    }
    const text = (await run('--by', 'branch')).stdout;
    expect(text).to.match(
      /^shop:12-login +[\d.]+k +\$\d\.\d\d +1 h 40 m +1 h 00 m +\d+ commits, .*1 reverted, shop#12 closed$/m,
    );
    expect((await run('--by', 'commit')).stdout).to.match(
      /^shop [0-9a-f]{10} at \d+ .* not kept, shop#13 open$/m,
    );
    expect((await run('--by', 'issue', '--csv')).stdout).to.match(/^shop#12,\d+,0,0,0,[\d.]+,100,60,\d+,/m);
  });

  it('says what it does not know', async () => {
    // Made by hand while two sessions worked there, and in a repository that is gone.
    add('a'.repeat(40), 'shop', shop, 10, 'elsewhere');
    add('b'.repeat(40), 'gone', join(box.folder, 'gone'), 10, 'main');
    file(`.steward/sense/events/${day}.jsonl`, events);
    const answer = jsonOf(await run('--by', 'commit', '--json')) as Yield;
    const rows = answer.rows.filter(({ commit }) => commit?.session === null);
    expect(rows.map(({ commit }) => commit?.repo).sort()).to.deep.equal(['gone', 'shop']);
    for (const row of rows)
      expect([tokensOf(row), row.cost, row.agentMinutes, row.yourMinutes]).to.deep.equal([
        null,
        null,
        null,
        null,
      ]);
    expect(rows.find(({ commit }) => commit?.repo === 'gone')).to.include({ kept: 0, unclear: 1 });
    expect(rows.find(({ commit }) => commit?.repo === 'shop')).to.include({ kept: 0, unclear: 0 });
    expect(answer.notes?.join()).to.include(`${join(box.folder, 'gone')}: not a git repository`);
    const none = await steward(['usage', '--by', 'branch', '--of', addDays(day, -3)], { home: home.path });
    expect(none.stdout).to.include('No event log, so the commits of 1 day are unknown.');
    expect(none.stdout).to.include('`steward up` starts to');
    expect(await run('--by', 'commit', '--machine', 'other')).to.include({ code: 2 });
  });
});
