import { lstatSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { StewardError, errnoCode } from '../../errors';
import { formerMachineIds } from './machine';
import { factsOf, pidScope } from '../process/own-terminal';
import { spawnSync } from '../process/spawn';
import type { Clock } from '../time/clock';
import { linkNew, readText, renameOver, sweepTemps, tempOf } from './atomic-file';
import { ensureFolder } from './folder';
import { parseObject } from './json-object';
import { randomName, shortHash } from './short-hash';

/** The content of a lock file. */
export interface Holder {
  pid: number;
  machine: string;
  /** Boot id and pid namespace (Linux), within which a pid is unique. */
  boot: string | null;
  namespace: string | null;
  /** Process start time in clock ticks since boot (Linux), used to detect a reused pid. */
  started: string | null;
  /** The time at which the holder took the lock. */
  at: number;
  /** Random id of this holder (16 hex digits). */
  token: string;
}

interface GoneOptions {
  machineId: string;
  nowMs: number;
  /** If the holder's process can't be checked, the holder counts as gone this long after its last refresh. */
  staleAfterMs: number;
  /** Time of the holder's last refresh. Default: the time at which it took the lock. */
  lastSignMs?: number;
  /**
   * Returns a process's start time (ms), or undefined if unknown. Called if the lock file has no start time.
   */
  processStart: (pid: number) => number | undefined;
}

export interface LockOptions {
  clock: Clock;
  machineId: string;
  /** How long to wait for another holder to release the lock. */
  waitMs: number;
  /**
   * If the holder's process can't be checked, for example because it runs on another machine, the lock counts
   * as stale this long after its last refresh.
   */
  staleAfterMs?: number;
  processStart?: (pid: number) => number | undefined;
  /**
   * Returns whether the holder of an apparently stale lock still responds. If so, the holder keeps the lock.
   */
  answers?: () => Promise<boolean>;
}

const STALE_AFTER_MS = 10 * 60_000;
/**
 * Age at which an invalid lock file counts as stale. Only a machine crash or a manual edit leaves an invalid
 * lock file.
 */
const UNREADABLE_STALE_MS = 5_000;
const TEMPS_STALE_MS = 60_000;
const LONGEST_PAUSE_MS = 50;
/** How often a holder updates the modification time of its lock. */
const REFRESH_MS = 30_000;
/**
 * If a process started more than this long after the lock was taken, the process has reused the holder's pid.
 */
const REUSED_AFTER_MS = 60_000;

type Work<T> = () => T | Promise<T>;

/** Runs `work` while holding a lock file; throws `locked` after `waitMs`. */
export async function withLock<T>(path: string, options: LockOptions, work: Work<T>): Promise<T> {
  const done = await ifFree(path, options, work);
  if (done === undefined) throw lockedError(path);
  return done.value;
}

/** Runs `work` under the lock with this name in the machine's own folder. */
export function withMachineLock<T>(
  machine: { area: { machine: string } } & Pick<LockOptions, 'clock' | 'machineId'>,
  name: string,
  waitMs: number,
  work: Work<T>,
): Promise<T> {
  const { area, clock, machineId } = machine;
  return withLock(join(area.machine, `${name}.lock`), { clock, machineId, waitMs }, work);
}

/**
 * Runs `work` while holding a lock file, or returns undefined if another process still holds it after `waitMs`.
 * If several processes find a stale lock, only one of them takes over the lock.
 */
export async function ifFree<T>(path: string, options: LockOptions, work: Work<T>) {
  ensureFolder(dirname(path));
  const token = randomName(16);
  const { clock, machineId } = options;
  const deadline = clock.monotonic() + options.waitMs;
  const isStale = staleness(options);
  for (let longest = 2; ; longest = Math.min(longest * 2, LONGEST_PAUSE_MS)) {
    const found = readLock(path);
    if (found === undefined || isStale(found)) {
      if (found !== undefined && (await options.answers?.()) === true) return undefined;
      const me = holderOf(process.pid, machineId, clock.now(), token);
      if (acquire(path, found, me, isStale)) break;
    }
    const leftMs = deadline - clock.monotonic();
    if (leftMs <= 0) return undefined;
    await delay(Math.min(leftMs, 1 + Math.random() * longest));
  }
  const refreshing = setInterval(() => refresh(path, token, clock.now()), REFRESH_MS).unref();
  try {
    return { value: await work() };
  } finally {
    clearInterval(refreshing);
    if (readLock(path)?.token === token) rmSync(path, { force: true });
  }
}

/** Returns whether a lock is held by a process that is running, or may be running on another machine. */
export function isLockHeld(path: string, options: Pick<LockOptions, 'clock' | 'machineId'>): boolean {
  const found = readLock(path);
  return found !== undefined && !staleness(options)(found);
}

function staleness(options: Omit<LockOptions, 'waitMs'>): (found: Found) => boolean {
  const { clock, machineId, staleAfterMs = STALE_AFTER_MS } = options;
  // Cache start times, because looking up a start time runs a program.
  const starts = new Map<number, number | undefined>();
  const startOf = (pid: number): number | undefined => {
    if (!starts.has(pid)) starts.set(pid, (options.processStart ?? processStart)(pid));
    return starts.get(pid);
  };
  return ({ holder, mtimeMs }) => {
    const nowMs = clock.now();
    if (holder === undefined) return Math.abs(nowMs - mtimeMs) > UNREADABLE_STALE_MS;
    return isGone(holder, { machineId, nowMs, staleAfterMs, lastSignMs: mtimeMs, processStart: startOf });
  };
}

/** Updates the modification time of the lock. Doesn't rewrite the file, because that could undo a takeover. */
function refresh(path: string, token: string, nowMs: number): void {
  try {
    if (readLock(path)?.token === token) utimesSync(path, nowMs / 1000, nowMs / 1000);
  } catch (error) {
    // A failed refresh is harmless: the lock only looks older than it is.
    if (errnoCode(error) === undefined && !(error instanceof StewardError)) throw error;
  }
}

/** Takes a free or stale lock; returns false if another process took it first. */
function acquire(path: string, stale: Found | undefined, me: Holder, isStale: (found: Found) => boolean) {
  const temp = tempOf(path);
  try {
    writeFileSync(temp, JSON.stringify(me), { mode: 0o600, flag: 'wx' });
    return stale === undefined ? linkNew(temp, path) : takeOver(path, stale, temp, isStale, me.at);
  } finally {
    rmSync(temp, { force: true });
  }
}

function takeOver(
  path: string,
  stale: Found,
  temp: string,
  isStale: (found: Found) => boolean,
  nowMs: number,
): boolean {
  let claim = claimOf(path, stale.token);
  while (!linkNew(temp, claim)) {
    const claimer = readLock(claim);
    if (claimer === undefined || !isStale(claimer)) return false;
    claim = claimOf(path, claimer.token);
  }
  let isTaken = false;
  try {
    // By now, another process may have taken over the lock and removed the claims.
    if (readLock(path)?.token !== stale.token) return false;
    renameOver(temp, path);
    isTaken = true;
    return true;
  } finally {
    if (isTaken) sweep(path, nowMs);
    else rmSync(claim, { force: true });
  }
}

function sweep(path: string, nowMs: number): void {
  const folder = dirname(path);
  const prefix = basename(claimOf(path, ''));
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix)) rmSync(join(folder, name), { force: true });
  }
  sweepTemps(folder, TEMPS_STALE_MS, nowMs);
}

