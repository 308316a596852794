import type { AssistantId } from '../../src/lib/sessions/session-key';

/** A hook call: the verb it is registered with, and the fields that differ from the session's. */
export type Step = readonly [verb: string, fields: Record<string, unknown>];

/** Calls of one session, and what `steward sessions` then says of it: its status and what it does or asks. */
export interface WaitingRow {
  assistant: AssistantId;
  mode: string;
  title: string;
  steps: readonly Step[];
  status: string;
  says: string | null;
}

const event = (verb: string, name: string, more: Record<string, unknown> = {}): Step => [
  verb,
  { hook_event_name: name, ...more },
];
const call = (name: string, tool: string, id: string, more: Record<string, unknown> = {}): Step =>
  event('tool', name, { tool_name: tool, tool_input: { text: 'x' }, tool_use_id: id, ...more });

const START = event('session-start', 'SessionStart', { source: 'startup' });
const PROMPT = event('prompt', 'UserPromptSubmit', { prompt: 'go on' });
const RESULT = event('prompt', 'UserPromptSubmit', { prompt: '' });
const STOP = event('stop', 'Stop', { stop_hook_active: false });
const failed = (error: string, text = ''): Step =>
  event('stop', 'StopFailure', { error, last_assistant_message: text });
const pre = (tool: string, id = 'c1'): Step => call('PreToolUse', tool, id);
const post = (tool: string, id = 'c1'): Step => call('PostToolUse', tool, id);
const broke = (tool: string, id = 'c1'): Step => call('PostToolUseFailure', tool, id);
const permission = (tool: string): Step =>
  event('notification', 'PermissionRequest', { tool_name: tool, tool_input: { text: 'x' } });
const notice = (type: string): Step =>
  event('notification', 'Notification', { message: 'm', notification_type: type });

const ASK = 'AskUserQuestion';
const PLAN = 'ExitPlanMode';
const QUESTION = 'asks you a question';
const APPROVE = 'has a plan for you to approve';

type Case = readonly [title: string, steps: readonly Step[], status: string, says?: string];

function rows(assistant: AssistantId, mode: string, cases: readonly Case[]): WaitingRow[] {
  return cases.map(([title, steps, status, says = null]) => ({
    ...{ assistant, mode, title, status, says },
    steps: [START, PROMPT, ...steps],
  }));
}

/** The waits that Claude Code reports in every mode that may ask. */
const EVERY_MODE: readonly Case[] = [
  ['works', [pre('Bash')], 'working', 'running a command'],
  ['asks a question', [pre(ASK)], 'waiting', QUESTION],
  ['has its question answered', [pre(ASK), post(ASK)], 'working', 'using AskUserQuestion'],
  ['has a plan', [pre(PLAN)], 'waiting', APPROVE],
  ['has its plan rejected', [pre(PLAN), broke(PLAN)], 'working', 'planning'],
];

const CLAUDE: readonly WaitingRow[] = [
  ...['auto', 'acceptEdits', 'plan', 'bypassPermissions', 'default'].flatMap((mode) =>
    rows('claude-code', mode, EVERY_MODE),
  ),
  ...rows('claude-code', 'auto', [
    [
      'asks while another tool ends',
      [pre('Bash', 'b'), pre(ASK, 'q'), post('Bash', 'b')],
      'waiting',
      QUESTION,
    ],
    ['asks while another tool starts', [pre(ASK, 'q'), pre('Grep', 'g')], 'waiting', QUESTION],
    ['asks twice, one is answered', [pre(ASK, 'q'), pre(ASK, 'r'), post(ASK, 'q')], 'waiting', QUESTION],
    ['asks twice, both are answered', [pre(ASK, 'q'), pre(ASK, 'r'), post(ASK, 'q'), post(ASK, 'r')], 'working', 'using AskUserQuestion'], // prettier-ignore
    ['asks, and you type a prompt', [pre(ASK), PROMPT], 'working', 'thinking'],
    ['asks, and the turn ends', [pre(ASK), STOP], 'waiting'],
    ['asks, and a notice repeats it', [pre(ASK), notice('permission_prompt'), post(ASK)], 'working', 'using AskUserQuestion'], // prettier-ignore
    ['reaches a limit', [pre('Bash'), failed('rate_limit', "You've hit your limit · resets 6pm")], 'waiting', 'stopped: rate limit until 18:00'], // prettier-ignore
    ['reaches a limit without a time', [failed('rate_limit')], 'waiting', 'stopped: rate limit'],
    ['cannot be billed', [failed('billing_error')], 'waiting', 'stopped: billing error'],
    ['is signed out', [failed('authentication_failed')], 'waiting', 'stopped: authentication failed'],
    ['meets a broken server', [failed('server_error')], 'waiting', 'stopped: server error'],
    ['meets an unknown error', [failed('something_new')], 'waiting', 'stopped: error'],
    ['goes on after a limit', [failed('rate_limit'), PROMPT], 'working', 'thinking'],
    ['fails while it asks', [pre(ASK), failed('overloaded')], 'waiting', 'stopped: server overloaded'],
  ]),
  ...rows('claude-code', 'default', [
    ['asks for permission', [pre('Bash'), permission('Bash')], 'waiting', 'asks to run Bash'],
    ['gets permission', [pre('Bash'), permission('Bash'), post('Bash')], 'working', 'running a command'],
    ['asks with both hooks', [pre(ASK), permission(ASK)], 'waiting', QUESTION],
    ['asks with both hooks and is answered', [pre(ASK), permission(ASK), post(ASK)], 'working', 'using AskUserQuestion'], // prettier-ignore
    ['has a plan with both hooks', [pre(PLAN), permission(PLAN), post(PLAN)], 'working', 'planning'],
    ['reports an idle prompt', [STOP, notice('idle_prompt')], 'waiting'],
    ['reports a sign-in', [notice('auth_success')], 'working', 'thinking'],
  ]),
  ...rows('claude-code', 'dontAsk', [['may not ask', [pre(ASK)], 'working', 'using AskUserQuestion']]),
];

