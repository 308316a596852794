import { isIso, parseIso, toIso } from '../platform/time/clock';
import { append, foldEntries, type Journal, type LogCursor } from '../platform/files/journal';
import { clean } from '../platform/terminal/terminal';
import { phaseNamed, type PhaseId } from './phases';
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

/** A session's terminal. Unknown values are null. */
export interface SessionTerminal {
  tty: string | null;
  program: string | null;
  kittySocket: string | null;
  /**
   * The process in the terminal, and its start time in clock ticks since boot. A different start time means
   * that the process id has been reused.
   */
  pid: number | null;
  started: string | null;
}

/** A line of `state/work-events.jsonl`. It never contains a prompt, tool input or other content. */
export interface WorkEvent {
  ts: string;
  type: WorkEventType;
  /** The session's key from `sessionKey`. The log line itself contains the assistant's own session id. */
  session: string;
  slug: string | null;
  /** The repository that contains the session's folder; null outside a repository. */
  repo: string | null;
  /** The branch that is checked out; null if HEAD is detached. Tool events omit the branch. */
  branch?: string | null;
  /** Folder name of a linked worktree; null in the main checkout. */
  worktree?: string | null;
  /** The assistant that reported the event. Default: Claude Code. */
  assistant?: string;
  model?: string;
  tool?: string;
  phase?: PhaseId;
  /** Set if a session file was written. `slug` is then that file's slug. */
  artifact?: true;
  /** Set if the tool asks you, so that the session waits until the call ends. */
  asks?: Asks;
  /** The id of a tool call that asks you. */
  call?: string;
  /** Id of the subagent that caused the event. */
  agent?: string;
  /**
   * The assistant's keyword for the reason why the session is waiting, for how the session started or
   * ended, or for the error that ended the turn.
   */
  reason?: string;
  /** When a limit that ended the turn is reset. ISO 8601 in UTC. */
  until?: string;
  machine?: string;
  /** Path of the assistant's log of the session. Set only for session starts and prompts. */
  transcript?: string;
  /** The assistant's process. Set only for session starts and prompts. */
  process?: ProcessMark;
  terminal?: SessionTerminal;
}

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
  return append(journalAt(path), storedEvent(event));
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
export function parseWorkEvent(text: string): WorkEvent | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  const { ts, type, artifact } = value;
  const assistant = storedWord(value['assistant']);
  const ms = typeof ts === 'string' ? parseIso(ts) : undefined;
  const session = storedId(value['session']);
  if (ms === undefined || session === undefined) return undefined;
  if (!WORK_EVENT_TYPES.includes(type as WorkEventType)) return undefined;
  const slug = typeof value['slug'] === 'string' && isSlug(value['slug']) ? value['slug'] : null;
  const optional = {
    branch: storedWordOrNull(value['branch']),
    worktree: storedWordOrNull(value['worktree']),
    assistant,
    model: storedWord(value['model']),
    tool: storedWord(value['tool']),
    phase: typeof value['phase'] === 'string' ? phaseNamed(value['phase'])?.id : undefined,
    artifact: artifact === true && slug !== null ? (true as const) : undefined,
    agent: storedWord(value['agent']),
    asks: ASKS.find((known) => known === value['asks']),
    call: storedWord(value['call']),
    reason: storedWord(value['reason']),
    until: isIso(value['until']) ? value['until'] : undefined,
    machine: storedWord(value['machine']),
    transcript: storedPath(value['transcript']),
    process: parseProcess(value['process']),
    terminal: parseTerminal(value['terminal']),
  };
  return {
    ts: toIso(ms),
    type: type as WorkEventType,
    session: sessionKey(assistant, session),
    slug,
    repo: storedWord(value['repo']) ?? null,
    ...definedOnly(optional),
  };
}

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

export function parseTerminal(value: unknown): SessionTerminal | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { tty, program, kittySocket, pid, started } = value as Record<string, unknown>;
  return {
    tty: storedId(tty) ?? null,
    program: storedWord(program) ?? null,
    kittySocket: storedId(kittySocket) ?? null,
    pid: typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? pid : null,
    started: storedWord(started) ?? null,
  };
}

/** Passes each event after the cursor to `take`. Returns the next cursor. */
export function readWorkEvents(path: string, cursor: LogCursor, take: (event: WorkEvent) => void): LogCursor {
  return foldEntries(journalAt(path), cursor, take);
}

function journalAt(path: string): Journal<WorkEvent> {
  return { path, parse: parseWorkEvent };
}
