import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { readTable } from '../../../src/lib/usage/prices';
import { usageReads } from '../../../src/lib/usage/reads';
import { collectUsage, readState } from '../../../src/lib/usage/collect';
import { scratch } from '../../helpers/scratch';
import { claudeLine, codexStart, codexTotals, usageBox } from '../../helpers/usage';

const CLAUDE = '.claude/projects/-shop/s1.jsonl';

describe('the readers of usage (lib)', () => {
  const box = scratch();

  describe('Claude Code', () => {
    it('counts an answer once, as its fullest line tells it', async () => {
      const usage = usageBox(box.path());
      usage.log(CLAUDE, [
        claudeLine({ id: 'm1', request: 'r1', output: 1 }),
        claudeLine({ id: 'm1', request: 'r1', output: 40 }),
        claudeLine({ id: 'm1', request: 'r1', output: 7 }),
        claudeLine({ id: 'm1', request: 'r2', output: 5 }),
      ]);
      await collectUsage(usage.deps);
      const [row] = usage.rows();
      expect([row?.input, row?.output]).to.deep.equal([200, 45]);
    });

    it('drops the copy of a side conversation, whichever is read first, but not its own answers', async () => {
      const usage = usageBox(box.path());
      usage.log('.claude/projects/-shop/a.jsonl', [
        claudeLine({ id: 'm1', request: 'side', sidechain: true, session: 'side', output: 99 }),
        claudeLine({ id: 'own', request: 'r9', sidechain: true, session: 'side', output: 3 }),
      ]);
      await collectUsage(usage.deps);
      expect(usage.rows().map(({ session, output }) => [session, output])).to.deep.equal([['side', 102]]);
      usage.log('.claude/projects/-shop/b.jsonl', [
        claudeLine({ id: 'm1', request: 'r1', output: 10 }),
        claudeLine({ id: 'm1', request: 'late', sidechain: true, session: 'side', output: 99 }),
      ]);
      await collectUsage(usage.deps);
      const found = usage.rows().map(({ session, output }) => [session, output]);
      expect(found).to.have.deep.members([
        ['side', 3],
        ['s1', 10],
      ]);
    });

    it('tells the two kinds of cache writes apart, and names the fast mode', async () => {
      const usage = usageBox(box.path());
      const line = claudeLine({ id: 'm1' }) as { message: { usage: object } };
      Object.assign(line.message.usage, {
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        speed: 'fast',
      });
      usage.log(CLAUDE, [line]);
      await collectUsage(usage.deps);
      const [row] = usage.rows();
      expect([row?.cacheWrite, row?.cacheWrite1h, row?.model]).to.deep.equal([
        30,
        20,
        'claude-opus-4-8 (fast)',
      ]);
    });

    it('stores no text, and ignores its error messages and invalid lines', async () => {
      const usage = usageBox(box.path());
      usage.log(CLAUDE, [
        claudeLine({ id: 'm0', model: '<synthetic>' }),
        '{"type":"assistant","usage":{"broken',
        { type: 'user', message: { content: 'say "usage":{} please' } },
        claudeLine({ id: 'm1', input: -5, output: Number.NaN }),
        claudeLine({ id: 'm2', output: 2 }),
      ]);
      await collectUsage(usage.deps);
      const rows = usage.rows();
      expect(rows).to.have.length(1);
      expect([rows[0]?.input, rows[0]?.output]).to.deep.equal([100, 2]);
      expect(JSON.stringify(rows)).not.to.include('secret');
    });

    it('reads the folder of CLAUDE_CONFIG_DIR too', async () => {
      const usage = usageBox(box.path(), 'UTC', { CLAUDE_CONFIG_DIR: '~/elsewhere' });
      usage.log('elsewhere/projects/-shop/s1.jsonl', [claudeLine({ id: 'm1' })]);
      await collectUsage(usage.deps);
      expect(usage.rows()).to.have.length(1);
    });
  });

  describe('Codex', () => {
    const ROLLOUT = '.codex/sessions/2026/11/20/rollout-1.jsonl';

    it('counts the differences of the totals, and the cached part of the input as read from the cache', async () => {
      const usage = usageBox(box.path());
      usage.log(ROLLOUT, [
        ...codexStart('c1'),
        codexTotals([1000, 400, 50]),
        codexTotals([1000, 400, 50]),
        codexTotals([3000, 1400, 80]),
      ]);
      await collectUsage(usage.deps);
      const [row] = usage.rows();
      expect([row?.session, row?.model, row?.input, row?.cacheRead, row?.output]).to.deep.equal([
        ...['c1', 'test-model'],
        ...[1600, 1400, 80],
      ]);
    });

    it('counts a rollout once that is archived while it is read', async () => {
      const usage = usageBox(box.path());
      const lines = [...codexStart('c1'), codexTotals([1000, 400, 50])];
      usage.log(ROLLOUT, lines);
      usage.log('.codex/archived_sessions/rollout-1.jsonl', lines);
      await collectUsage(usage.deps);
      expect(usage.rows().map(({ output }) => output)).to.deep.equal([50]);
    });

    for (const [what, at] of [
      ['as the copy was made', '2026-11-20T11:00:00.400Z'],
      ['as they were', '2026-11-20T10:00:05.000Z'],
      ['later', '2026-11-20T11:00:30.000Z'],
    ] as const) {
      it(`does not count the history of the parent that a subagent begins with (times ${what})`, async () => {
        const usage = usageBox(box.path());
        usage.log(ROLLOUT, [...codexStart('parent'), codexTotals([1000, 0, 50]), codexTotals([2000, 0, 60])]);
        const source = { subagent: { thread_spawn: { parent_thread_id: 'parent', depth: 1 } } };
        usage.log('.codex/sessions/2026/11/20/rollout-2.jsonl', [
          ...codexStart('child', { source }, '2026-11-20T11:00:00.000Z'),
          codexTotals([1000, 0, 50], at),
          codexTotals([2000, 0, 60], at),
          codexTotals([2500, 0, 67], '2026-11-20T11:01:00.000Z'),
        ]);
        await collectUsage(usage.deps);
        expect(
          usage.rows().map(({ session, input, output }) => [session, input, output]),
        ).to.have.deep.members([
          ['parent', 2000, 60],
          ['child', 500, 7],
        ]);
      });
    }

    for (const order of ['parent first', 'forks first']) {
      it(`counts the history of a parent once over two generations of forks (${order})`, async () => {
        const usage = usageBox(box.path());
        const history = [codexTotals([1000, 0, 50]), codexTotals([2000, 0, 60])];
        const meta = (id: string) => codexStart(id).slice(0, 1);
        const late = '2026-11-20T11:05:00.000Z';
        const child = (at: string) => [
          ...codexStart('child', { forked_from_id: 'parent' }, '2026-11-20T10:30:00.000Z'),
          ...meta('parent'),
          codexTotals([1000, 0, 50], at),
          codexTotals([2000, 0, 60], at),
          codexTotals([2500, 0, 67], late),
        ];
        const grandchild = [
          ...codexStart('grandchild', { forked_from_id: 'child' }, '2026-11-20T11:00:00.000Z'),
          ...child(late).filter((_, at) => at !== 1),
          codexTotals([2600, 0, 70], '2026-11-20T11:06:00.000Z'),
        ];
        const logs = [[...codexStart('parent'), ...history], child(late), grandchild];
        if (order === 'forks first') logs.reverse();
        for (const [at, lines] of logs.entries()) {
          usage.log(`.codex/sessions/2026/11/20/rollout-${at}.jsonl`, lines);
          await collectUsage(usage.deps);
        }
        expect(
          usage.rows().map(({ session, input, output }) => [session, input, output]),
        ).to.have.deep.members([
          ['parent', 2000, 60],
          ['child', 500, 7],
          ['grandchild', 100, 3],
        ]);
      });
    }

    it('goes on after the counter was reset', async () => {
      const usage = usageBox(box.path());
      usage.log(ROLLOUT, [...codexStart('c1'), codexTotals([1000, 0, 50]), codexTotals([300, 0, 5])]);
      await collectUsage(usage.deps);
      expect(usage.rows()[0]?.input).to.equal(1300);
    });

    it('tells the windows of the limits by their length, and keeps the latest', async () => {
      const usage = usageBox(box.path());
      const week = { used_percent: 12.4, window_minutes: 10_080, resets_at: 1_795_000_000 };
      const hours = { used_percent: 81, window_minutes: 299, resets_in_seconds: 60 };
      usage.log(ROLLOUT, [
        ...codexStart('c1'),
        codexTotals([1, 0, 1], '2026-11-20T10:00:00.000Z', { primary: week, secondary: hours }),
        codexTotals([1, 0, 1], '2026-11-20T09:00:00.000Z', { primary: { ...hours, used_percent: 5 } }),
      ]);
      await collectUsage(usage.deps);
      expect(readState(usage.deps.state).limits['codex']?.limits).to.deep.equal([
        { window: 'sevenDay', usedPercent: 12, resetsAtMs: 1_795_000_000_000 },
        { window: 'fiveHour', usedPercent: 81, resetsAtMs: Date.parse('2026-11-20T10:01:00Z') },
      ]);
    });

    it('reads the folder of CODEX_HOME', async () => {
      const usage = usageBox(box.path(), 'UTC', { CODEX_HOME: box.path('home', 'cx') });
      usage.log('cx/sessions/rollout-1.jsonl', [...codexStart('c1'), codexTotals([1, 0, 1])]);
      await collectUsage(usage.deps);
      expect(usage.rows()).to.have.length(1);
    });
  });

  it('reads Qwen Code, whose thoughts may be among the candidates', async () => {
    const usage = usageBox(box.path(), 'UTC', { QWEN_RUNTIME_DIR: '~/qw' });
    const line = (uuid: string, usageMetadata: object): object => ({
      ...{ type: 'assistant', uuid, sessionId: 'q1', timestamp: '2026-11-20T10:00:00.000Z' },
      ...{ model: 'qwen3-coder-plus', usageMetadata },
    });
    usage.log('qw/projects/-shop/chats/q1.jsonl', [
      line('a', {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 9,
        totalTokenCount: 109,
      }),
      line('b', {
        promptTokenCount: 100,
        candidatesTokenCount: 9,
        thoughtsTokenCount: 5,
        totalTokenCount: 114,
      }),
      line('c', {
        promptTokenCount: 100,
        candidatesTokenCount: 9,
        thoughtsTokenCount: 5,
        totalTokenCount: 109,
      }),
    ]);
    await collectUsage(usage.deps);
    const [row] = usage.rows();
    expect([row?.assistant, row?.input, row?.cacheRead, row?.output]).to.deep.equal(['qwen', 240, 60, 32]);
  });

  it('reads the chat spans of Copilot CLI, and not the sums of its agents', async () => {
    const usage = usageBox(box.path(), 'UTC', {
      COPILOT_OTEL_FILE_EXPORTER_PATH: box.path('home', 'x', 'spans.log'),
    });
    const span = (operation: string, spanId: string): object => ({
      ...{ type: 'span', traceId: 't1', spanId, endTime: [Date.parse('2026-11-20T10:00:00Z') / 1000, 5] },
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.response.model': 'gpt-5',
        'gen_ai.conversation.id': 'p1',
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': '7',
        'gen_ai.usage.cache_read.input_tokens': 80,
      },
    });
    usage.log('x/spans.log', [span('chat', '1'), span('chat', '1'), span('invoke_agent', '2')]);
    await collectUsage(usage.deps);
    const [row] = usage.rows();
    expect([row?.session, row?.input, row?.cacheRead, row?.output]).to.deep.equal(['p1', 20, 80, 7]);
  });

  describe('OpenCode', () => {
    const sqlite = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as
      { DatabaseSync: new (path: string) => { exec: (sql: string) => void; close: () => void } } | undefined;
    const DATABASE = '.local/share/opencode/opencode.db';

    it('says that its usage is not known where Node.js has no SQLite', async function () {
      if (sqlite !== undefined) this.skip();
      const usage = usageBox(box.path());
      usage.log(DATABASE, ['not read']);
      const source = (await collectUsage(usage.deps)).find(({ assistant }) => assistant === 'opencode');
      expect(source?.problem).to.equal('unknown (reading its database requires Node.js 22.13 or later)');
      const note = 'OpenCode: unknown (reading its database requires Node.js 22.13 or later)';
      const reads = usageReads({
        ...usage.deps,
        enabled: true,
        prices: {},
        table: readTable(usage.deps.state),
        budgets: [],
        union: async (_period, _machine, readOwn) => ({ rows: readOwn() }),
        sessions: async () => new Map(),
      });
      expect(
        (await reads.report({ by: 'day', period: { from: '2026-11-14', to: '2026-11-20' } })).usage.notes,
      ).to.deep.equal([note]);
      expect((await reads.stored({ by: 'day', days: 7 })).notes).to.deep.equal([note]);
      const notes: string[] = [];
      await reads.ofDays({ from: '2026-11-16', to: '2026-11-20' }, {}, notes);
      expect(notes, 'of a week').to.deep.equal([note]);
      expect((await reads.limits()).problems, 'what can be fixed').to.deep.equal([]);
    });

    it('reads its database, and a message again that has grown', async function () {
      if (sqlite === undefined) this.skip();
      const usage = usageBox(box.path(), 'UTC', { XDG_DATA_HOME: box.path('data') });
      const path = box.path('data', 'opencode', 'opencode.db');
      mkdirSync(dirname(path), { recursive: true });
      const database = new sqlite.DatabaseSync(path);
      const insert = (output: number): string =>
        `INSERT OR REPLACE INTO message VALUES ('m1', 'o1', '${JSON.stringify({
          ...{
            role: 'assistant',
            modelID: 'claude-sonnet-5',
            cost: 0.5,
            path: { cwd: '/nowhere/sub', root: '/nowhere' },
          },
          ...{ time: { created: Date.parse('2026-11-20T10:00:00Z') } },
          tokens: { input: 10, output, reasoning: 2, cache: { read: 3, write: 4 } },
        })}')`;
      database.exec('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)');
      database.exec(`INSERT INTO message VALUES ('u1', 'o1', '{"role":"user"}')`);
      database.exec(insert(1));
      await collectUsage(usage.deps);
      database.exec(insert(20));
      database.close();
      await collectUsage(usage.deps);
      const [row] = usage.rows();
      expect([
        row?.session,
        row?.input,
        row?.output,
        row?.cacheRead,
        row?.cacheWrite,
        row?.cost,
      ]).to.deep.equal([...['o1', 10, 22], ...[3, 4, 0.5]]);
    });

    it('gives a fork none of the tokens of its parent, also once the parent is deleted', async function () {
      if (sqlite === undefined) this.skip();
      const usage = usageBox(box.path(), 'UTC', { XDG_DATA_HOME: box.path('data') });
      const path = box.path('data', 'opencode', 'opencode.db');
      mkdirSync(dirname(path), { recursive: true });
      const database = new sqlite.DatabaseSync(path);
      database.exec('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)');
      const created = Date.parse('2026-11-20T10:00:00Z');
      const insert = (id: string, session: string, output: number, completed: number | undefined): void =>
        database.exec(
          `INSERT OR REPLACE INTO message VALUES ('${id}', '${session}', '${JSON.stringify({
            ...{ role: 'assistant', modelID: 'm', time: { created, completed } },
            tokens: { input: 10, output, reasoning: 0, cache: { read: 0, write: 0 } },
          })}')`,
        );
      const outputs = async (): Promise<unknown[]> => {
        await collectUsage(usage.deps);
        return usage.rows().map(({ session, output }) => [session, output]);
      };
      insert('m3', 'fork', 30, created + 2000);
      insert('m2', 'fork', 20, created + 1000);
      insert('m1', 'parent', 20, created + 1000);
      const expected = [
        ['parent', 20],
        ['fork', 30],
      ];
      expect(await outputs()).to.have.deep.members(expected);
      database.exec("DELETE FROM message WHERE session_id = 'parent'");
      expect(await outputs()).to.have.deep.members(expected);
      insert('m4', 'fork', 1, undefined);
      insert('m4', 'fork', 5, created + 3000);
      expect(await outputs()).to.have.deep.members([expected[0], ['fork', 35]]);
      database.close();
    });

    it('reports a damaged database, and reads the others', async function () {
      if (sqlite === undefined) this.skip();
      const usage = usageBox(box.path());
      usage.log(DATABASE, ['damaged']);
      usage.log(CLAUDE, [claudeLine({ id: 'm1' })]);
      const sources = await collectUsage(usage.deps);
      expect(sources.find(({ assistant }) => assistant === 'opencode')?.problem).to.match(
        /^Cannot read the database/,
      );
      expect(usage.rows()).to.have.length(1);
    });
  });

  it('names the repository of a session', async () => {
    const usage = usageBox(box.path());
    for (const name of ['HEAD', 'refs/x', 'objects/x']) {
      const path = box.path('code', 'shop', '.git', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'ref: refs/heads/main\n');
    }
    usage.log(CLAUDE, [claudeLine({ id: 'm1', cwd: join(box.path('code', 'shop'), 'src') })]);
    await collectUsage(usage.deps);
    expect(usage.rows()[0]?.repo).to.equal('shop');
  });
});
