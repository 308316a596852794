import { isIso, parseIso, toIso } from '../platform/time/clock';
import { appendLog, readLog, type LogCursor } from '../platform/files/journal';
import { clean } from '../platform/terminal/terminal';
import { phaseNamed } from './phases';
import { idOfKey, sessionKey } from './session-key';
import { isSlug } from './slug';
import type { ProcessMark } from '../platform/process/ancestor';
import { definedOnly, parseObject } from '../platform/files/json-object';

const WORK_EVENT_TYPES = [
  'session-start',
  'prompt',
  'tool-before',
  'tool-after',
  'tool-failed',
  'subagent-start',
  'subagent-stop',
  'notification',
  'stop',
  'session-end',
] as const;
export type WorkEventType = (typeof WORK_EVENT_TYPES)[number];

/** The reason of a `stop` event for a turn that you interrupted, as the assistant's log shows. */
export const INTERRUPTED = 'interrupted';

/** Codex's tool for questions, which only its log reports. */
export const QUESTION_TOOL = 'request_user_input';

/** What a tool asks you: to answer a question, or to approve a plan. */
export type Asks = (typeof ASKS)[number];
const ASKS = ['question', 'plan'] as const;

export const WORK_EVENTS_ROTATE_BYTES = 8 * 1024 * 1024;
/**
 * Hooks normally apply new log events to the state only when a turn ends. Once the log exceeds this size,
 * they also do so after a tool event.
 */
export const WORK_EVENTS_FOLD_BYTES = 2 * WORK_EVENTS_ROTATE_BYTES;

const MAX_ID = 200;
const MAX_RAW_ID = 2000;
const MAX_WORD = 100;
const MAX_PATH = 4096;

/** Appends an event and returns the size of the log in bytes. */
export function appendWorkEvent(path: string, event: WorkEvent): number {
  return appendLog(path, JSON.stringify(storedEvent(event)));
}

export function storedEvent(event: WorkEvent): WorkEvent {
  return event.assistant === undefined ? event : { ...event, session: idOfKey(event.session) };
}

/** Sanitizes an external id for the log. Returns undefined if it has no printable characters. */
export function storedId(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const id = clean(text.slice(0, MAX_RAW_ID)).slice(0, MAX_ID);
  return id === '' ? undefined : id;
}

/** Returns an external path unchanged, or undefined if it is too long or has control characters. */
export function storedPath(text: unknown): string | undefined {
  const isPath = typeof text === 'string' && text.length <= MAX_PATH && !/[\u0000-\u001f\u007f]/.test(text);
  return isPath ? text : undefined;
}

/**
 * Sanitizes an external name, such as a tool or repository. Returns undefined if it has no printable
 * characters.
 */
export function storedWord(text: unknown): string | undefined {
  return storedId(text)?.slice(0, MAX_WORD);
}

function storedWordOrNull(value: unknown): string | null | undefined {
  return value === null ? null : storedWord(value);
}

/** Parses a line of the log. Returns undefined if it is invalid. */
export function parseWorkEvent(text: string) {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  const type = WORK_EVENT_TYPES.find((known) => known === value['type']);
  const assistant = storedWord(value['assistant']);
  const ms = typeof value['ts'] === 'string' ? parseIso(value['ts']) : undefined;
  const session = storedId(value['session']);
  if (ms === undefined || session === undefined || type === undefined) return undefined;
  const slug = typeof value['slug'] === 'string' && isSlug(value['slug']) ? value['slug'] : null;
  const optional = {
    /** The branch that is checked out; null if HEAD is detached. Tool events omit the branch. */
    branch: storedWordOrNull(value['branch']),
    /** Folder name of a linked worktree; null in the main checkout. */
    worktree: storedWordOrNull(value['worktree']),
    /** The assistant that reported the event. Default: Claude Code. */
    assistant,
    model: storedWord(value['model']),
    tool: storedWord(value['tool']),
    phase: typeof value['phase'] === 'string' ? phaseNamed(value['phase'])?.id : undefined,
    /** Set if a session file was written. `slug` is then that file's slug. */
    artifact: value['artifact'] === true && slug !== null ? (true as const) : undefined,
    /** Id of the subagent that caused the event. */
    agent: storedWord(value['agent']),
    /** Set if the tool asks you, so that the session waits until the call ends. */
    asks: ASKS.find((known) => known === value['asks']),
    /** The id of a tool call that asks you. */
    call: storedWord(value['call']),
    /**
     * The assistant's keyword for the reason why the session is waiting, for how the session started or
     * ended, or for the error that ended the turn.
     */
    reason: storedWord(value['reason']),
    /** When a limit that ended the turn is reset. ISO 8601 in UTC. */
    until: isIso(value['until']) ? value['until'] : undefined,
    machine: storedWord(value['machine']),
    /** Path of the assistant's log of the session. Set only for session starts and prompts. */
    transcript: storedPath(value['transcript']),
    /** The assistant's process. Set only for session starts and prompts. */
    process: parseProcess(value['process']),
    terminal: parseTerminal(value['terminal']),
  };
  return {
    ts: toIso(ms),
    type,
    /** The session's key from `sessionKey`. The log line itself contains the assistant's own session id. */
    session: sessionKey(assistant, session),
    slug,
    /** The repository that contains the session's folder; null outside a repository. */
    repo: storedWord(value['repo']) ?? null,
    ...definedOnly(optional),
  };
}

/** A line of `state/work-events.jsonl`. It never contains a prompt, tool input or other content. */
export type WorkEvent = NonNullable<ReturnType<typeof parseWorkEvent>>;

export function parseProcess(value: unknown): ProcessMark | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { pid, started, boot, namespace, isClient } = value as Record<string, unknown>;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
  const [start = '', ...place] = [started, boot, namespace].map((text) => storedWord(text) ?? '');
  if (start === '') return undefined;
  const mark: ProcessMark = { pid, started: start, boot: place[0] ?? '', namespace: place[1] ?? '' };
  if (isClient === true) mark.isClient = true;
  return mark;
}

export function parseTerminal(value: unknown) {
  if (typeof value !== 'object' || value === null) return undefined;
  const { tty, program, kittySocket, pid, started } = value as Record<string, unknown>;
  return {
    tty: storedId(tty) ?? null,
    program: storedWord(program) ?? null,
    kittySocket: storedId(kittySocket) ?? null,
    /**
     * The process in the terminal, and its start time in clock ticks since boot. A different start time means
     * that the process id has been reused.
     */
    pid: typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? pid : null,
    started: storedWord(started) ?? null,
  };
}

/** A session's terminal. Unknown values are null. */
export type SessionTerminal = NonNullable<ReturnType<typeof parseTerminal>>;

/** Passes each event after the cursor to `take`. Returns the next cursor. */
export function readWorkEvents(path: string, cursor: LogCursor, take: (event: WorkEvent) => void): LogCursor {
  return readLog(path, cursor, (text) => {
    const event = text === undefined ? undefined : parseWorkEvent(text);
    if (event !== undefined) take(event);
  });
}
