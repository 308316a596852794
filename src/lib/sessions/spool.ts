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
 * What a hook has left for later, one file each. It holds ids and paths; of what was said only the line in which a
 * person asked for something to be kept, and the whole prompt where that is configured.
 */
export interface Intention {
  id: string;
  kind: IntentionKind;
  /** When it was left, ISO-8601 UTC. */
  at: string;
  /** The machine that left it, and does it. */
  machine: string;
  /** How often its work was begun before. */
  attempts: number;
  session: string;
  slug: string | null;
  /** The assistant's own record of the session; null where it has none. */
  transcript: string | null;
  /** Only of `prompt-matched`. */
  capture?: Capture;
  /** Only of `issue-wanted`: the issue to create; `work` knows its shape. */
  wanted?: Record<string, unknown>;
  /** Why the session waits for a person, a word of the assistant's. */
  reason?: string;
  /** Only of `turn-ended`: how it ended, where the hook's JSON told; else the transcript has to. */
  ended?: EndOfTurn;
}

/** The end of a turn as its hook told it: the line for the person, if there is one, and nothing else that was said. */
export interface EndOfTurn {
  line: string | null;
  isError: boolean;
}

/** What a person asked to be kept, credentials taken out. */
export interface Capture {
  kind: string;
  text: string;
  /** The same for the same words in the same session. */
  key: string;
  /** The whole prompt, where `WORK.CAPTURE_PROMPT` says so; bounded by `wholePrompt`. */
  prompt?: string;
}

export type IntentionKind = keyof typeof KINDS;

const HOUR_MS = 3_600_000;

/**
 * How long each is worth doing, ms, and how often it is tried: a turn's end is told at once or never. The words of a
 * person are nowhere else: they are never just removed.
 */
