/**
 * The keys before `tool_input` in a tool event of an assistant, in the order in which it writes them; `?` marks those
 * that it may leave out. The shim records such events without Node.js.
 */
export const TOOL_KEYS: Readonly<Record<string, readonly string[]>> = {
  'claude-code': [
    'session_id',
    'transcript_path',
    'cwd',
    'prompt_id?',
    'permission_mode?',
    'effort?',
    'hook_event_name',
    'tool_name',
  ],
  codex: [
    'session_id',
    'turn_id',
    'transcript_path',
    'cwd',
    'hook_event_name',
    'model',
    'permission_mode',
    'tool_name',
  ],
  qwen: [
    'session_id',
    'transcript_path',
    'cwd',
    'hook_event_name',
    'timestamp',
    'permission_mode',
    'tool_use_id?',
    'tool_call_id?',
    'tool_name',
  ],
};

/** The tools that write files, which may be session files. */
export const FILE_TOOLS: readonly string[] = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'apply_patch'];
