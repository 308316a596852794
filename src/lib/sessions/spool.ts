import { join } from 'node:path';

import { StewardError, errnoCode } from '../errors';
import { createFile, readText, renameOver, sweepTemps } from '../platform/atomic-file';
import { parseIso, toIso, type Clock } from '../platform/clock';
import { ensureFolder, listFolder, removeFile } from '../platform/folder';
import { isObject, parseObject } from '../platform/json-object';
import { randomName } from '../platform/short-hash';

/**
 * Something that a hook has left for later, one file. It holds ids and paths, and nothing that was said but the one
 * line in which a person asked for something to be kept.
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
}

export type IntentionKind = keyof typeof KINDS;

const HOUR_MS = 3_600_000;

/**
 * How long each is worth doing, ms, and how often it is tried: a turn's end is spoken of at once or never, a
 * session's end is not lost, and what a person asked for in words stands nowhere else.
 */
const KINDS = {
  'turn-ended': { keepMs: HOUR_MS / 6, attempts: 5 },
  'agent-ended': { keepMs: HOUR_MS / 6, attempts: 5 },
  attention: { keepMs: HOUR_MS / 6, attempts: 5 },
  'session-ended': { keepMs: 7 * 24 * HOUR_MS, attempts: 5 },
  'prompt-matched': { keepMs: 60 * 24 * HOUR_MS, attempts: 50 },
} as const;
/** A kind that a newer version leaves is left to it for as long as any. */
const LONGEST_MS = Math.max(...Object.values(KINDS).map(({ keepMs }) => keepMs));

/**
 * What does the work of a kind. It may throw: it is asked again, and given up after some times. `later`: it could
 * not be begun, for a reason that is not its own; it waits as it was.
 */
export type Consumer = (intention: Intention) => unknown;
export type Consumers = Readonly<Partial<Record<IntentionKind, Consumer>>>;

export interface SpoolDeps {
  clock: Clock;
  machineId: string;
  /** `state/spool` */
  path: string;
  /** Machine-local folder of the lock. */
  locks: string;
}

const VERSION = 1;
const MAX_WAITING = 1000;
const MAX_DEAD = 200;
const MAX_BYTES = 64 * 1024;
const GRAVES = 'dead';
const TEMPS_STALE_MS = 60_000;
/** A time further ahead than this was written by a clock that was put back since. */
const AHEAD_MS = HOUR_MS;

/** Leaves an intention, durably. */
export function leave(
  deps: Pick<SpoolDeps, 'clock' | 'machineId' | 'path'>,
  what: Pick<Intention, 'kind' | 'session' | 'slug' | 'transcript' | 'capture' | 'reason'>,
): Intention {
  const nowMs = deps.clock.now();
  const id = `${compact(nowMs)}-${randomName(12)}`;
  const intention: Intention = { id, ...what, at: toIso(nowMs), machine: deps.machineId, attempts: 0 };
  ensureFolder(deps.path);
  if (!createFile(fileOf(deps.path, intention), textOf(intention))) {
    throw new StewardError('unavailable', `There is a ${id} in ${deps.path} already.`, {
      hint: 'Try again.',
    });
  }
  return intention;
}

export interface DrainResult {
  /** Intentions whose work was done. */
  done: number;
  /** Those whose work failed, and will be tried again. */
  failed: number;
  /** Those that wait for what their work needs. */
  later: number;
  /** Those that were given up. */
  dead: number;
  /** Somebody else is at it. */
  busy: boolean;
}

/**
 * Does the work that waits, one process of a machine at a time; whoever comes second leaves it to the first.
 * An intention is claimed by a rename before its work begins and removed when it has succeeded, so it is done
 * once. A process that is killed in the midst of it leaves the claim: then the work is begun again, and its
 * consumer is told by `attempts`, and can tell by `id` what is done already. Kinds without a consumer wait.
 */
export async function drain(deps: SpoolDeps, consumers: Consumers): Promise<DrainResult> {
  const result: DrainResult = { done: 0, failed: 0, later: 0, dead: 0, busy: false };
  if (listFolder(deps.path).length === 0) return result;
  const { withLock } = await import('../platform/lock');
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: 0 };
  try {
    await withLock(join(deps.locks, 'spool.lock'), lock, async () => {
      takeBack(deps);
      result.dead += sweep(deps);
      for (const name of waiting(deps.path)) await attempt(deps, consumers, name, result);
    });
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'locked')) throw error;
    result.busy = true;
  }
  return result;
}

async function attempt(
  deps: SpoolDeps,
  consumers: Consumers,
  name: string,
  result: DrainResult,
): Promise<void> {
  const from = join(deps.path, name);
  const intention = read(from);
  const consume = intention === undefined ? undefined : consumers[intention.kind];
  if (intention === undefined || consume === undefined || intention.machine !== deps.machineId) return;
  const claim = join(claims(deps.path), name);
  ensureFolder(claims(deps.path));
  if (!claimed(from, claim)) return;
  try {
    if ((await consume(intention)) === 'later') {
      renameOver(claim, from);
      result.later += 1;
      return;
    }
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'canceled') {
      renameOver(claim, from);
      throw error;
    }
    if (again(deps.path, intention, claim)) result.failed += 1;
    else result.dead += 1;
    return;
  }
  removeFile(claim);
  result.done += 1;
}