const KINDS = {
  'turn-ended': { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  'agent-ended': { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  attention: { keepMs: HOUR_MS / 6, attempts: 5, words: false },
  'session-ended': { keepMs: 7 * 24 * HOUR_MS, attempts: 5, words: false },
  'prompt-matched': { keepMs: 60 * 24 * HOUR_MS, attempts: 50, words: true },
  'issue-wanted': { keepMs: 60 * 24 * HOUR_MS, attempts: 50, words: true },
} as const;
/** A newer version's kind is left to it for as long as any, and may hold words. */
const UNKNOWN_KIND = { keepMs: KINDS['prompt-matched'].keepMs, words: true };
/** A time further ahead than this was written by a clock that was put back since. */
const AHEAD_MS = HOUR_MS;

/** Of intentions with words, and of the others. */
export const MAX_WAITING = 1000;
const TEMPS_STALE_MS = 60_000;
const WITHDRAW_WAIT_MS = 15_000;

export interface SpoolDeps {
  clock: Clock;
  machineId: string;
  /** `state/spool` */
  path: string;
  /** Machine-local folder of the lock. */
  locks: string;
}

/**
 * Does the work of a kind. It may throw, and is retried. `later`: what the work needs is missing; it waits as it was.
 * `Refusal`: it is given up at once.
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
    new StewardError('unavailable', `${count} captures wait in ${path} already; no more are taken.`, {
      hint: 'Run "steward work deliver" to see what keeps them from the work repository.',
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
  const { waiting, claimed, unreadable, dead, oldest } = spoolCounts(spoolAt(path));
  return {
    waiting: waiting + claimed - unreadable,
    unreadable,
    dead,
    deadFolder: folderOf({ path }, 'dead'),
    oldest: oldest?.at ?? null,
  };
}

/** How many of those that wait another machine has left. */
export function foreignIntentions(path: string, machineId: string): number {
  return countForeign(spoolAt(path), machineId);
}

/** What waits, the oldest first. */
export function waitingIntentions(path: string): Intention[] {
  return entriesIn(spoolAt(path), 'waiting');
}

/** The same, with those that are being worked on. */
export function keptIntentions(path: string): Intention[] {
  return [...entriesIn(spoolAt(path), 'claimed'), ...waitingIntentions(path)];
}

/** Leaves an intention, durably. Where too many with words wait already, one more is `unavailable`. */
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
  /** Intentions whose work was done. */
  done: number;
  /** Those whose work failed, and will be retried. */
  failed: number;
  /** Those that wait for what their work needs. */
  later: number;
  /** Those that were given up. */
  dead: number;
  /** Another process is draining. */
  busy: boolean;
}

/**
 * Does the work that waits, one process of a machine at a time; a second one leaves it to the first. After a kill the
 * work is begun again: its consumer tells by the id what is done already. Kinds without a consumer wait.
 */
export async function drain(deps: SpoolDeps, consumers: Consumers): Promise<DrainResult> {
  const result: DrainResult = { done: 0, failed: 0, later: 0, dead: 0, busy: false };
  if (listFolder(deps.path).length === 0) return result;
  try {
    await exclusively(deps, 0, async () => {
      result.dead += takeBack(deps) + sweep(deps);
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

/** What a killed process had claimed. The lock is ours, so nobody works on it. Returns how many died. */
function takeBack(deps: SpoolDeps): number {
  const spool = spoolAt(deps.path);
  const outcomes = abandoned(spool, deps.machineId, deps.clock.now()).map(({ name, entry }) => {
    if (entry === undefined) return retry(spool, name, undefined, burial(deps, 'the file cannot be read'));
    const isOurs = entry.machine === deps.machineId;
    const reason = isOurs ? 'its process was ended each time' : foreignReason(entry);
    return retry(spool, name, isOurs ? again(entry) : undefined, burial(deps, reason));
  });
  return outcomes.filter((outcome) => outcome === 'dead').length;
}

function burial({ clock }: Pick<SpoolDeps, 'clock'>, reason: string): { atMs: number; reason: string } {
  return { atMs: clock.now(), reason };
}

function foreignReason({ machine }: Intention): string {
  return `left by another machine (${machine}), which has not done it within a day`;
}

/**
 * Takes this machine's intentions out again, also claimed and dead ones, and returns them. It waits for a process that
 * drains, since nothing may be withdrawn while it is being done; too long is `locked`.
 */
export function withdraw(deps: SpoolDeps, isMeant: (intention: Intention) => boolean): Promise<Intention[]> {
  const spool = spoolAt(deps.path);
  return exclusively(deps, WITHDRAW_WAIT_MS, () => {
    const found = (['waiting', 'claimed', 'dead'] as const).flatMap((place) =>
      entriesIn(spool, place)
        .filter((intention) => intention.machine === deps.machineId && isMeant(intention))
        .map((intention) => ({ place, intention })),
    );
    for (const { place, intention } of found)
      removeFile(join(folderOf(spool, place), spool.nameOf(intention)));
    return Promise.resolve(found.map(({ intention }) => intention));
  });
}

/** Lets what was given up wait again, as left by this machine now. Returns how many there were. */
export function revive(deps: SpoolDeps): Promise<number> {
  const spool = spoolAt(deps.path);
  return exclusively(deps, WITHDRAW_WAIT_MS, () => {
    const dead = entriesIn(spool, 'dead');
    for (const intention of dead) {
      // Its age begins anew; `at` stays, since a time in the words was meant as of then.
      const id = newId(deps.clock.now());
      reviveEntry(spool, spool.nameOf(intention), { ...intention, id, machine: deps.machineId, attempts: 0 });
    }
    return Promise.resolve(dead.length);
  });
}

/**
 * Removes what is too old, and the oldest beyond the number. Words, and what was tried and failed, are buried; the rest
 * is dropped. Returns how many died. A file is read only when it is to go: its name tells time and kind.
 */
export function sweep({ clock, path }: Pick<SpoolDeps, 'clock' | 'path'>): number {
  const spool = spoolAt(path);
  const nowMs = clock.now();
  const names = namesIn(spool, 'waiting');
  const others = names.filter((name) => !limitsOf(name).words);
  const beyond = new Set(others.slice(0, Math.max(0, others.length - MAX_WAITING)));
  let dead = 0;
  for (const name of names) {
    if (!beyond.has(name) && !isExpired(name, nowMs)) continue;
    const file = join(path, name);
    if (lstatOf(file)?.isFile !== true) continue;
    if (!limitsOf(name).words && !readEntry(spool, 'waiting', name)?.attempts) removeFile(file);
    else if (bury(spool, 'waiting', name, burial({ clock }, 'it could not be sent in time'))) dead += 1;
  }
  if (listFolder(path).some((name) => name.endsWith('.tmp'))) sweepTemps(path, TEMPS_STALE_MS, nowMs);
  return dead;
}

/** Words that a clock that was ahead has dated are not expired: they are done now. */
function isExpired(name: string, nowMs: number): boolean {
  const { keepMs, words } = limitsOf(name);
  const at = timeOfName(name);
  return at < nowMs - keepMs || (!words && at > nowMs + AHEAD_MS);
}
