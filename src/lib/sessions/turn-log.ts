import { dirname, isAbsolute, join } from 'node:path';

import { unless } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { lstatOf } from '../platform/files/folder';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { parseIso } from '../platform/time/clock';
import { INTERRUPTED, storedWord } from './work-events';

/** What an assistant's log says about the current turn, and no hook reports. */
export interface TurnSigns {
  /** How the turn ended, if you interrupted it or an error ended it. */
  ended: { ms: number; reason: string } | undefined;
  /** Since when the assistant has been idle, although nothing in its log ended the turn. */
  idleMs: number | undefined;
  /** The open questions. */
  questions: readonly { call: string; ms: number }[];
}

/** Number of bytes to read from the end of a log. */
const TAIL_BYTES = 256 * 1024;
/** A turn's settings are at its start, so they may be far from the end. */
const TURN_BYTES = 4 * 1024 * 1024;
const MAX_LINE_BYTES = 256 * 1024;
const MARKER = '[Request interrupted by user';

/**
 * Reads from the end of an assistant's log what no hook reports: an interrupted turn, a failed turn of Codex or
 * Copilot, and an open question of Codex. Reads Claude Code's transcripts, Codex's rollouts and Copilot's events,
 * never their text.
 */
export function readTurnSigns(path: string): TurnSigns {
  const signs: TurnSigns = { ended: undefined, idleMs: undefined, questions: [] };
  const writtenMs = lstatOf(path)?.mtimeMs;
  tailOf(path, TAIL_BYTES, (text) => {
    const entry = parseObject(text);
    if (entry === undefined) return;
    const ms = parseIso(textOf(entry['timestamp']) ?? '');
    if (isObject(entry['payload'])) readRollout(signs, entry['payload'], ms);
    else if (isObject(entry['data']))
      readCopilot(signs, textOf(entry['type']), entry['data'], { ms, writtenMs });
    else readTranscript(signs, entry, ms);
  });
  return signs;
}

/** Returns the path of the file in which Claude Code keeps the state of a running session. */
export function runningFileOf(transcript: string, pid: number): string {
  return join(dirname(dirname(dirname(transcript))), 'sessions', `${pid}.json`);
}

/**
 * Returns since when Claude Code has been idle, according to the file of a running session; undefined if it isn't
 * idle. Nothing else shows a turn that you interrupted before the first answer.
 */
export function readIdleMs(path: string, sessionId: string): number | undefined {
  const text = unless(['EACCES', 'EPERM', 'EIO'], () => readText(path, { maxBytes: 64 * 1024 }));
  const { sessionId: id, status, statusUpdatedAt } = parseObject(text ?? '') ?? {};
  return id === sessionId && status === 'idle' && Number.isSafeInteger(statusUpdatedAt)
    ? Number(statusUpdatedAt)
    : undefined;
}

function readTranscript(signs: TurnSigns, entry: Record<string, unknown>, ms: number | undefined): void {
  const { type, message } = entry;
  if (entry['isSidechain'] === true || entry['isMeta'] === true) return;
  if ((type !== 'user' && type !== 'assistant') || !isObject(message)) return;
  signs.ended = type === 'user' && isInterruption(message['content']) ? endedAt(ms) : undefined;
}

function endedAt(ms: number | undefined, reason = INTERRUPTED): TurnSigns['ended'] {
  return ms === undefined ? undefined : { ms, reason };
}

/** Returns Claude Code's keyword for the error that ended a turn of Codex. */
function failureOf({ codex_error_info: info }: Record<string, unknown>): string {
  const [name, detail] = isObject(info) ? (Object.entries(info)[0] ?? []) : [info];
  const status = isObject(detail) ? detail['http_status_code'] : undefined;
  if (name === 'usage_limit_exceeded' || status === 429) return 'rate_limit';
  if (name === 'unauthorized' || status === 401 || status === 403) return 'authentication_failed';
  if (name === 'server_overloaded' || status === 503) return 'overloaded';
  return name === 'internal_server_error' || Number(status) >= 500 ? 'server_error' : 'unknown';
}

function isInterruption(content: unknown): boolean {
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  return parts.some((part) => {
    const text = isObject(part) ? part['text'] : part;
    return typeof text === 'string' && text.startsWith(MARKER);
  });
}

function readRollout(signs: TurnSigns, payload: Record<string, unknown>, ms: number | undefined): void {
  const { type, name, call_id: call } = payload;
  const withoutCall = signs.questions.filter((question) => question.call !== call);
  if (type === 'turn_aborted') {
    Object.assign(signs, { ended: endedAt(ms), questions: [] });
  } else if (type === 'task_started' || type === 'task_complete') {
    const { error } = payload;
    Object.assign(signs, {
      ended: isObject(error) ? endedAt(ms, failureOf(error)) : undefined,
      questions: [],
    });
  } else if (type === 'function_call' && name === 'request_user_input') {
    if (typeof call === 'string' && ms !== undefined) signs.questions = [...withoutCall, { call, ms }];
  } else if (type === 'function_call_output') signs.questions = withoutCall;
}

/**
 * Copilot removes a prompt from its log if you withdraw it before the first answer. The log then shows no open turn,
 * and has been written since the prompt.
 */
function readCopilot(
  signs: TurnSigns,
  type: string | undefined,
  { errorType, hookType }: Record<string, unknown>,
  { ms, writtenMs }: { ms: number | undefined; writtenMs: number | undefined },
): void {
  const event = type?.startsWith('hook.') === true ? `${type} ${textOf(hookType) ?? ''}` : (type ?? '');
  if (COPILOT_STARTS.includes(event)) signs.idleMs = undefined;
  else if (COPILOT_ENDS.includes(event)) signs.idleMs = writtenMs;
  if (type === 'user.message') signs.ended = undefined;
  else if (type === 'abort' && ms !== undefined) signs.ended = { ms, reason: INTERRUPTED };
  else if (type === 'session.error' && ms !== undefined)
    signs.ended = { ms, reason: storedWord(textOf(errorType)) ?? 'unknown' };
}

const COPILOT_STARTS = ['hook.start userPromptSubmitted', 'user.message', 'assistant.turn_start'];
const COPILOT_ENDS = ['session.start', 'abort', 'session.error', 'hook.end agentStop'];

/**
 * Returns who reviews the requests of the current turn, according to a Codex rollout: `user`, `auto_review` or
 * `guardian_subagent`. Undefined if the log doesn't say.
 */
export function readReviewer(path: string): string | undefined {
  for (const bytes of [TAIL_BYTES, TURN_BYTES]) {
    let payload: unknown;
    tailOf(path, bytes, (text) => {
      if (text.includes('"turn_context"')) payload = parseObject(text)?.['payload'] ?? payload;
    });
    if (isObject(payload)) return textOf(payload['approvals_reviewer']);
  }
  return undefined;
}

function tailOf(path: string, bytes: number, take: (text: string) => void): void {
  const facts = isAbsolute(path) ? lstatOf(path) : undefined;
  if (facts?.isFile !== true) return;
  const from = Math.max(0, facts.size - bytes);
  unless(['EACCES', 'EPERM', 'EIO'], () =>
    readLines(path, { from, maxLineBytes: MAX_LINE_BYTES }, ({ text }) => {
      if (text !== undefined) take(text);
    }),
  );
}