/** False when it has gone: a hook that keeps the bounds may have taken it away. */
function claimed(from: string, claim: string): boolean {
  try {
    renameOver(from, claim);
    return true;
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Puts a claimed intention back for another attempt; false when it was the last and it is dead. */
function again(path: string, intention: Intention, claim: string): boolean {
  const next = { ...intention, attempts: intention.attempts + 1 };
  const isLast = next.attempts >= KINDS[intention.kind].attempts;
  const folder = isLast ? graves(path) : path;
  ensureFolder(folder);
  // First the new file, then the claim's end: a kill in between leaves both, and the claim comes back as the same.
  createFile(fileOf(folder, intention), textOf(next));
  removeFile(claim);
  return !isLast;
}

const WITHDRAW_WAIT_MS = 15_000;

/**
 * Takes intentions out again, also those that a killed process had claimed, and gives them. Whoever is at the spool
 * is waited for, since nothing may be withdrawn that is just being done; too long is `locked`.
 */
export async function withdraw(
  deps: SpoolDeps,
  isMeant: (intention: Intention) => boolean,
): Promise<Intention[]> {
  const { withLock } = await import('../platform/lock');
  const { clock, machineId } = deps;
  const lock = { clock, machineId, waitMs: WITHDRAW_WAIT_MS };
  return withLock(join(deps.locks, 'spool.lock'), lock, () => {
    const found: Intention[] = [];
    for (const folder of [deps.path, claims(deps.path)]) {
      for (const name of waiting(folder)) {
        const intention = read(join(folder, name));
        if (intention === undefined || intention.machine !== machineId || !isMeant(intention)) continue;
        removeFile(join(folder, name));
        found.push(intention);
      }
    }
    return Promise.resolve(found);
  });
}

/** What a killed process had claimed. The lock is ours, so nobody of this machine is at it. */
function takeBack(deps: SpoolDeps): void {
  for (const name of waiting(claims(deps.path))) {
    const claim = join(claims(deps.path), name);
    const intention = read(claim);
    if (intention === undefined) removeFile(claim);
    else if (intention.machine === deps.machineId) again(deps.path, intention, claim);
  }
}

/**
 * Keeps the spool in its bounds: what is too old goes, and the oldest beyond the number. What was tried, and failed,
 * is kept among the dead, to be told of; what nobody has begun, since no part of this version does such work, is
 * dropped without a word. Returns how many died. A file is read only when it is to go: its name tells time and kind.
 */
export function sweep(deps: Pick<SpoolDeps, 'clock' | 'path'>): number {
  const nowMs = deps.clock.now();
  const listed = listFolder(deps.path);
  const names = intentionsIn(listed);
  let dead = 0;
  names.forEach((name, index) => {
    const isBeyond = index < names.length - MAX_WAITING;
    if (!isBeyond && !isExpired(name, nowMs)) return;
    const path = join(deps.path, name);
    if ((read(path)?.attempts ?? 0) === 0) {
      removeFile(path);
      return;
    }
    ensureFolder(graves(deps.path));
    if (claimed(path, join(graves(deps.path), name))) dead += 1;
  });
  if (listed.some((name) => name.endsWith('.tmp'))) sweepTemps(deps.path, TEMPS_STALE_MS, nowMs);
  if (listed.includes(GRAVES)) {
    const buried = waiting(graves(deps.path));
    for (const name of buried.slice(0, Math.max(0, buried.length - MAX_DEAD))) {
      removeFile(join(graves(deps.path), name));
    }
  }
  return dead;
}

function isExpired(name: string, nowMs: number): boolean {
  const [, at = '', kind = ''] = NAME.exec(name) ?? [];
  const keepMs = Object.hasOwn(KINDS, kind) ? KINDS[kind as IntentionKind].keepMs : LONGEST_MS;
  return at < compact(nowMs - keepMs) || at > compact(nowMs + AHEAD_MS);
}

/** `20261120T081500123Z`: times in their order as texts. */
function compact(ms: number): string {
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
function waiting(path: string): string[] {
  return intentionsIn(listFolder(path));
}

/** Temp files, folders and what a person may have put there are none. */
function intentionsIn(names: readonly string[]): string[] {
  return names.filter((name) => NAME.test(name)).sort();
}

function claims(path: string): string {
  return join(path, 'claimed');
}

function graves(path: string): string {
  return join(path, GRAVES);
}

function fileOf(path: string, { id, kind }: Pick<Intention, 'id' | 'kind'>): string {
  return join(path, `${id}.${kind}.json`);
}

function textOf(intention: Intention): string {
  return `${JSON.stringify({ version: VERSION, ...intention })}\n`;
}

/** The intention in a file; undefined when there is none in it, or it has gone. */
function read(path: string): Intention | undefined {
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
    isObject(value) && [value['kind'], value['text'], value['key']].every((part) => typeof part === 'string')
  );
}
