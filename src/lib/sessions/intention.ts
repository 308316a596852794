import { StewardError } from '../errors';
import { definedOnly, isObject, textOf } from '../platform/files/json-object';
import { timeOfName, type Codec, type Spool } from '../platform/files/spool';
import { parseIso } from '../platform/time/clock';

/** A request found in a prompt, with credentials redacted. */
export interface Capture {
  kind: string;
  text: string;
  /** Identifies the request. The same words in the same session have the same key. */
  key: string;
  /** The whole prompt, shortened by `wholePrompt`. Set only if `WORK.CAPTURE_PROMPT` is `whole`. */
  prompt?: string;
}

export type IntentionKind = keyof typeof KINDS;

const HOUR_MS = 3_600_000;

/**
 * Each kind's lifetime and maximum attempts. `words` marks tasks that contain text that you typed. Such tasks
 * are kept longest, because no other copy of the text exists.
 */
export const KINDS = {
  'turn-ended': { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  'agent-ended': { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  attention: { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  'session-ended': { keepMs: 7 * 24 * HOUR_MS, attempts: 5, words: false },
  'prompt-matched': { keepMs: 60 * 24 * HOUR_MS, attempts: 50, words: true },
  'issue-wanted': { keepMs: 60 * 24 * HOUR_MS, attempts: 50, words: true },
} as const;
/** Kinds from a newer version get the longest lifetime, because they may contain text that you typed. */
const UNKNOWN_KIND = { keepMs: KINDS['prompt-matched'].keepMs, words: true };
/** A timestamp further in the future than this means that the clock was set back. */
const AHEAD_MS = HOUR_MS;

/**
 * The maximum number of queued tasks. Tasks with text that you typed have a separate limit of the same size.
 */
export const MAX_WAITING = 1000;

/** Matches a task's file name, such as `20261120T081500123Z-0123456789ab.turn-ended.json`. */
const NAME = /^\d{8}T\d{9}Z-[0-9a-f]{12}\.([a-z-]+)\.json$/;

const CODEC: Codec<Intention> = {
  version: 1,
  parse,
  isName: (name) => NAME.test(name),
  nameOf: ({ id, kind }) => `${id}.${kind}.json`,
  machineOf: ({ machine }) => machine,
  timeOf: timeOfName,
  durable: true,
  cap: MAX_WAITING,
  counts: (name) => limitsOf(name).words,
  full: (count, path) =>
    new StewardError('unavailable', `${count} captures are waiting in ${path}; the queue is full.`, {
      hint: 'Run "steward work deliver" to send them or to see why they cannot be sent.',
    }),
};

export function spoolAt(path: string): Spool<Intention> {
  return { path, ...CODEC };
}

export function limitsOf(name: string): { keepMs: number; words: boolean } {
  const kind = NAME.exec(name)?.[1] ?? '';
  return isKind(kind) ? KINDS[kind] : UNKNOWN_KIND;
}

function isKind(kind: string): kind is IntentionKind {
  return Object.hasOwn(KINDS, kind);
}

function parse(value: Record<string, unknown>) {
  const { id, kind, at, machine, attempts, session, slug, transcript, capture, wanted, ended } = value;
  if (typeof kind !== 'string' || typeof id !== 'string' || typeof session !== 'string') return undefined;
  if (!isKind(kind)) return 'newer';
  if (typeof machine !== 'string' || typeof at !== 'string' || parseIso(at) === undefined) return undefined;
  const optional = {
    /** The request found in the prompt; only for `prompt-matched`. */
    capture: isCapture(capture) ? capture : undefined,
    /** The issue to create, in the format of the `work` module; only for `issue-wanted`. */
    wanted: isObject(wanted) ? wanted : undefined,
    /** The assistant's keyword for the pending request, such as `permission_prompt`. */
    reason: textOf(value['reason']),
    /** Time of the request's event; only for `attention`. */
    asked: textOf(value['asked']),
    /** Whether the vendor's app also pushes what the session asks. */
    isBridged: value['isBridged'] === true ? (true as const) : undefined,
    /**
     * How the turn ended, according to the hook; only for `turn-ended`. If absent, steward reads the
     * transcript.
     */
    ended: isObject(ended) ? endOf(ended) : undefined,
  };
  return {
    id,
    kind,
    at,
    /** The machine that queued the task. Only this machine runs the task. */
    machine,
    attempts: typeof attempts === 'number' ? attempts : 0,
    session,
    slug: textOf(slug) ?? null,
    transcript: textOf(transcript) ?? null,
    ...definedOnly(optional),
  };
}

/**
 * A task that a hook has queued, stored in its own file. It contains ids, paths and the matching line of a
 * prompt or, if so configured, the whole prompt.
 */
export type Intention = Exclude<ReturnType<typeof parse>, 'newer' | undefined>;

function endOf({ line, isError }: Record<string, unknown>) {
  return { line: typeof line === 'string' ? line : null, isError: isError === true };
}

function isCapture(value: unknown): value is Capture {
  const { kind, text, key, prompt = '' } = isObject(value) ? value : {};
  return [kind, text, key, prompt].every((part) => typeof part === 'string');
}

/**
 * Returns whether a task has expired. A task dated in the future, which happens if the clock is set back,
 * also counts as expired unless it contains typed text.
 */
export function isExpired(name: string, nowMs: number): boolean {
  const { keepMs, words } = limitsOf(name);
  const at = timeOfName(name);
  return at < nowMs - keepMs || (!words && at > nowMs + AHEAD_MS);
}
