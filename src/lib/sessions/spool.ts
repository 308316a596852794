import { join } from 'node:path';

import { StewardError } from '../errors';
import { sweepTemps } from '../platform/files/atomic-file';
import { listFolder, lstatOf, removeFile } from '../platform/files/folder';
import { pruneDead } from '../platform/files/dead-letters';
import { isObject } from '../platform/files/json-object';
import { randomName } from '../platform/files/short-hash';
import {
  abandoned,
  attempt,
  bury,
  compactTime,
  countForeign,
  entriesIn,
  folderOf,
  isOrphaned,
  namesIn,
  put,
  readEntry,
  retry,
  revive as reviveEntry,
  capacityCheck,
  spoolCounts,
  timeOfName,
  type Codec,
  type Spool,
} from '../platform/files/spool';
import { parseIso, toIso, type Clock } from '../platform/time/clock';

/**
 * A task queued by a hook, one file per task. Contains ids, paths and the matching line of a prompt, or the
 * whole prompt if so configured.
 */
export interface Intention {
  id: string;
  kind: IntentionKind;
  /** When the task was queued, ISO 8601 in UTC. */
  at: string;
  /** The machine that queued the task and will run it. */
  machine: string;
  /** Number of previous attempts. */
  attempts: number;
  session: string;
  slug: string | null;
  /** Path of the session's transcript, or null. */
  transcript: string | null;
  /** The request in the prompt; only for `prompt-matched`. */
  capture?: Capture;
  /** The issue to create, in a format defined by `work`; only for `issue-wanted`. */
  wanted?: Record<string, unknown>;
  /** The assistant's keyword for why the session is waiting for you. */
  reason?: string;
  /**
   * How the turn ended, as reported by the hook; only for `turn-ended`. If absent, the transcript is read.
   */
  ended?: EndOfTurn;
}

/** How a turn ended. Contains only the line to show, if any. */
export interface EndOfTurn {
  line: string | null;
  isError: boolean;
}

/** A request in a prompt, without credentials. */
export interface Capture {
  kind: string;
  text: string;
  /** The request's key, equal for the same words in the same session. */
  key: string;
  /** The whole prompt, if `WORK.CAPTURE_PROMPT` is `whole`. Limited by `wholePrompt`. */
  prompt?: string;
}

export type IntentionKind = keyof typeof KINDS;

const HOUR_MS = 3_600_000;

/**
 * The lifetime in ms and the maximum attempts of each kind. Notifications soon become useless. Text that you
 * typed exists nowhere else, so it is never simply deleted.
 */
const KINDS = {
  'turn-ended': { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  'agent-ended': { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  attention: { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  'session-ended': { keepMs: 7 * 24 * HOUR_MS, attempts: 5, words: false },
  'prompt-matched': { keepMs: 60 * 24 * HOUR_MS, attempts: 50, words: true },
  'issue-wanted': { keepMs: 60 * 24 * HOUR_MS, attempts: 50, words: true },
} as const;
/** Kinds from a newer version have the longest lifetime, since they may contain text that you typed. */
const UNKNOWN_KIND = { keepMs: KINDS['prompt-matched'].keepMs, words: true };
/** A time further in the future than this means that the clock was set back. */
const AHEAD_MS = HOUR_MS;

/** The maximum number of queued tasks. Tasks with text that you typed are counted separately. */
export const MAX_WAITING = 1000;
const TEMPS_STALE_MS = 60_000;
const WITHDRAW_WAIT_MS = 15_000;

export interface SpoolDeps {
  clock: Clock;
  machineId: string;
  /** `state/spool` */
  path: string;
  /** Machine-local folder for the lock. */
  locks: string;
}

/**
 * Runs tasks of one kind. Throw to retry a task, return `later` to leave it in the queue, or return a
 * `Refusal` to fail it permanently.
 */
export type Consumer = (intention: Intention) => unknown;
export interface Refusal {
  refused: string;
}
export type Consumers = Readonly<Partial<Record<IntentionKind, Consumer>>>;

/** `20261120T081500123Z-0123456789ab.turn-ended.json` */
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
      hint: 'Run "steward work deliver" to send them or to see why that fails.',
    }),
};

function spoolAt(path: string): Spool<Intention> {
  return { path, ...CODEC };
}

function limitsOf(name: string): { keepMs: number; words: boolean } {
  const kind = NAME.exec(name)?.[1] ?? '';
  return isKind(kind) ? KINDS[kind] : UNKNOWN_KIND;
}

function isKind(kind: string): kind is IntentionKind {
  return Object.hasOwn(KINDS, kind);
}

