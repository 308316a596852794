import { isObject, parseObject, textOf } from '../platform/files/json-object';
import type { AssistantId } from '../sessions/session-key';
import type { Asks, WorkEventType } from '../sessions/work-events';

/** The response fields that each assistant supports. Unsupported fields are not printed. */
const ANSWERS: Readonly<Record<AssistantId, readonly (keyof HookAnswer)[]>> = {
  'claude-code': ['message', 'title', 'context'],
  codex: ['message', 'context'],
  qwen: ['message', 'context'],
  copilot: [],
  opencode: [],
  cursor: [],
};

export const HOOK_VERBS = [
  'session-start',
  'prompt',
  'tool',
  'subagent-start',
  'subagent-stop',
  'notification',
  'stop',
  'session-end',
] as const;
export type HookVerb = (typeof HOOK_VERBS)[number];

/** The verb of the hooks that `steward answers setup` registers. */
export const ANSWER_VERB = 'answer';

/** Returns whether the vendor's app is connected to the session, and pushes what it asks. */
export function isBridged(env: NodeJS.ProcessEnv): true | undefined {
  return (env['CLAUDE_CODE_BRIDGE_SESSION_ID'] ?? '') === '' ? undefined : true;
}

/** Returns whether an assistant called this hook, based on an environment variable that assistants set. */
export function isCalledByAssistant(env: NodeJS.ProcessEnv): boolean {
  return (env['CLAUDE_PROJECT_DIR'] ?? '') !== '';
}

/** The first Claude Code version that writes a hook's `terminalSequence` to its terminal. */
const SEQUENCES_SINCE: readonly number[] = [2, 1, 141];

/** Other assistants' field names, keyed by Claude Code's name for the field. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  // Cursor sends conversation_id, sometimes with session_id. Copilot's notifications have sessionId.
  session_id: ['conversation_id', 'session_id', 'sessionId'],
  // Cursor sends subagent_id. Copilot identifies subagents only by name.
  agent_id: ['agent_id', 'subagent_id', 'agent_name', 'agentName'],
};

/**
 * Parses hook JSON from any supported assistant. Parses truncated JSON up to the point where it was cut off.
 * @param env the hook's environment, with the assistant's version
 */
export function readHookJson(
  bytes: Buffer,
  cut: boolean,
  env: NodeJS.ProcessEnv,
): { input: HookInput } | { problem: string } {
  const fields = fieldsIn(bytes, cut);
  if (fields !== undefined && Object.keys(fields).length > 0) return { input: inputOf(fields, env) };
  return { problem: bytes.length === 0 ? 'stdin is empty' : 'stdin is not hook JSON' };
}

/** The fields of the hook JSON that steward uses. Strings are raw and untrusted. */
export type HookInput = ReturnType<typeof inputOf>;

function inputOf(fields: Record<string, unknown>, env: NodeJS.ProcessEnv) {
  const tool = textOf(fields['tool_name']);
  const place = fields['cwd'] ?? [fields['workspace_roots']].flat()[0];
  const cwd = pathOf(place);
  // Ignore the prompt if the folder is invalid, because the session may be restricted.
  const isPlaceUnusable = cwd === undefined && typeof place === 'string';
  const isCursor = fields['cursor_version'] !== undefined;
  return {
    /** Cursor also runs the hooks in Claude Code's settings, so the JSON determines the assistant. */
    assistant: isCursor ? ('cursor' as AssistantId) : undefined,
    session: aliased(fields, 'session_id'),
    cwd,
    transcript: pathOf(fields['transcript_path']),
    /** The session's log, if steward can read what it says about turns. */
    log: pathOf(fields['transcript_path']),
    /** The assistant's name for the event. */
    event: textOf(fields['hook_event_name']),
    tool,
    model: textOf(fields['model']),
    /** The assistant's last message in the turn. Only the line that is addressed to the user is stored. */
    lastMessage: textOf(fields['last_assistant_message']),
    /** The user's prompt, which is not stored in full by default. */
    prompt: isPlaceUnusable ? undefined : textOf(fields['prompt']),
    /** The file that the tool wrote or edited. */
    file: tool !== undefined && WRITERS.has(tool) ? fileOf(fields['tool_input']) : undefined,
    agent: aliased(fields, 'agent_id'),
    /** The id of the tool call. */
    call: textOf(fields['tool_use_id']),
    /** The assistant's permission mode, such as `auto`. */
    mode: textOf(fields['permission_mode']),
    /** The assistant's keyword for why a session started or ended, or for the kind of a notification. */
    reason: textOf(
      fields['notification_type'] ??
        fields['source'] ??
        fields['reason'] ??
        (isFailure(textOf(fields['hook_event_name'])) ? (fields['error'] ?? 'unknown') : undefined),
    ),
    /** Whether the assistant writes the `terminalSequence` from a hook response to its terminal. */
    takesSequence: takesSequence(fields, env),
    /** Whether the process that calls the hooks serves several terminals. */
    isShared: fields['shared_process'] === true,
  };
}

