import type { AssistantId } from '../../src/lib/sessions/session-key';
import type { WorkEvent } from '../../src/lib/sessions/work-events';

/** A hook call: the event as it is registered, its JSON, and what steward records of it. */
export interface Played {
  event: string;
  payload: Record<string, unknown>;
  records: Partial<WorkEvent>;
}

const CWD = '/';
const ID = '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const SECRET = 'SECRET-TEXT';

/** The fields that Claude Code has in common with Codex and Qwen Code. */
function snake(event: string, more: Record<string, unknown>, records: Played['records']): Played {
  const common = { session_id: ID, transcript_path: '/t/x.jsonl', cwd: CWD, permission_mode: 'default' };
  return { event, payload: { ...common, hook_event_name: event, ...more, unheard_of: { a: [1] } }, records };
}

/** Puts the leading fields in the order of a recorded call, which the shim relies on. */
function inOrder(played: Played, order: readonly string[], values: Record<string, unknown>): Played {
  const all = { ...played.payload, ...values };
  const lead = order.map((key): [string, unknown] => [key, all[key]]);
  return { ...played, payload: { ...Object.fromEntries(lead), ...all } };
}

const BASH = { tool_name: 'Bash', tool_input: { command: SECRET }, tool_use_id: 'call_1' };

const CLAUDE_LIKE: readonly Played[] = [
  snake(
    'SessionStart',
    { source: 'startup', model: 'm-1' },
    { type: 'session-start', reason: 'startup', model: 'm-1' },
  ),
  snake('UserPromptSubmit', { prompt: SECRET }, { type: 'prompt' }),
  snake('PreToolUse', BASH, { type: 'tool-before', tool: 'Bash' }),
  snake('PostToolUse', { ...BASH, tool_response: { stdout: SECRET } }, { type: 'tool-after', tool: 'Bash' }),
  snake('PostToolUseFailure', { ...BASH, error: SECRET }, { type: 'tool-failed', tool: 'Bash' }),
  snake(
    'SubagentStart',
    { agent_id: 'a-1', agent_type: 'Explore' },
    { type: 'subagent-start', agent: 'a-1' },
  ),
  snake(
    'SubagentStop',
    { agent_id: 'a-1', last_assistant_message: SECRET },
    { type: 'subagent-stop', agent: 'a-1' },
  ),
  snake('PermissionRequest', BASH, { type: 'notification', reason: 'permission_prompt', tool: 'Bash' }),
  snake(
    'Notification',
    { message: SECRET, notification_type: 'idle_prompt' },
    { type: 'notification', reason: 'idle_prompt' },
  ),
  snake('Stop', { stop_hook_active: false, last_assistant_message: SECRET }, { type: 'stop' }),
  snake('SessionEnd', { reason: 'other' }, { type: 'session-end', reason: 'other' }),
];

const STOP_FAILURE = snake(
  'StopFailure',
  { error: 'rate_limit', last_assistant_message: `${SECRET} limit reached|1795543200` },
  { type: 'stop', reason: 'rate_limit', until: '2026-11-24T18:00:00.000Z' },
);

function withFailure(all: readonly Played[]): readonly Played[] {
  return all.flatMap((played) => (played.event === 'Stop' ? [STOP_FAILURE, played] : [played]));
}

const CODEX_ORDER = [
  ...['session_id', 'turn_id', 'transcript_path', 'cwd', 'hook_event_name', 'model', 'permission_mode'],
];

const CODEX: readonly Played[] = [
  ...CLAUDE_LIKE.filter(({ event }) => event !== 'PostToolUseFailure' && event !== 'Notification'),
  snake('Interrupt', {}, { type: 'stop' }),
].map((played) => inOrder(played, CODEX_ORDER, { transcript_path: null, model: 'm-1', turn_id: 't-1' }));

