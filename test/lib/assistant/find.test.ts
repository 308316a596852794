import { expect } from 'chai';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { ASSISTANTS } from '../../../src/lib/assistant';
import { findSessions, type FindQuery, type FoundSession } from '../../../src/lib/assistant/find';
import { findTerms, marked } from '../../../src/lib/assistant/find-words';
import { transcriptsSince } from '../../../src/lib/assistant/transcripts';
import { long } from '../../helpers/long';

const sqlite = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as
  { DatabaseSync: new (path: string) => { exec: (sql: string) => void; close: () => void } } | undefined;

describe('find', () => {
  let home: string;
  let written = 0;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'steward-find-'));
    mkdirSync(join(home, 'shop', '.git', 'objects'), { recursive: true });
    writeFileSync(join(home, 'shop', '.git', 'HEAD'), 'ref: refs/heads/main\n');
  });
  afterEach(() => rmSync(home, { recursive: true }));

  /** Writes a transcript that is newer than the last one. */
  function log(path: string, lines: readonly (object | string)[]): string {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
    writeFileSync(file, `${text.join('\n')}\n`);
    written += 1;
    utimesSync(file, 1_790_000_000 + written, 1_790_000_000 + written);
    return file;
  }

  const at = '2026-11-20T10:00:00.000Z';
  const claude = (session: string, text: unknown, more: object = {}): object => ({
    ...{ type: 'user', sessionId: session, timestamp: at, cwd: join(home, 'shop') },
    ...{ message: { content: text }, ...more },
  });
  const codex = (id: string, ...payloads: object[]): object[] => [
    { timestamp: at, ordinal: 0, type: 'session_meta', payload: { id, cwd: join(home, 'shop') } },
    ...payloads.map((payload) => ({ timestamp: at, ordinal: 1, type: 'response_item', payload })),
  ];

  async function find(
    words: readonly string[],
    more: Partial<FindQuery> = {},
    pause = (): Promise<boolean> => Promise.resolve(true),
  ): Promise<{ rows: FoundSession[]; notes: string[] }> {
    const host = { platform: 'linux' as const, env: {}, home };
    const logs = ASSISTANTS.flatMap((assistant) =>
      transcriptsSince(assistant.transcripts?.(host) ?? [], 0).map((file) => ({ assistant, ...file })),
    ).sort((a, b) => b.mtimeMs - a.mtimeMs);
    const opencode = ASSISTANTS.find(({ id }) => id === 'opencode');
    const databases =
      opencode === undefined || !wrote
        ? []
        : [{ assistant: opencode, path: join(home, 'opencode.db'), mtimeMs: 0 }];
    const rows: FoundSession[] = [];
    const query = {
      terms: findTerms(words),
      by: undefined,
      repo: undefined,
      files: false,
      limit: 50,
      ...more,
    };
    const period = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, ...more };
    const notes = await findSessions(
      [...logs, ...databases],
      { ...query, ...period },
      { onFound: (row) => rows.push(row), pause },
    );
    return { rows, notes };
  }
  let wrote = false;
  beforeEach(() => (wrote = false));

  const sessions = async (...args: Parameters<typeof find>): Promise<string[]> =>
    (await find(...args)).rows.map(({ session }) => session);

  it('finds the sessions of each assistant, newest first, with the command that resumes them', async () => {
    log('.claude/projects/-shop/a.jsonl', [claude('c1', [{ type: 'text', text: 'Refund the café' }])]);
    const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'café REFUND' }] };
    log('.codex/sessions/2026/11/20/rollout-1.jsonl', codex('x1', user));
    const parts = {
      parts: [{ text: 'thinking of the refund, café', thought: true }, { text: 'A café refund.' }],
    };
    log('.qwen/projects/-shop/chats/q.jsonl', [claude('q1', '', { type: 'assistant', message: parts })]);
    const start = { sessionId: 'p1', context: { cwd: join(home, 'shop') } };
    log('.copilot/session-state/p1/events.jsonl', [
      { type: 'session.start', data: start, id: '1', timestamp: at },
      { type: 'user.message', data: { content: 'the Café; a refund' }, id: '2', timestamp: at },
    ]);
    const { rows } = await find(['refund', 'CAFÉ']);
    const shop = `cd ${join(home, 'shop')} && `;
    expect(rows.map(({ by, line, resume }) => [by, line, resume])).to.deep.equal([
      ['you', 'the Café; a refund', `${shop}copilot --resume=p1`],
      ['assistant', 'A café refund.', `${shop}qwen --resume q1`],
      ['you', 'café REFUND', `${shop}codex resume x1`],
      ['you', 'Refund the café', `${shop}claude --resume c1`],
    ]);
    expect(new Set(rows.map(({ repo, at: when }) => `${repo ?? ''} ${when}`))).to.deep.equal(
      new Set([`shop ${at}`]),
    );
  });

  it('orders the sessions by their times, also if a copy of their files has changed the order', async () => {
    const day = (session: string, date: string): object =>
      claude(session, 'refund', { timestamp: `2026-0${date}T10:00:00.000Z` });
    log('.claude/projects/a/1.jsonl', [day('june', '6-01'), day('march', '3-01')]);
    log('.claude/projects/a/2.jsonl', [day('april', '4-01'), day('march', '3-02')]);
    log('.claude/projects/a/3.jsonl', [day('may', '5-01'), day('may', '2-01')]);
    expect(await sessions(['refund'])).to.deep.equal(['june', 'may', 'april', 'march']);
    const { rows, notes } = await find(['refund'], { limit: 2 });
    expect(rows.map(({ session }) => session)).to.deep.equal(['june', 'may']);
    expect(notes).to.deep.equal(['Stopped after 2 sessions; --limit shows more.']);
    const march = (await find(['refund'])).rows.at(-1);
    expect(march?.at).to.equal('2026-03-02T10:00:00.000Z');
  });

  it('takes whole words that stand together in one message, and phrases', async () => {
    log('.claude/projects/a/1.jsonl', [
      claude('whole', 'retry the refund'),
      claude('part', 'refunds: retry'),
    ]);
    log('.claude/projects/a/2.jsonl', [claude('apart', 'refund'), claude('apart', 'retry')]);
    log('.claude/projects/a/3.jsonl', [claude('phrase', 'the retry\n  policy of a "refund"')]);
    expect(await sessions(['refund', 'retry'])).to.have.members(['whole', 'phrase']);
    expect(await sessions(['"retry policy" refund'])).to.deep.equal(['phrase']);
    expect(await sessions(['retry policy'])).to.deep.equal(['phrase']);
    expect(await sessions(['policy retry'])).to.deep.equal([]);
    expect(() => findTerms(['refund', '++'])).to.throw('has no letters or digits');
  });

  it('finds what JSON escapes, in either case, and words of scripts without spaces', async () => {
    const escaped = JSON.stringify(claude('escaped', 'STRASSE nach Köln und Łódź'))
      .replace('ö', '\\u00F6')
      .replace('Ł', '\\u0141');
    log('.claude/projects/a/1.jsonl', [
      escaped,
      claude('plain', 'köln, łódź'),
      claude('kanji', '昨日決済を直した'),
    ]);
    log('.claude/projects/a/2.jsonl', [claude('quoted', 'a\t"Köln"\nŁódź\\n')]);
    expect(await sessions(['KÖLN', 'łódź'])).to.have.members(['escaped', 'plain', 'quoted']);
    expect(await sessions(['決済'])).to.deep.equal(['kanji']);
    expect(await sessions(['C++', 'Köln'])).to.deep.equal([]);
  });

  it('filters by speaker, repository and time, and leaves out what nobody said', async () => {
    const reply = { type: 'assistant', timestamp: '2026-11-21T10:00:00.000Z' };
    log('.claude/projects/a/1.jsonl', [
      claude('one', 'refund, please'),
      claude('one', [{ type: 'text', text: 'A refund it is' }], reply),
      claude('meta', 'refund', { isMeta: true }),
      claude('result', [{ type: 'tool_result', content: 'refund' }]),
      claude('agent', 'refund', { isSidechain: true, cwd: home }),
      '{"type":"user","sessionId":"torn","message":{"content":"refund',
    ]);
    const added = { type: 'message', role: 'user', content: [{ text: '<environment_context> refund' }] };
    log('.codex/sessions/rollout-1.jsonl', codex('added', added, { ...added, role: 'developer' }));
    expect(await sessions(['refund'])).to.have.members(['one', 'agent']);
    const [newest] = (await find(['refund'], { repo: 'SHOP' })).rows;
    expect([newest?.line, newest?.at]).to.deep.equal(['A refund it is', reply.timestamp]);
    expect((await find(['refund'], { by: 'you' })).rows.map(({ line }) => line)).to.deep.equal([
      'refund, please',
    ]);
    expect(await sessions(['refund'], { repo: 'other' })).to.deep.equal([]);
    expect(await sessions(['refund'], { endMs: Date.parse(at) })).to.deep.equal([]);
  });

  it('finds edited files by their paths', async () => {
    const edit = { type: 'tool_use', name: 'Edit', input: { file_path: join(home, 'shop/src/pay.ts') } };
    const patch = "apply_patch <<'EOF'\\n*** Begin Patch\\n*** Update File: src/pay.ts\\n@@";
    const call = { name: 'write_file', args: { file_path: join(home, 'shop/src/pay.ts') } };
    log('.claude/projects/a/1.jsonl', [claude('c1', [edit], { type: 'assistant' })]);
    log('.claude/projects/a/2.jsonl', [
      claude('read', [{ ...edit, name: 'Read' }]),
      claude('said', 'src/pay.ts'),
    ]);
    log('.qwen/projects/a/1.jsonl', [
      claude('q1', '', { type: 'assistant', message: { parts: [{ functionCall: call }] } }),
    ]);
    log('.codex/sessions/rollout-1.jsonl', codex('x1', { type: 'function_call', arguments: patch }));
    const { rows } = await find(['src/pay.ts'], { files: true });
    expect(rows.map(({ session }) => session)).to.have.members(['c1', 'q1', 'x1']);
    expect(rows.every(({ line }) => line.endsWith('src/pay.ts'))).to.equal(true);
    expect(await sessions(['pay'], { files: true, by: 'you' })).to.deep.equal([]);
  });

  it('skips restricted folders, unknown folders, and files in restricted folders', async () => {
    mkdirSync(join(home, 'secret'));
    writeFileSync(join(home, 'secret', 'RESTRICTED.md'), '');
    const edit = { type: 'tool_use', name: 'Write', input: { file_path: join(home, 'secret/refund.ts') } };
    log('.claude/projects/a/1.jsonl', [
      claude('in', 'refund', { cwd: join(home, 'secret', 'deep') }),
      claude('unknown', 'refund', { cwd: 'relative' }),
      claude('writes', [edit], { type: 'assistant' }),
      claude('open', 'refund'),
    ]);
    expect(await sessions(['refund'])).to.deep.equal(['open']);
    expect(await sessions(['refund'], { files: true })).to.deep.equal([]);
  });

  it('cleans the line and the command, and marks the words', async () => {
    const long = `${'word '.repeat(200)}the \u001b[31m refund\u202e\u0007 is here. ${'word '.repeat(200)}`;
    log('.claude/projects/a/1.jsonl', [
      claude('s; rm -rf ~', long),
      claude('s2', 'refund', { cwd: `${home}/it's` }),
    ]);
    const { rows } = await find(['refund']);
    const [evil, quoted] = [...rows].sort((a, b) => b.line.length - a.line.length);
    expect(evil?.line)
      .to.match(/^… .*the refund is here\. word.*…$/)
      .and.to.have.length.below(241);
    expect(evil?.resume).to.equal(null);
    expect(quoted?.resume).to.equal(`cd '${home}/it'\\''s' && claude --resume s2`);
    expect(marked(findTerms(['refund', 'is here']), evil?.line ?? '', (text) => `[${text}]`)).to.include(
      'the [refund] [is here]. word',
    );
  });

  long('reads lines that span parts of a file, and skips those that are too long', async () => {
    const pad = (size: number): string => 'x'.repeat(size);
    log('.claude/projects/a/1.jsonl', [
      claude('first', `refund ${pad(262_000)}`),
      claude('wide', `${pad(3_000_000)} refund`),
      claude('huge', `${pad(5_000_000)} refund`),
      claude('last', 'refund'),
    ]);
    expect(await sessions(['refund'])).to.have.members(['first', 'wide', 'last']);
  });

  it('keeps what was found when it is stopped, and says what it did not search', async function () {
    log('.claude/projects/a/1.jsonl', [claude('older', 'refund')]);
    log('.claude/projects/a/2.jsonl', [claude('newer', 'refund')]);
    let pauses = 0;
    const stopped = await find(['refund'], {}, () => Promise.resolve((pauses += 1) < 1));
    expect(stopped.rows.map(({ session }) => session)).to.deep.equal(['newer']);
    expect(stopped.notes).to.deep.equal(['Stopped before everything was searched.']);
    const limited = await find(['refund'], { limit: 1 });
    expect(limited.notes).to.deep.equal(['Stopped after 1 session; --limit shows more.']);
    expect((await find(['refund'])).notes).to.deep.equal([]);
    if (process.getuid?.() === 0) return;
    const locked = log('.claude/projects/a/3.jsonl', [claude('locked', 'refund')]);
    chmodSync(locked, 0);
    const { rows, notes } = await find(['refund']);
    expect([rows.length, notes]).to.deep.equal([2, [`Not searched: ${locked}`]]);
  });

  it("reads OpenCode's database, or says why it can't", async () => {
    wrote = true;
    log('.claude/projects/a/1.jsonl', [claude('c1', 'refund')]);
    if (sqlite === undefined) {
      const { rows, notes } = await find(['refund']);
      expect([rows.length, notes.join()]).to.satisfy(
        ([count, text]: [number, string]) => count === 1 && /Node\.js 22/.test(text),
      );
      return;
    }
    const database = new sqlite.DatabaseSync(join(home, 'opencode.db'));
    const part = (id: string, message: string, data: object): string =>
      `INSERT INTO part VALUES ('${id}', '${message}', 'o1', ${Date.parse(at)}, '${JSON.stringify(data)}');`;
    const input = { filePath: '/x', file_path: join(home, 'shop/pay.ts') };
    database.exec(
      [
        'CREATE TABLE session (id, directory); CREATE TABLE message (id, session_id, data);',
        'CREATE TABLE part (id, message_id, session_id, time_created, data);',
        `INSERT INTO session VALUES ('o1', '${join(home, 'shop')}');`,
        `INSERT INTO message VALUES ('m1', 'o1', '{"role":"user"}'), ('m2', 'o1', '{"role":"assistant"}');`,
        part('p1', 'm1', { type: 'text', text: 'the REFUND' }),
        part('p2', 'm2', { type: 'tool', tool: 'edit', state: { input } }),
      ].join('\n'),
    );
    database.close();
    expect(await sessions(['refund'])).to.have.members(['c1', 'o1']);
    expect(await sessions(['pay'], { files: true })).to.deep.equal(['o1']);
  });
});