function parse(value: Record<string, unknown>): Intention | 'newer' | undefined {
  const { id, kind, at, machine, attempts, session, slug, transcript, capture, wanted, reason, ended } =
    value;
  if (typeof kind !== 'string' || typeof id !== 'string' || typeof session !== 'string') return undefined;
  if (!isKind(kind)) return 'newer';
  if (typeof machine !== 'string' || typeof at !== 'string' || parseIso(at) === undefined) return undefined;
  return {
    id,
    kind,
    at,
    machine,
    attempts: typeof attempts === 'number' ? attempts : 0,
    session,
    slug: typeof slug === 'string' ? slug : null,
    transcript: typeof transcript === 'string' ? transcript : null,
    ...(isCapture(capture) ? { capture } : {}),
    ...(isObject(wanted) ? { wanted } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(isObject(ended) ? { ended: endOf(ended) } : {}),
  };
}

function endOf({ line, isError }: Record<string, unknown>): EndOfTurn {
  return { line: typeof line === 'string' ? line : null, isError: isError === true };
}

function isCapture(value: unknown): value is Capture {
  const { kind, text, key, prompt = '' } = isObject(value) ? value : {};
  return [kind, text, key, prompt].every((part) => typeof part === 'string');
}

export interface SpoolStatus {
  waiting: number;
  /** Number of entries that are skipped because they are damaged or aren't regular files. */
  unreadable: number;
  /** Number of tasks that failed permanently and have not been deleted yet. */
  dead: number;
  /** Folder with the tasks that failed permanently. */
  deadFolder: string;
  /** When the oldest waiting task was queued, ISO 8601 in UTC. */
  oldest: string | null;
}

export function spoolStatus(path: string): SpoolStatus {
  const { waiting, claimed, unreadable, dead, oldest } = spoolCounts(spoolAt(path));
  return {
    waiting: waiting + claimed - unreadable,
    unreadable,
    dead,
    deadFolder: folderOf({ path }, 'dead'),
    oldest: oldest?.at ?? null,
  };
}

/** Returns the number of waiting tasks from other machines. */
export function foreignIntentions(path: string, machineId: string): number {
  return countForeign(spoolAt(path), machineId);
}

/** Returns the waiting tasks, oldest first. */
export function waitingIntentions(path: string): Intention[] {
  return entriesIn(spoolAt(path), 'waiting');
}

/** Returns the waiting tasks and those in progress. */
export function keptIntentions(path: string): Intention[] {
  return [...entriesIn(spoolAt(path), 'claimed'), ...waitingIntentions(path)];
}

/** Queues a task durably. Throws `unavailable` if too many tasks with text are waiting. */
export function leave(
  { clock, machineId, path }: Pick<SpoolDeps, 'clock' | 'machineId' | 'path'>,
  what: Pick<
    Intention,
    'kind' | 'session' | 'slug' | 'transcript' | 'capture' | 'wanted' | 'reason' | 'ended'
  >,
): Intention {
  const spool = spoolAt(path);
  const nowMs = clock.now();
  const intention = { id: newId(nowMs), ...what, at: toIso(nowMs), machine: machineId, attempts: 0 };
  if (KINDS[what.kind].words) capacityCheck(spool, clock)(1);
  put(spool, intention);
  return intention;
}

function newId(nowMs: number): string {
  return `${compactTime(nowMs)}-${randomName(12)}`;
}

export interface DrainResult {
  /** Finished tasks. */
  done: number;
  /** Failed tasks that will be retried. */
  failed: number;
  /** Tasks still waiting because something is missing. */
  later: number;
  /** Tasks that failed permanently. */
  dead: number;
  /** Whether another process is running the queue. */
  busy: boolean;
}

/**
 * Runs the waiting tasks, in one process per machine. Interrupted tasks run again after a crash; consumers
 * use the id to detect work that is already done. Tasks without a consumer keep waiting.
 */
export async function drain(deps: SpoolDeps, consumers: Consumers): Promise<DrainResult> {
  const result: DrainResult = { done: 0, failed: 0, later: 0, dead: 0, busy: false };
  if (listFolder(deps.path).length === 0) return result;
  try {
    await exclusively(deps, 0, async () => {
      result.dead += requeueAbandoned(deps) + sweep(deps);
      pruneDead(folderOf(deps, 'dead'), deps.clock.now());
      for (const name of namesIn(spoolAt(deps.path), 'waiting')) await work(deps, consumers, name, result);
    });
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'locked')) throw error;
    result.busy = true;
  }
  return result;
}

async function exclusively<T>(deps: SpoolDeps, waitMs: number, run: () => Promise<T>): Promise<T> {
  const { withLock } = await import('../platform/files/lock');
  const { clock, machineId } = deps;
  return withLock(join(deps.locks, 'spool.lock'), { clock, machineId, waitMs }, run);
}

