/** The hook JSON of each event as the assistant writes it, recorded, with neutral names. */
const RECORDED = {
  'session-start': { hook_event_name: 'SessionStart', source: 'startup', model: 'some-model' },
  prompt: { hook_event_name: 'UserPromptSubmit', prompt: 'please change the SECRET-PROMPT file' },
  tool: {
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'echo SECRET-INPUT', description: 'Print a word' },
    tool_response: { stdout: 'SECRET-OUTPUT\n', stderr: '', interrupted: false, isImage: false },
    tool_use_id: 'toolu_01ABC',
  },
  'tool-before': {
    hook_event_name: 'PreToolUse',
    tool_name: 'mcp__memory__create_entities',
    tool_input: { entities: [{ name: 'SECRET-INPUT' }] },
    tool_use_id: 'toolu_02ABC',
  },
  'tool-failed': {
    hook_event_name: 'PostToolUseFailure',
    tool_name: 'Read',
    tool_input: { file_path: '/SECRET-INPUT' },
    error: 'SECRET-OUTPUT',
    tool_use_id: 'toolu_03ABC',
  },
  'subagent-start': { hook_event_name: 'SubagentStart', agent_id: 'agent-1', agent_type: 'Explore' },
  'subagent-stop': {
    hook_event_name: 'SubagentStop',
    stop_hook_active: false,
    agent_id: 'agent-1',
    agent_type: 'Explore',
    agent_transcript_path: '/home/ann/.claude/projects/x/agent-1.jsonl',
    last_assistant_message: 'SECRET-MESSAGE',
  },
  notification: {
    hook_event_name: 'Notification',
    message: 'SECRET-MESSAGE',
    title: 'Permission needed',
    notification_type: 'permission_prompt',
  },
  permission: {
    hook_event_name: 'PermissionRequest',
    tool_name: 'Bash',
    tool_input: { command: 'SECRET-INPUT' },
    permission_suggestions: [{ type: 'addRules', rules: [{ toolName: 'Bash' }] }],
  },
  stop: {
    hook_event_name: 'Stop',
    stop_hook_active: false,
    last_assistant_message: 'SECRET-MESSAGE',
  },
  'session-end': { hook_event_name: 'SessionEnd', reason: 'prompt_input_exit' },
};

export type RecordedEvent = keyof typeof RECORDED;
export const RECORDED_EVENTS = Object.keys(RECORDED) as RecordedEvent[];

/** The verb of `steward hook` that an event is registered with. */
export function verbOf(event: RecordedEvent): string {
  if (event === 'permission') return 'notification';
  return event.startsWith('tool') ? 'tool' : event;
}

export function hookJson(event: RecordedEvent, changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    session_id: '0f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6',
    transcript_path: '/home/ann/.claude/projects/x/0f0e9d1c.jsonl',
    cwd: '/',
    permission_mode: 'default',
    ...RECORDED[event],
    ...changes,
  });
}