/**
 * Returns the fields of the JSON object. If the JSON is truncated, returns the fields up to its last complete
 * value.
 */
export function fieldsIn(bytes: Buffer, cut: boolean): Record<string, unknown> | undefined {
  return cut ? beforeCut(decode(bytes)) : parseObject(decode(bytes));
}

/**
 * Limits for reading stdin. Truncating the JSON after `keepBytes` is harmless, because a tool's long input
 * and output come last.
 */
export const HOOK_STDIN = { firstByteMs: 200, endMs: 2000, keepBytes: 1024 * 1024 };

/** How long to wait for the assistant to read a hook's output, in ms. */
export const HOOK_STDOUT_WAIT_MS = 500;

/** Returns whether the bytes are a complete JSON object, so that reading can stop before stdin ends. */
export function isWholeJson(bytes: Buffer): boolean {
  let end = bytes.length - 1;
  while (end >= 0 && (bytes[end] as number) <= 0x20) end -= 1;
  return bytes[end] === 0x7d && parseObject(decode(bytes)) !== undefined;
}

/** The assistants' tools that write a file and take its path as input. */
export const WRITERS: ReadonlySet<string> = new Set([
  'Write',
  'Edit',
  'MultiEdit',
  'write_file',
  'edit',
  'create',
  'write',
]);

/** The tools of each assistant that keep a call open until you answer. No other hook may report them. */
const ASKING_TOOLS: Readonly<Partial<Record<AssistantId, Readonly<Record<string, Asks>>>>> = {
  'claude-code': { AskUserQuestion: 'question', ExitPlanMode: 'plan' },
  copilot: { exit_plan_mode: 'plan' },
};

/** Returns what a tool that is about to run asks you. In the mode `dontAsk`, no tool may ask. */
export function asksOf(assistant: AssistantId, { tool, mode }: Pick<HookInput, 'tool' | 'mode'>) {
  const tools = ASKING_TOOLS[assistant] ?? {};
  return tool !== undefined && mode !== 'dontAsk' && Object.hasOwn(tools, tool) ? tools[tool] : undefined;
}

/** The names of all tools that may ask you. */
export const ASKING: readonly string[] = [
  ...new Set(Object.values(ASKING_TOOLS).flatMap((tools) => Object.keys(tools))),
];

const TYPES_BY_EVENT: ReadonlyMap<string, WorkEventType> = new Map([
  ['PreToolUse', 'tool-before'],
  ['PostToolUseFailure', 'tool-failed'],
]);

/**
 * Returns the event type for a hook verb. For `tool`, the assistant's event name shows whether the tool is
 * about to run or has run.
 */
export function eventType(verb: HookVerb, { event = '' }: Pick<HookInput, 'event'>): WorkEventType {
  const name = event.slice(0, 1).toUpperCase() + event.slice(1);
  return verb === 'tool' ? (TYPES_BY_EVENT.get(name) ?? 'tool-after') : verb;
}

/** Returns why the session started, ended or is waiting. */
export function reasonOf(verb: HookVerb, input: Pick<HookInput, 'event' | 'reason'>): string | undefined {
  if (verb === 'notification' && input.event === 'PermissionRequest') return 'permission_prompt';
  const hasReason = verb === 'notification' || verb === 'session-start' || verb === 'session-end';
  return hasReason || isFailure(input.event) ? input.reason : undefined;
}