const QWEN_ORDER = [
  ...['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'timestamp', 'permission_mode', 'prompt_id'],
];

const QWEN: readonly Played[] = withFailure(CLAUDE_LIKE).map((played) =>
  inOrder(played, QWEN_ORDER, { timestamp: '2026-11-20T10:00:00.000Z', prompt_id: `${ID}########0` }),
);

/** Copilot's payload for event names in PascalCase. */
function copilot(event: string, more: Record<string, unknown>, records: Played['records']): Played {
  const common = { hook_event_name: event, session_id: ID, timestamp: '2026-11-20T10:00:00.000Z', cwd: CWD };
  return { event, payload: { ...common, ...more }, records };
}

const COPILOT: readonly Played[] = [
  copilot(
    'SessionStart',
    { source: 'new', initial_prompt: SECRET },
    { type: 'session-start', reason: 'new' },
  ),
  copilot('UserPromptSubmit', { prompt: SECRET }, { type: 'prompt' }),
  copilot(
    'PreToolUse',
    { tool_name: 'Bash', tool_input: { command: SECRET } },
    { type: 'tool-before', tool: 'Bash' },
  ),
  copilot(
    'PostToolUse',
    {
      tool_name: 'Bash',
      tool_input: {},
      tool_result: { result_type: 'success', text_result_for_llm: SECRET },
    },
    { type: 'tool-after', tool: 'Bash' },
  ),
  copilot(
    'PostToolUseFailure',
    { tool_name: 'Bash', tool_input: {}, error: SECRET },
    { type: 'tool-failed', tool: 'Bash' },
  ),
  {
    event: 'subagentStart',
    payload: { sessionId: ID, timestamp: 1_795_000_000_000, cwd: CWD, agentName: 'reviewer' },
    records: { type: 'subagent-start', agent: 'reviewer' },
  },
  copilot(
    'SubagentStop',
    { agent_name: 'reviewer', stop_reason: 'end_turn' },
    { type: 'subagent-stop', agent: 'reviewer' },
  ),
  {
    event: 'Notification',
    payload: {
      ...{ sessionId: ID, timestamp: 1_795_000_000_000, cwd: CWD, hook_event_name: 'Notification' },
      ...{ message: SECRET, title: 'Permission needed', notification_type: 'permission_prompt' },
    },
    records: { type: 'notification', reason: 'permission_prompt' },
  },
  copilot(
    'Stop',
    { transcript_path: '/t/x', stop_reason: 'end_turn', stop_hook_active: false },
    { type: 'stop' },
  ),
  copilot('SessionEnd', { reason: 'complete' }, { type: 'session-end', reason: 'complete' }),
];

/** What the plugin sends. */
const OPENCODE: readonly Played[] = CLAUDE_LIKE.filter(
  ({ event }) => event !== 'PostToolUseFailure' && event !== 'Notification',
).map(({ event, payload, records }) => {
  const rest = Object.entries(payload).filter(([key]) => !/^(?:transcript_path|permission_mode)$/.test(key));
  return { event, payload: Object.fromEntries(rest), records };
});

function cursor(event: string, more: Record<string, unknown>, records: Played['records']): Played {
  const common = { conversation_id: ID, generation_id: 'g-1', model: 'm-1', hook_event_name: event };
  const more2 = {
    cursor_version: '2.6.1',
    workspace_roots: [CWD],
    user_email: SECRET,
    transcript_path: null,
  };
  return { event, payload: { ...common, ...more2, ...more }, records };
}

const SHELL = { tool_name: 'Shell', tool_input: { command: SECRET, working_directory: CWD }, cwd: CWD };

const CURSOR: readonly Played[] = [
  cursor(
    'sessionStart',
    { is_background_agent: false, composer_mode: 'agent' },
    { type: 'session-start', model: 'm-1' },
  ),
  cursor('beforeSubmitPrompt', { prompt: SECRET, attachments: [] }, { type: 'prompt' }),
  cursor('preToolUse', SHELL, { type: 'tool-before', tool: 'Shell' }),
  cursor(
    'postToolUse',
    { ...SHELL, tool_output: SECRET, duration: 5 },
    { type: 'tool-after', tool: 'Shell' },
  ),
  cursor('postToolUseFailure', { ...SHELL, error_message: SECRET }, { type: 'tool-failed', tool: 'Shell' }),
  cursor(
    'subagentStart',
    { subagent_id: 's-1', subagent_type: 'explore' },
    { type: 'subagent-start', agent: 's-1' },
  ),
  cursor(
    'subagentStop',
    { subagent_id: 's-1', status: 'completed' },
    { type: 'subagent-stop', agent: 's-1' },
  ),
  cursor('stop', { status: 'completed', loop_count: 0 }, { type: 'stop' }),
  cursor('sessionEnd', { reason: 'completed', duration_ms: 5 }, { type: 'session-end', reason: 'completed' }),
];

/**
 * One call for each registered event. The session, prompt, tool and stop events of Codex 0.169, Copilot CLI 1.0,
 * OpenCode 1.18 and Qwen Code 0.24 have the recorded shape; the rest is as documented.
 */
export const PAYLOADS: Readonly<Record<AssistantId, readonly Played[]>> = {
  'claude-code': withFailure(CLAUDE_LIKE),
  codex: CODEX,
  copilot: COPILOT,
  opencode: OPENCODE,
  qwen: QWEN,
  cursor: CURSOR,
};

/** What no stored file and no answer may have. */
export const PLAYED_SECRET = SECRET;
export const PLAYED_ID = ID;

/** Settings that a person may have where steward registers its hooks; undefined for an assistant with an own file. */
export const SETTINGS: Readonly<Record<AssistantId, string | undefined>> = {
  'claude-code':
    '{\r\n   "model": "x",\r\n   "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}\r\n}',
  codex:
    '{\n\t"hooks": {\n\t\t"Stop": [ { "hooks": [ { "type": "command", "command": "notify.sh" } ] } ]\n\t}\n}',
  copilot: undefined,
  opencode: undefined,
  qwen: '{\n  // the theme\n  "theme": "x", /* dark */\n  "hooks": { "Stop": [] } // none yet\n}\n',
  cursor:
    '{"version":1,"hooks":{"stop":[{"command":"./mine.sh","timeout":3}],"afterFileEdit":[{"command":"fmt"}]}}\n',
};

/** What one second is in the assistant's settings, and how it may answer a prompt and a session's start. */
export const RULES: Readonly<
  Record<AssistantId, { unit: number | undefined; prompt: 'message' | ''; start: 'context' | '' }>
> = {
  'claude-code': { unit: 1, prompt: 'message', start: 'context' },
  codex: { unit: 1, prompt: 'message', start: 'context' },
  copilot: { unit: 1, prompt: '', start: '' },
  opencode: { unit: undefined, prompt: '', start: '' },
  qwen: { unit: 1000, prompt: 'message', start: 'context' },
  cursor: { unit: 1, prompt: '', start: '' },
};
