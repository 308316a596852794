import { basename, join } from 'node:path';

import { readText } from '../platform/files/atomic-file';
import { parseIso, toIso } from '../platform/time/clock';
import { listFolder, lstatOf } from '../platform/files/folder';
import { deadNames } from '../platform/files/graveyard';
import { isObject, parseObject } from '../platform/files/json-object';

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
 * How long each is worth doing, ms, and how often it is tried: a turn's end is spoken of at once or never, and a
 * session's end is in its artifact as well. The words of a person are nowhere else: they are never just removed.
 */
export const KINDS = {
  'turn-ended': { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  'agent-ended': { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  attention: { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  'session-ended': { keepMs: 7 * 24 * HOUR_MS, attempts: 5, words: false },
  'prompt-matched': { keepMs: 60 * 24 * HOUR_MS, attempts: 50, words: true },
} as const;
/** A kind that a newer version leaves is left to it for as long as any, and may hold words. */
const UNKNOWN_KIND = { keepMs: Math.max(...Object.values(KINDS).map(({ keepMs }) => keepMs)), words: true };
/** The other machine does its own; what it has not done after this, it never will. */
const FOREIGN_MS = 24 * HOUR_MS;

const VERSION = 1;
const MAX_BYTES = 64 * 1024;
/** A time further ahead than this was written by a clock that was put back since. */
const AHEAD_MS = HOUR_MS;

/** Words that a clock that was ahead has dated are not expired: they are done now. */
export function isExpired(name: string, nowMs: number): boolean {
  const { at, keepMs, words } = facts(name);
  return at < compact(nowMs - keepMs) || (!words && at > compact(nowMs + AHEAD_MS));
}

/** Has another machine had its time to do it? By a clock that was ahead, too. */
export function isForsaken(name: string, nowMs: number): boolean {
  const { at } = facts(name);
  return at < compact(nowMs - FOREIGN_MS) || at > compact(nowMs + AHEAD_MS);
}

export function hasWords(name: string): boolean {
  return facts(name).words;
}

function facts(name: string): { at: string; keepMs: number; words: boolean } {
  const [, at = '', kind = ''] = NAME.exec(name) ?? [];
  return { at, ...(Object.hasOwn(KINDS, kind) ? KINDS[kind as IntentionKind] : UNKNOWN_KIND) };
}

/** `20261120T081500123Z`: times in their order as texts. */
export function compact(ms: number): string {
  return toIso(ms).replace(/[-:.]/g, '');
}

export interface SpoolStatus {
  waiting: number;
  /** Entries that cannot be read: damaged, or not a regular file. They are skipped. */
  unreadable: number;
  /** Given up, and kept for a while. */
  dead: number;
  /** The folder of those, a file each: to read, and to remove. */
  deadFolder: string;
  /** When the oldest that waits was left, ISO-8601 UTC. */
  oldest: string | null;
}

export function spoolStatus(path: string): SpoolStatus {
  const files = [path, claims(path)].flatMap((folder) => waiting(folder).map((name) => join(folder, name)));
  const found = files.map((file) => ({ file, intention: read(file) }));
  const unreadable = found.filter(({ file, intention }) => intention === undefined && isDamaged(file)).length;
  return {
    waiting: files.length - unreadable,
    unreadable,
    dead: deadNames(graves(path)).length,
    deadFolder: graves(path),
    oldest: found.find(({ intention }) => intention !== undefined)?.intention?.at ?? null,
  };
}

/** `20261120T081500123Z-0123456789ab.turn-ended.json` */
const NAME = /^(\d{8}T\d{9}Z)-[0-9a-f]{12}\.([a-z-]+)\.json$/;

/** How many of those that wait another machine has left. */
export function foreignIntentions(path: string, machineId: string): number {
  return keptIntentions(path).filter(({ machine }) => machine !== machineId).length;
}

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

export function claims(path: string): string {
  return join(path, 'claimed');
}

export function graves(path: string): string {
  return join(path, 'dead');
}

export function fileOf(path: string, { id, kind }: Pick<Intention, 'id' | 'kind'>): string {
  return join(path, `${id}.${kind}.json`);
}

export function textOf(intention: Intention): string {
  return `${JSON.stringify({ version: VERSION, ...intention })}\n`;
}

/** Is there something that no version can read? What a newer version left is left to it. */
function isDamaged(path: string): boolean {
  const [, , kind = ''] = NAME.exec(basename(path)) ?? [];
  if (!Object.hasOwn(KINDS, kind) || lstatOf(path) === undefined) return false;
  const version = objectIn(path)?.['version'];
  return typeof version !== 'number' || version <= VERSION;
}

/** False also for a folder or a link that somebody has put there. */
export function isFile(path: string): boolean {
  return lstatOf(path)?.isFile === true;
}

function objectIn(path: string): Record<string, unknown> | undefined {
  const facts = lstatOf(path);
  if (facts?.isFile !== true || facts.size > MAX_BYTES) return undefined;
  return parseObject(readText(path) ?? '');
}

/** The intention in a file; undefined when there is none in it, or it has gone. */
export function read(path: string): Intention | undefined {
  const value = objectIn(path);
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