/** Returns whether an error of the assistant's service ended the turn. */
export function isFailure(event: string | undefined): boolean {
  return event === 'StopFailure';
}

/** A hook's response to the assistant. */
export interface HookAnswer {
  /** The terminal tab's title. */
  title: string | undefined;
  /** A sentence that the model receives at the start of a session. */
  context: string | undefined;
  message?: string | undefined;
}

/** Formats a response in the assistant's hook protocol; returns an empty string for an empty response. */
export function hookAnswer(assistant: AssistantId, answer: HookAnswer): string {
  const documented = ANSWERS[assistant];
  const part = (name: keyof HookAnswer): string | undefined =>
    documented.includes(name) ? answer[name] : undefined;
  const [title, context, message] = [part('title'), part('context'), part('message')];
  const isSilent = title === undefined && context === undefined && message === undefined;
  const json = {
    systemMessage: message,
    terminalSequence: title === undefined ? undefined : titleSequence(title),
    hookSpecificOutput:
      context === undefined ? undefined : { hookEventName: 'SessionStart', additionalContext: context },
  };
  return isSilent ? '' : `${JSON.stringify(json)}\n`;
}

/** Returns the escape sequence for the title of the tab and window (OSC 0). */
export function titleSequence(title: string): string {
  return `\u001b]0;${title}\u0007`;
}

/**
 * Returns whether the assistant supports terminal sequences. If its version is unknown, `prompt_id` indicates
 * a recent version.
 */
function takesSequence(fields: Record<string, unknown>, env: NodeJS.ProcessEnv): boolean {
  const named = [env['CLAUDE_CODE_VERSION'], env['CLAUDE_CODE_EXECPATH'], env['AI_AGENT']]
    .map((text) => /(?:^|[^\d.])(\d+)\.(\d+)\.(\d+)(?![\d.])/.exec(text ?? ''))
    .find((found) => found !== null);
  if (named === undefined || named === null) return fields['prompt_id'] !== undefined;
  const version = named.slice(1).map(Number);
  const at = SEQUENCES_SINCE.findIndex((part, index) => version[index] !== part);
  return at === -1 || (version[at] ?? 0) > (SEQUENCES_SINCE[at] ?? 0);
}

/** Returns the path in the input of a tool that writes a file. */
export function fileOf(toolInput: unknown): string | undefined {
  return isObject(toolInput) ? pathOf(toolInput['file_path'] ?? toolInput['path']) : undefined;
}

function aliased(fields: Record<string, unknown>, name: string): string | undefined {
  return ALIASES[name]?.map((alias) => textOf(fields[alias])).find((text) => text !== undefined);
}

/** Approximately the longest path that any system allows. */
const MAX_PATH = 4096;
/** A hook looks for a repository at each level, and no project is this deep. */
const MAX_LEVELS = 200;

function pathOf(value: unknown): string | undefined {
  const path = textOf(value);
  if (path === undefined || path.length > MAX_PATH || path.includes('\0')) return undefined;
  return path.split(/[\\/]/).length > MAX_LEVELS ? undefined : path;
}

/** Decodes UTF-8, or UTF-16 with a byte order mark. Some Windows shells write UTF-16. */
function decode(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le', 2);
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? bytes.toString('utf8', 3) : bytes.toString();
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:"]/g;

/** Parses truncated JSON up to its last complete value. */
function beforeCut(text: string): Record<string, unknown> | undefined {
  const open: string[] = [];
  let whole = { end: 0, depth: 0 };
  let before = '';
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    // An unpaired quote is the start of a truncated string.
    if (token === '"') break;
    if (token === '{' || token === '[') open.push(token === '{' ? '}' : ']');
    else if (token === '}' || token === ']') open.pop();
    const isEnd = token === '}' || token === ']' || (token.startsWith('"') && before === ':');
    if (isEnd) whole = { end: index + token.length, depth: open.length };
    else if (token === ',') whole = { end: index, depth: open.length };
    if (open.length === 0) break;
    before = token;
  }
  return parseObject(text.slice(0, whole.end) + open.slice(0, whole.depth).reverse().join(''));
}
