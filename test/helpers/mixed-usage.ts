import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { UsageRow } from '../../src/lib/usage/rollup';
import { claudeLine, codexStart, codexTotals, lineOf, type UsageBox } from './usage';

const sqlite = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as
  { DatabaseSync: new (path: string) => { exec: (sql: string) => void; close: () => void } } | undefined;

/**
 * Writes what each assistant logs of one session: with repeated lines, a cut one, and a time before. Returns the rows
 * of `usage --by assistant`. Cursor logs nothing, and the database of OpenCode needs Node.js 22.
 */
export function mixedUsage(home: string, session: string, cwd: string, at: string): UsageRow[] {
  const put = (path: string, lines: readonly (object | string)[]): void => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.map(lineOf).join(''));
  };
  const answer = { session, at, cwd, request: 'r1', input: 1_000_000, output: 0, cacheRead: 10 };
  const [m1, m2] = [claudeLine({ ...answer, id: 'm1' }), claudeLine({ ...answer, id: 'm2', output: 20 })];
  const copy = claudeLine({ ...answer, id: 'm1', request: 'side', sidechain: true });
  put('.claude/projects/-site/s.jsonl', [m1, m1, m2, copy, '{"type":"assistant","message":{"usage":{']);
  put('.codex/sessions/2026/11/20/rollout-1.jsonl', [
    ...codexStart(session, { cwd }, at),
    ...[codexTotals([500, 100, 50], at), codexTotals([500, 100, 50], at), codexTotals([900, 300, 70], at)],
  ]);
  const usageMetadata = { promptTokenCount: 300, cachedContentTokenCount: 100, candidatesTokenCount: 30 };
  const line = { type: 'assistant', uuid: 'u1', timestamp: at, sessionId: session, cwd };
  const qwen = { ...line, model: 'test-model', usageMetadata: { ...usageMetadata, totalTokenCount: 330 } };
  put('.qwen/projects/-site/chats/q.jsonl', [{ type: 'user', timestamp: at }, qwen, qwen]);
  const span = (operation: string, spanId: string): object => ({
    ...{ type: 'span', traceId: 't1', spanId, endTime: [Math.floor(Date.parse(at) / 1000), 5] },
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.response.model': 'test-model',
      'gen_ai.conversation.id': session,
      'gen_ai.usage.input_tokens': 200,
      'gen_ai.usage.output_tokens': 8,
      'gen_ai.usage.cache_read.input_tokens': 150,
    },
  });
  put('.copilot/otel/c.jsonl', [span('chat', 'a'), span('chat', 'b'), span('invoke_agent', 'c')]);
  if (sqlite !== undefined) openCode(join(home, '.local/share/opencode/opencode.db'), session, cwd, at);
  const row = (
    key: string,
    ...[input, output, cacheRead, cost]: [number, number, number, number | null]
  ) => ({
    ...{ key, input, output, cacheRead, cacheWrite: 0, cost },
  });
  return [
    row('claude-code', 2_000_000, 20, 20, 10.00051),
    ...(sqlite === undefined ? [] : [row('opencode', 10, 7, 3, 0.5)]),
    row('codex', 600, 70, 300, null),
    row('copilot', 100, 16, 300, null),
    row('qwen', 200, 30, 100, null),
  ];
}

function openCode(path: string, session: string, root: string, at: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const database = new (sqlite as NonNullable<typeof sqlite>).DatabaseSync(path);
  const data = {
    ...{
      role: 'assistant',
      modelID: 'test-model',
      cost: 0.5,
      path: { root },
      time: { created: Date.parse(at) },
    },
    tokens: { input: 10, output: 5, reasoning: 2, cache: { read: 3, write: 0 } },
  };
  database.exec('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)');
  database.exec(`INSERT INTO message VALUES ('u1', '${session}', '{"role":"user"}')`);
  database.exec(`INSERT INTO message VALUES ('m1', '${session}', '${JSON.stringify(data)}')`);
  database.close();
}

/** The assistants whose logs can be read with this Node.js. */
export const READABLE: readonly string[] = [
  ...['claude-code', 'codex', 'qwen', 'copilot'],
  ...(sqlite === undefined ? [] : ['opencode']),
];

/** Returns a function that appends a response of `tokens` input tokens of `test-model` to an assistant's log. */
export function spender({ log, append }: UsageBox, home: string, at: string) {
  let [count, codexTokens] = [0, 0];
  const codex = '.codex/sessions/rollout-1.jsonl';
  log(codex, codexStart('codex-1', {}, at));
  for (const path of [CLAUDE_LOG, QWEN_LOG, COPILOT_LOG]) log(path, []);
  return (assistant: string, tokens: number): void => {
    count += 1;
    const id = `m${count}`;
    const put = (path: string, line: object): void => append(path, lineOf(line));
    if (assistant === 'claude-code')
      put(CLAUDE_LOG, claudeLine({ id, at, model: 'test-model', input: tokens, output: 0 }));
    else if (assistant === 'codex') put(codex, codexTotals([(codexTokens += tokens), 0, 0], at));
    else if (assistant === 'qwen')
      put(QWEN_LOG, {
        ...{ type: 'assistant', uuid: id, timestamp: at, sessionId: 'qwen-1', model: 'test-model' },
        usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: 0, totalTokenCount: tokens },
      });
    else if (assistant === 'copilot')
      put(COPILOT_LOG, {
        ...{ type: 'span', traceId: 't1', spanId: id, endTime: [Math.floor(Date.parse(at) / 1000), 5] },
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.response.model': 'test-model',
          'gen_ai.conversation.id': 'copilot-1',
          'gen_ai.usage.input_tokens': tokens,
        },
      });
    else spendInOpenCode(join(home, '.local/share/opencode/opencode.db'), id, at, tokens);
  };
}

const CLAUDE_LOG = '.claude/projects/shop/s1.jsonl';
const QWEN_LOG = '.qwen/projects/shop/chats/q.jsonl';
const COPILOT_LOG = '.copilot/otel/c.jsonl';

function spendInOpenCode(path: string, id: string, at: string, input: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const database = new (sqlite as NonNullable<typeof sqlite>).DatabaseSync(path);
  const data = {
    ...{ role: 'assistant', modelID: 'test-model', path: { root: '/nowhere' } },
    ...{ time: { created: Date.parse(at) }, tokens: { input, output: 0, cache: { read: 0, write: 0 } } },
  };
  database.exec('CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)');
  database.exec(`INSERT INTO message VALUES ('${id}', 'opencode-1', '${JSON.stringify(data)}')`);
  database.close();
}
