import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Inbox } from '../../src/lib/inbox/row';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import type { AssistantId } from '../../src/lib/sessions/session-key';
import { cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { payloadOf, WAITING_ROWS, type WaitingRow } from '../helpers/waiting-rows';

/** STEWARD_CALLS=1000 runs the long version. */
const CALLS = Number(process.env['STEWARD_CALLS'] ?? 200);

/** The table runs against the built product and the installed shim. */
describe('who waits for you (built)', function () {
  this.timeout(300_000);
  let home: ReturnType<typeof emptyHome>;
  const idOf = (row: WaitingRow): string => `row-${WAITING_ROWS.indexOf(row)}`;

  function play(row: WaitingRow): void {
    for (const step of row.steps) {
      const shim = join(home.path, '.steward', 'bin', 'steward-hook');
      const args = row.assistant === 'claude-code' ? [step[0]] : [step[0], row.assistant];
      const input = JSON.stringify(payloadOf(row.assistant, idOf(row), row.mode, home.path, step));
      const options = { env: cleanEnv(home.path), input, encoding: 'utf8' as const };
      const { status, stderr } = spawnSync(shim, args, options);
      expect([status, stderr], `${row.assistant} ${row.title}`).to.deep.equal([0, '']);
    }
  }

  before(async function () {
    if (process.platform === 'win32') this.skip();
    home = emptyHome();
    const installed = await steward(['hooks', 'install', '--assistant', 'claude-code'], { home: home.path });
    expect(installed.code, installed.stderr).to.equal(0);
  });
  after(() => home?.remove());

  it(`says the truth after each of ${WAITING_ROWS.length} sequences`, async () => {
    expect(WAITING_ROWS.length).to.be.at.least(40);
    WAITING_ROWS.forEach(play);
    const list = jsonOf(await steward(['sessions', '--json'], { home: home.path })) as SessionsReport;
    const found = new Map(list.sessions.map((session) => [session.sessionIds.at(-1), session]));
    const named = ({ assistant, mode, title }: WaitingRow): string => `${assistant}, ${mode}: ${title}`;
    expect(
      WAITING_ROWS.map((row) => {
        const session = found.get(idOf(row));
        // In the evening the next 18:00 is that of another day.
        const says = (session?.waitingFor ?? session?.activity ?? null)?.replace(
          /until \S+ (?=18:00)/,
          'until ',
        );
        return [named(row), session?.status, says ?? null];
      }),
    ).to.deep.equal(WAITING_ROWS.map((row) => [named(row), row.status, row.says]));
  });

  describe('when only the log of the assistant tells', () => {
    const sessionOf = async (id: string) => {
      const list = jsonOf(await steward(['sessions', '--json'], { home: home.path })) as SessionsReport;
      return list.sessions.find(({ sessionIds }) => sessionIds.includes(id));
    };
    const statusAfter = async (id: string): Promise<unknown[]> => {
      const session = await sessionOf(id);
      return [session?.status, session?.waitingFor ?? session?.activity ?? null];
    };
    const call = (assistant: AssistantId, verb: string, fields: object): void => {
      const shim = join(home.path, '.steward', 'bin', 'steward-hook');
      const args = assistant === 'claude-code' ? [verb] : [verb, assistant];
      const input = JSON.stringify({ cwd: home.path, ...fields });
      expect(spawnSync(shim, args, { env: cleanEnv(home.path), input }).status).to.equal(0);
    };
    const write = (path: string, type: string, more: object): void =>
      appendFileSync(path, `${JSON.stringify({ timestamp: new Date().toISOString(), type, ...more })}\n`);

    it('shows a turn that you interrupted as finished, and the next turn as working', async () => {
      const log = join(home.path, 'transcript.jsonl');
      const own = { session_id: 'esc', transcript_path: log };
      const prompt = { ...own, hook_event_name: 'UserPromptSubmit', prompt: 'x' };
      const text = (words: string): object => ({
        message: { role: 'user', content: [{ type: 'text', text: words }] },
      });
      write(log, 'user', text('[Request interrupted by user]'));
      call('claude-code', 'session-start', { ...own, hook_event_name: 'SessionStart', source: 'resume' });
      call('claude-code', 'prompt', prompt);
      expect(await statusAfter('esc')).to.deep.equal(['working', 'thinking']);
      call('claude-code', 'notification', {
        ...own,
        hook_event_name: 'PermissionRequest',
        tool_name: 'Bash',
      });
      expect(await statusAfter('esc')).to.deep.equal(['waiting', 'asks to run Bash']);
      const { slug } = (await sessionOf('esc')) ?? {};
      write(log, 'user', text('[Request interrupted by user for tool use]'));
      const { rows } = jsonOf(await steward(['inbox', '--json'], { home: home.path })) as Inbox;
      expect(rows.find((row) => row.slug === slug)?.why).to.equal('turn finished');
      expect(await statusAfter('esc')).to.deep.equal(['waiting', null]);
      call('claude-code', 'prompt', prompt);
      expect(await statusAfter('esc')).to.deep.equal(['working', 'thinking']);
    });

    for (const [reviewer, status, says] of [
      [undefined, 'waiting', 'asks to run Bash'],
      ['user', 'waiting', 'asks to run Bash'],
      ['auto_review', 'working', 'thinking'],
      ['guardian_subagent', 'working', 'thinking'],
    ] as const) {
      it(`shows a request of Codex that ${reviewer ?? 'an unknown reviewer'} answers as ${status}`, async () => {
        const id = `reviewer-${reviewer}`;
        const log = join(home.path, `rollout-${id}.jsonl`);
        write(log, 'turn_context', { payload: { turn_id: 't', approvals_reviewer: reviewer } });
        const own = { session_id: id, transcript_path: log };
        call('codex', 'prompt', { ...own, hook_event_name: 'UserPromptSubmit', prompt: 'x' });
        call('codex', 'notification', { ...own, hook_event_name: 'PermissionRequest', tool_name: 'Bash' });
        expect(await statusAfter(id)).to.deep.equal([status, says]);
      });
    }

    it('shows a turn of Copilot that you interrupted or that a limit ended', async () => {
      const own = { session_id: 'copilot-esc', cwd: home.path };
      const folder = join(home.path, '.copilot', 'session-state', 'copilot-esc');
      mkdirSync(folder, { recursive: true });
      const log = join(folder, 'events.jsonl');
      const prompt = { ...own, hook_event_name: 'UserPromptSubmit', prompt: 'x' };
      const says = (type: string, data: object): void => write(log, type, { data });
      call('copilot', 'prompt', prompt);
      says('user.message', { content: 'x' });
      expect(await statusAfter('copilot-esc')).to.deep.equal(['working', 'thinking']);
      const notice = { hook_event_name: 'Notification', notification_type: 'permission_prompt' };
      call('copilot', 'notification', { ...own, ...notice });
      expect(await statusAfter('copilot-esc')).to.deep.equal(['waiting', 'asks for permission']);
      says('abort', { reason: 'user_initiated' });
      expect(await statusAfter('copilot-esc')).to.deep.equal(['waiting', null]);
      call('copilot', 'prompt', prompt);
      says('user.message', { content: 'x' });
      says('session.error', { errorType: 'rate_limit', statusCode: 429 });
      expect(await statusAfter('copilot-esc')).to.deep.equal(['waiting', 'stopped: rate limit']);
      call('copilot', 'prompt', prompt);
      expect(await statusAfter('copilot-esc')).to.deep.equal(['working', 'thinking']);
    });

    it('shows a question of Codex until it is answered', async () => {
      const log = join(home.path, 'rollout-question.jsonl');
      const own = { session_id: 'question', transcript_path: log };
      call('codex', 'session-start', { ...own, hook_event_name: 'SessionStart', source: 'startup' });
      call('codex', 'prompt', { ...own, hook_event_name: 'UserPromptSubmit', prompt: 'x' });
      const item = (payload: object): void => write(log, 'response_item', { payload });
      item({ type: 'function_call', name: 'request_user_input', call_id: 'c1', arguments: '{}' });
      expect(await statusAfter('question')).to.deep.equal(['waiting', 'asks you a question']);
      expect(await statusAfter('question')).to.deep.equal(['waiting', 'asks you a question']);
      item({ type: 'function_call_output', call_id: 'c1', output: 'yes' });
      expect(await statusAfter('question')).to.deep.equal(['working', 'using request_user_input']);
    });
  });

  it(`raises no alert in a storm of ${CALLS} calls that are approved automatically`, () => {
    const spool = join(home.path, '.steward', 'state', 'spool');
    const queued = (): string[] => (existsSync(spool) ? readdirSync(spool) : []);
    const alerts = (): string[] => queued().filter((name) => name.includes('.attention.'));
    const before = alerts();
    const step = (name: string, tool: string, at: number) =>
      ['tool', { hook_event_name: name, tool_name: tool, tool_input: {}, tool_use_id: `s${at}` }] as const;
    const calls = Array.from({ length: CALLS / 2 }, (_, at) => {
      const tool = ['Bash', 'Read', 'Edit', 'mcp__memory__read'][at % 4] as string;
      return [step('PreToolUse', tool, at), step('PostToolUse', tool, at)];
    }).flat();
    const [row] = WAITING_ROWS;
    play({ ...(row as WaitingRow), mode: 'auto', steps: calls });
    expect(alerts().filter((name) => !before.includes(name))).to.deep.equal([]);
  });
});