async function work(deps: SpoolDeps, consumers: Consumers, name: string, result: DrainResult): Promise<void> {
  const spool = spoolAt(deps.path);
  const intention = readEntry(spool, 'waiting', name);
  if (intention === undefined) return;
  if (intention.machine !== deps.machineId) {
    if (!isOrphaned(spool, name, deps.clock.now())) return;
    if (bury(spool, 'waiting', name, burial(deps, foreignReason(intention)))) result.dead += 1;
    return;
  }
  const run = consumers[intention.kind];
  if (run === undefined) return;
  const outcome = await attempt(spool, name, intention, { clock: deps.clock, run, again });
  if (outcome !== 'gone') result[outcome] += 1;
}

function again(intention: Intention): Intention | undefined {
  const attempts = intention.attempts + 1;
  return attempts >= KINDS[intention.kind].attempts ? undefined : { ...intention, attempts };
}

/** Requeues tasks claimed by a killed process and returns how many failed permanently. Requires the lock. */
function requeueAbandoned(deps: SpoolDeps): number {
  const spool = spoolAt(deps.path);
  const outcomes = abandoned(spool, deps.machineId, deps.clock.now()).map(({ name, entry }) => {
    if (entry === undefined) return retry(spool, name, undefined, burial(deps, 'the file cannot be read'));
    const isOurs = entry.machine === deps.machineId;
    const reason = isOurs ? 'the process was killed on every attempt' : foreignReason(entry);
    return retry(spool, name, isOurs ? again(entry) : undefined, burial(deps, reason));
  });
  return outcomes.filter((outcome) => outcome === 'dead').length;
}

function burial({ clock }: Pick<SpoolDeps, 'clock'>, reason: string): { atMs: number; reason: string } {
  return { atMs: clock.now(), reason };
}

function foreignReason({ machine }: Intention): string {
  return `queued by another machine (${machine}), which did not send it within a day`;
}

/**
 * Removes and returns this machine's matching tasks, including claimed and dead ones. Waits if a process is
 * running the queue; throws `locked` if that takes too long.
 */
export function withdraw(deps: SpoolDeps, matches: (intention: Intention) => boolean): Promise<Intention[]> {
  const spool = spoolAt(deps.path);
  return exclusively(deps, WITHDRAW_WAIT_MS, () => {
    const found = (['waiting', 'claimed', 'dead'] as const).flatMap((place) =>
      entriesIn(spool, place)
        .filter((intention) => intention.machine === deps.machineId && matches(intention))
        .map((intention) => ({ place, intention })),
    );
    for (const { place, intention } of found)
      removeFile(join(folderOf(spool, place), spool.nameOf(intention)));
    return Promise.resolve(found.map(({ intention }) => intention));
  });
}

/** Requeues this machine's dead tasks and returns how many there were. */
export function revive(deps: SpoolDeps): Promise<number> {
  const spool = spoolAt(deps.path);
  return exclusively(deps, WITHDRAW_WAIT_MS, () => {
    const dead = entriesIn(spool, 'dead');
    for (const intention of dead) {
      // Restart the task's age, but not `at`: times in the text are relative to it.
      const id = newId(deps.clock.now());
      reviveEntry(spool, spool.nameOf(intention), { ...intention, id, machine: deps.machineId, attempts: 0 });
    }
    return Promise.resolve(dead.length);
  });
}

/**
 * Deletes expired tasks and the oldest ones above the limit. Moves those with typed text or failed attempts
 * to the dead folder instead, and returns their number.
 */
export function sweep({ clock, path }: Pick<SpoolDeps, 'clock' | 'path'>): number {
  const spool = spoolAt(path);
  const nowMs = clock.now();
  const names = namesIn(spool, 'waiting');
  const withoutText = names.filter((name) => !limitsOf(name).words);
  const beyond = new Set(withoutText.slice(0, Math.max(0, withoutText.length - MAX_WAITING)));
  let dead = 0;
  for (const name of names) {
    if (!beyond.has(name) && !isExpired(name, nowMs)) continue;
    const file = join(path, name);
    if (lstatOf(file)?.isFile !== true) continue;
    if (!limitsOf(name).words && !readEntry(spool, 'waiting', name)?.attempts) removeFile(file);
    else if (bury(spool, 'waiting', name, burial({ clock }, 'expired before it was sent'))) dead += 1;
  }
  if (listFolder(path).some((name) => name.endsWith('.tmp'))) sweepTemps(path, TEMPS_STALE_MS, nowMs);
  return dead;
}

/**
 * A task also expires if its time is in the future (the clock was set back), unless it contains text that you
 * typed.
 */
function isExpired(name: string, nowMs: number): boolean {
  const { keepMs, words } = limitsOf(name);
  const at = timeOfName(name);
  return at < nowMs - keepMs || (!words && at > nowMs + AHEAD_MS);
}
