import { join } from 'node:path';

import { readText } from '../platform/atomic-file';
import { parseIso, toIso } from '../platform/clock';
import { listFolder } from '../platform/folder';
import { isObject, parseObject } from '../platform/json-object';

/**
 * Something that a hook has left for later, one file. It holds ids and paths, and nothing that was said but the one
 * line in which a person asked for something to be kept; the whole prompt around it only where that is configured.
 */
export interface Intention {
  id: string;
  kind: IntentionKind;
  /** When it was left, ISO-8601 UTC. */
  at: string;
  /** The machine that left it: another one that shares the folder leaves it alone. */
  machine: string;
  /** How often its work was begun before. */
  attempts: number;
  session: string;
  slug: string | null;
  /** The assistant's own record of the session; null where it has none. */
  transcript: string | null;
  /** Only of `prompt-matched`. */
  capture?: Capture;
  /** Of what waits for a person: why, a word of the assistant's. */
  reason?: string;
}

/** What a person asked to be kept, credentials taken out. */
export interface Capture {
  kind: string;
  text: string;
  /** The same for the same words in the same session. */
  key: string;
  /** The whole prompt that it stood in, where `WORK.CAPTURE_PROMPT` says so; at most what `wholePrompt` keeps. */
  prompt?: string;
}

export type IntentionKind = keyof typeof KINDS;

const HOUR_MS = 3_600_000;

/**
 * How long each is worth doing, ms, and how often it is tried: a turn's end is spoken of at once or never, a
 * session's end is not lost, and what a person asked for in words stands nowhere else.
 */
export const KINDS = {
  'turn-ended': { keepMs: HOUR_MS / 6, attempts: 5 },
  'agent-ended': { keepMs: HOUR_MS / 6, attempts: 5 },
  attention: { keepMs: HOUR_MS / 6, attempts: 5 },
  'session-ended': { keepMs: 7 * 24 * HOUR_MS, attempts: 5 },
  'prompt-matched': { keepMs: 60 * 24 * HOUR_MS, attempts: 50 },
} as const;
/** A kind that a newer version leaves is left to it for as long as any. */
const LONGEST_MS = Math.max(...Object.values(KINDS).map(({ keepMs }) => keepMs));

const VERSION = 1;
const MAX_BYTES = 64 * 1024;
/** A time further ahead than this was written by a clock that was put back since. */
const AHEAD_MS = HOUR_MS;

export function isExpired(name: string, nowMs: number): boolean {
  const [, at = '', kind = ''] = NAME.exec(name) ?? [];
  const keepMs = Object.hasOwn(KINDS, kind) ? KINDS[kind as IntentionKind].keepMs : LONGEST_MS;
  return at < compact(nowMs - keepMs) || at > compact(nowMs + AHEAD_MS);
}

/** `20261120T081500123Z`: times in their order as texts. */
export function compact(ms: number): string {
  return toIso(ms).replace(/[-:.]/g, '');
}

export interface SpoolStatus {
  waiting: number;
  /** Tried and given up; at most the last 200 are kept. */
  dead: number;
  /** The folder of those, a file each: to read, and to remove. */
  deadFolder: string;
  /** When the oldest that waits was left, ISO-8601 UTC. */
  oldest: string | null;
}

export function spoolStatus(path: string): SpoolStatus {
  const names = waiting(path);
  const first = names[0] === undefined ? undefined : read(join(path, names[0]));
  return {
    waiting: names.length + waiting(claims(path)).length,
    dead: waiting(graves(path)).length,
    deadFolder: graves(path),
    oldest: first?.at ?? null,
  };
}

/** `20261120T081500123Z-0123456789ab.turn-ended.json` */
const NAME = /^(\d{8}T\d{9}Z)-[0-9a-f]{12}\.([a-z-]+)\.json$/;

/** What waits, the oldest first. */
export function waitingIntentions(path: string): Intention[] {
  return waiting(path)
    .map((name) => read(join(path, name)))
    .filter((intention) => intention !== undefined);
}

/** The same, with those that somebody is just at. */
export function keptIntentions(path: string): Intention[] {
  return [...waitingIntentions(claims(path)), ...waitingIntentions(path)];
}

/** Names of intentions, the oldest first. */
export function waiting(path: string): string[] {
  return intentionsIn(listFolder(path));
}

/** Temp files, folders and what a person may have put there are none. */
export function intentionsIn(names: readonly string[]): string[] {
  return names.filter((name) => NAME.test(name)).sort();
}

/** The name of the folder of those that were given up. */
export const GRAVES = 'dead';

export function claims(path: string): string {
  return join(path, 'claimed');
}

export function graves(path: string): string {
  return join(path, GRAVES);
}

export function fileOf(path: string, { id, kind }: Pick<Intention, 'id' | 'kind'>): string {
  return join(path, `${id}.${kind}.json`);
}

export function textOf(intention: Intention): string {
  return `${JSON.stringify({ version: VERSION, ...intention })}\n`;
}

/** The intention in a file; undefined when there is none in it, or it has gone. */
export function read(path: string): Intention | undefined {
  const value = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '');
  if (value === undefined) return undefined;
  const { version, id, kind, at, machine, attempts, session, slug, transcript, capture, reason } = value;
  if (version !== VERSION || typeof kind !== 'string' || !Object.hasOwn(KINDS, kind)) return undefined;
  if (typeof id !== 'string' || typeof machine !== 'string' || typeof session !== 'string') return undefined;
  if (typeof at !== 'string' || parseIso(at) === undefined) return undefined;
  return {
    id,
    kind: kind as IntentionKind,
    at,
    machine,
    attempts: typeof attempts === 'number' ? attempts : 0,
    session,
    slug: typeof slug === 'string' ? slug : null,
    transcript: typeof transcript === 'string' ? transcript : null,
    ...(isCapture(capture) ? { capture } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
  };
}

function isCapture(value: unknown): value is Capture {
  return (
    isObject(value) &&
    [value['kind'], value['text'], value['key'], value['prompt'] ?? ''].every(
      (part) => typeof part === 'string',
    )
  );
}