function claimOf(path: string, token: string): string {
  return `${path}.after-${token}`;
}

function readLock(path: string) {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  const text = readText(path, { maxBytes: 4096 });
  if (facts === undefined || text === undefined) return undefined;
  const holder = parseHolder(text);
  return { token: holder?.token ?? shortHash(`${facts.ino} ${text}`), holder, mtimeMs: facts.mtimeMs };
}

type Found = NonNullable<ReturnType<typeof readLock>>;

function lockedError(path: string): StewardError {
  const holder = readLock(path)?.holder;
  const owner = holder === undefined ? 'Another process' : `Process ${holder.pid}`;
  return new StewardError('locked', `${owner} holds the lock ${path}.`, {
    hint: 'Wait for it to finish, then rerun the command.',
  });
}

/** Returns the contents of a lock file for a running process. */
export function holderOf(pid: number, machineId: string, nowMs: number, token: string): Holder {
  const { boot, namespace } = pidScope();
  const started = factsOf(pid)?.started ?? null;
  return { pid, machine: machineId, boot, namespace, started, at: nowMs, token };
}

/** Parses the text of a lock file; returns undefined if it is invalid. */
export function parseHolder(text: string): Holder | undefined {
  const { pid, machine, boot, namespace, started, at, token } = parseObject(text) ?? {};
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (typeof machine !== 'string' || typeof at !== 'number') return undefined;
  if (typeof token !== 'string' || !/^[0-9a-f]{16}$/.test(token)) return undefined;
  const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const scopes = { boot: textOrNull(boot), namespace: textOrNull(namespace), started: textOrNull(started) };
  return { pid, machine, ...scopes, at, token };
}

/**
 * Returns whether the holder is gone, based on its process if possible, or otherwise on the time of its last
 * refresh. A refresh time in the future counts as expired.
 */
export function isGone(holder: Holder, options: GoneOptions): boolean {
  // A machine that got a new id may have been killed before it released its locks.
  if (holder.machine === options.machineId || formerMachineIds().includes(holder.machine)) {
    const { boot, namespace } = pidScope();
    if (holder.boot !== null && boot !== null && holder.boot !== boot) return true;
    if (holder.namespace === namespace) return isProcessGone(holder, options);
  }
  return Math.abs(options.nowMs - (options.lastSignMs ?? holder.at)) > options.staleAfterMs;
}

function isProcessGone({ pid, started, at }: Holder, options: GoneOptions): boolean {
  if (!isAlive(pid)) return true;
  const facts = factsOf(pid);
  // Counts zombies as ended. In a container, the parent may never reap a killed process.
  if (facts?.isDead === true) return true;
  if (facts !== undefined && started !== null) return facts.started !== started;
  return (options.processStart(pid) ?? 0) > at + REUSED_AFTER_MS;
}

/** Returns whether a process with this pid exists, even as a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoCode(error) === 'EPERM';
  }
}

/** Returns a process's start time (ms) according to ps or PowerShell, or undefined if unknown. */
export function processStart(pid: number): number | undefined {
  const isWindows = process.platform === 'win32';
  const script = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`;
  const [file, args] = isWindows
    ? (['powershell', ['-NoProfile', '-Command', script]] as const)
    : (['ps', ['-o', 'lstart=', '-p', String(pid)]] as const);
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const result = spawnSync(file, args, { env, encoding: 'utf8', timeout: 5000, windowsHide: true });
  if (result.status !== 0) return undefined;
  const text = result.stdout.trim();
  const ms = Date.parse(isWindows ? text : `${text} UTC`);
  return Number.isNaN(ms) ? undefined : ms;
}
