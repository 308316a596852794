import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { StewardError, errnoCode } from '../errors';
import { readText } from './atomic-file';
import type { Clock } from './clock';
import { ensureFolder } from './folder';

export interface LockOptions {
  clock: Clock;
  machineId: string;
  /** How long to wait for a holder that is alive. */
  waitMs: number;
  /** A holder that cannot be judged by its process (another machine) is taken for dead after this long. */
  staleAfterMs?: number;
}

interface Holder {
  pid: number;
  machine: string;
  /** Start time of the process in clock ticks, where the system tells: a pid is used again, this is not. */
  started: string | null;
  /** Wall-clock ms. */
  at: number;
  token: string;
}

const STALE_AFTER_MS = 10 * 60_000;
/** Whoever takes a stale lock over holds the guard for a few file operations only. */
const GUARD_STALE_MS = 5_000;

/**
 * Runs `work` while holding the lock file; one holder at a time, also among processes. A lock whose process
 * is gone is taken over. Waiting longer than `waitMs` is `locked`.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  ensureFolder(dirname(path));
  const token = randomBytes(8).toString('hex');
  const deadline = options.clock.monotonic() + options.waitMs;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    if (tryAcquire(path, token, options)) break;
    if (options.clock.monotonic() >= deadline) throw locked(path);
    await delay(pause);
  }
  try {
    return await work();
  } finally {
    if (readHolder(path)?.token === token) rmSync(path, { force: true });
  }
}

function tryAcquire(path: string, token: string, options: LockOptions): boolean {
  const me: Holder = {
    pid: process.pid,
    machine: options.machineId,
    started: startOf(process.pid),
    at: options.clock.now(),
    token,
  };
  if (createWhole(path, me)) return true;
  if (!isStale(path, options)) return false;
  // Only one may judge and replace: the guard keeps two from taking each other's fresh lock for the stale one.
  const guard = `${path}.takeover`;
  if (!createWhole(guard, me)) {
    const age = ageOf(guard, options.clock.now());
    if (age !== undefined && Math.abs(age) > GUARD_STALE_MS) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (!isStale(path, options)) return false;
    rmSync(path, { force: true });
    return createWhole(path, me);
  } finally {
    rmSync(guard, { force: true });
  }
}

/** Makes the file with its content in one step: whoever sees it sees the whole holder. */
function createWhole(path: string, holder: Holder): boolean {
  const temp = `${path}.${holder.token}`;
  writeFileSync(temp, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(temp, path);
    return true;
  } catch (error) {
    const code = errnoCode(error);
    if (code === 'EEXIST') return false;
    // A file system without hard links: exclusive creation is the next best.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EOPNOTSUPP') throw error;
    return createExclusive(path, holder);
  } finally {
    rmSync(temp, { force: true });
  }
}

function createExclusive(path: string, holder: Holder): boolean {
  try {
    writeFileSync(path, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function isStale(path: string, options: LockOptions): boolean {
  const now = options.clock.now();
  const staleAfter = options.staleAfterMs ?? STALE_AFTER_MS;
  const holder = readHolder(path);
  if (holder === undefined) {
    const age = ageOf(path, now);
    return age !== undefined && Math.abs(age) > GUARD_STALE_MS;
  }
  if (holder.machine === options.machineId) {
    if (!isAlive(holder.pid)) return true;
    const started = startOf(holder.pid);
    if (started !== null && holder.started !== null) return started !== holder.started;
  }
  // A time in the future counts as expired (decisions.md 9).
  return now - holder.at > staleAfter || holder.at - now > staleAfter;
}

function readHolder(path: string): Holder | undefined {
  const text = readText(path, { maxBytes: 4096 });
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Partial<Holder> | null;
    const { pid, machine, started, at, token } = value ?? {};
    if (typeof pid !== 'number' || typeof machine !== 'string' || typeof at !== 'number') return undefined;
    return { pid, machine, started: started ?? null, at, token: String(token) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function ageOf(path: string, nowMs: number): number | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts === undefined ? undefined : nowMs - facts.mtimeMs;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoCode(error) === 'EPERM';
  }
}

/** Field 22 of /proc/PID/stat; null where there is no /proc. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch (error) {
    if (errnoCode(error) === 'ENOENT' || errnoCode(error) === 'EACCES' || errnoCode(error) === 'ESRCH')
      return null;
    throw error;
  }
}

function locked(path: string): StewardError {
  const holder = readHolder(path);
  const who = holder === undefined ? 'another process' : `process ${holder.pid}`;
  return new StewardError('locked', `${who} is at work here (${path}).`, {
    hint: 'Wait for it to finish, then run the command again.',
  });
}