const OTHERS: readonly WaitingRow[] = [
  ...rows('codex', 'default', [
    ['works', [pre('Bash')], 'working', 'running a command'],
    ['asks for permission', [pre('Bash'), permission('Bash')], 'waiting', 'asks to run Bash'],
    ['gets permission', [pre('Bash'), permission('Bash'), post('Bash')], 'working', 'running a command'],
    ['is interrupted', [pre('Bash'), permission('Bash'), event('stop', 'Interrupt')], 'waiting'],
  ]),
  ...rows('copilot', 'default', [
    ['asks a question', [pre(ASK), notice('elicitation_dialog')], 'waiting', QUESTION],
    ['has its question answered', [pre(ASK), notice('elicitation_dialog'), post(ASK)], 'working', 'using AskUserQuestion'], // prettier-ignore
    ['asks in the wrong format', [pre(ASK), broke(ASK)], 'working', 'using AskUserQuestion'],
    ['has a plan', [pre('exit_plan_mode')], 'waiting', APPROVE],
  ]),
  ...rows('qwen', 'default', [
    ['asks for permission', [permission('run_shell_command')], 'waiting', 'asks to run run_shell_command'],
    ['asks a question', [permission('ask_user_question')], 'waiting', QUESTION],
    ['is answered', [permission('edit'), pre('edit'), post('edit')], 'working', 'editing'],
    ['hears the result of a tool', [pre('edit'), post('edit'), RESULT], 'working', 'editing'],
    ['is interrupted', [notice('idle_prompt')], 'waiting'],
    ['is signed out', [failed('authentication_failed'), notice('idle_prompt')], 'waiting', 'stopped: authentication failed'], // prettier-ignore
  ]),
  ...rows('opencode', 'default', [
    ['asks a question', [notice('elicitation_dialog')], 'waiting', QUESTION],
    ['asks for permission', [permission('bash')], 'waiting', 'asks to run bash'],
    ['is interrupted', [pre('bash'), event('stop', 'Interrupt')], 'waiting'],
    ['reaches a limit', [failed('rate_limit')], 'waiting', 'stopped: rate limit'],
  ]),
  ...rows('cursor', 'default', [['works', [pre('Shell')], 'working', 'running a command']]),
];

export const WAITING_ROWS: readonly WaitingRow[] = [...CLAUDE, ...OTHERS];

/** The fields that each hook call of a session has, in the order of its assistant. */
export function payloadOf(assistant: AssistantId, id: string, mode: string, cwd: string, step: Step): object {
  const [, { hook_event_name: name, tool_name: tool, ...rest }] = step;
  const named = tool === undefined ? {} : { tool_name: tool };
  const timestamp = '2026-11-20T10:00:00.000Z';
  const common = { session_id: id, transcript_path: '/none/x.jsonl', cwd };
  switch (assistant) {
    case 'codex': {
      const turn = { session_id: id, turn_id: 't1', transcript_path: null, cwd, hook_event_name: name };
      return { ...turn, model: 'm', permission_mode: mode, ...named, ...rest };
    }
    case 'copilot':
      return { hook_event_name: name, session_id: id, timestamp, cwd, ...named, ...rest };
    case 'qwen':
      return { ...common, hook_event_name: name, timestamp, permission_mode: mode, ...named, ...rest };
    default:
      return { ...common, permission_mode: mode, hook_event_name: name, ...named, ...rest };
  }
}
