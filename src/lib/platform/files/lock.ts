import { lstatSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { errnoCode, StewardError } from '../../errors';
import { linkNew, readText, renameOver, sweepTemps, tempOf } from './atomic-file';
import type { Clock } from '../time/clock';
import { ensureFolder } from './folder';
import { isGone, parseHolder, processStart, thisHolder, type Holder } from './lock-holder';
import { randomName } from './short-hash';

export { isAlive } from './lock-holder';

export interface LockOptions {
  clock: Clock;
  machineId: string;
  /** How long to wait for a holder that is alive. */
  waitMs: number;
  /** A holder that cannot be judged by its process (another machine) is taken for dead after this long. */
  staleAfterMs?: number;
  /** Wall-clock ms at which a process started; asked for where the lock file does not tell. */
  processStart?: (pid: number) => number | undefined;
  /** Does the holder answer, though it looks gone? Then its lock is not taken over. */
  answers?: () => Promise<boolean>;
}

/** What stands at the path of a lock or a claim. A text that is no holder has a name and an age only. */
interface Found {
  token: string;
  holder: Holder | undefined;
  mtimeMs: number;
}

const STALE_AFTER_MS = 10 * 60_000;
/** A lock file is made whole; one that cannot be read comes of a crash of the machine, or of a person. */
const UNREADABLE_STALE_MS = 5_000;
const TEMPS_STALE_MS = 60_000;
const LONGEST_PAUSE_MS = 50;
/** How often a holder sets the date of its lock, its sign of life for those who cannot see its process. */
const REFRESH_MS = 30_000;

/**
 * Runs `work` while holding the lock file; one holder at a time, also among processes. A lock whose process
 * is gone is taken over. Waiting longer than `waitMs` is `locked`. A held lock is refreshed, so that a holder in
 * another pid namespace is seen to be alive.
 *
 * A lock is taken by giving a second name to a file that is complete already, which only one can. It is
 * taken over by whoever first makes the claim that bears the gone holder's token: nobody else may replace
 * that lock, and should the claimer go too, the claim that bears the claimer's token decides. So two never
 * take each other's new lock for the old one, whoever is stopped or killed in between.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  ensureFolder(dirname(path));
  const token = randomName(16);
  const { clock } = options;
  const deadline = clock.monotonic() + options.waitMs;
  // To ask the system starts a process: once for each holder that is met.
  const starts = new Map<number, number | undefined>();
  const startOf = (pid: number): number | undefined => {
    if (!starts.has(pid)) starts.set(pid, (options.processStart ?? processStart)(pid));
    return starts.get(pid);
  };
  const isStale = (found: Found): boolean => {
    const nowMs = clock.now();
    if (found.holder === undefined) return Math.abs(nowMs - found.mtimeMs) > UNREADABLE_STALE_MS;
    const staleAfterMs = options.staleAfterMs ?? STALE_AFTER_MS;
    return isGone(found.holder, {
      machineId: options.machineId,
      nowMs,
      staleAfterMs,
      lastSignMs: found.mtimeMs,
      processStart: startOf,
    });
  };
  for (let longest = 2; ; longest = Math.min(longest * 2, LONGEST_PAUSE_MS)) {
    const found = look(path);
    if (found === undefined || isStale(found)) {
      if (found !== undefined && (await options.answers?.()) === true) throw locked(path);
      const me = thisHolder(options.machineId, clock.now(), token);
      if (acquire(path, found, me, isStale)) break;
    }
    const left = deadline - clock.monotonic();
    if (left <= 0) throw locked(path);
    await delay(Math.min(left, 1 + Math.random() * longest));
  }
  const refreshing = setInterval(() => refresh(path, token, clock.now()), REFRESH_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(refreshing);
    if (look(path)?.token === token) rmSync(path, { force: true });
  }
}

/** Sets the date alone: to write the file again could undo a take-over. */
function refresh(path: string, token: string, nowMs: number): void {
  try {
    if (look(path)?.token === token) utimesSync(path, nowMs / 1000, nowMs / 1000);
  } catch (error) {
    // A lock that cannot be refreshed, such as in a folder that was removed, only looks older than it is.
    if (errnoCode(error) === undefined && !(error instanceof StewardError)) throw error;
  }
}

/** Takes the free lock, or the stale one that was found; false when somebody else was first. */
function acquire(
  path: string,
  stale: Found | undefined,
  me: Holder,
  isStale: (found: Found) => boolean,
): boolean {
  const temp = tempOf(path);
  try {
    writeFileSync(temp, JSON.stringify(me), { mode: 0o600, flag: 'wx' });
    if (stale === undefined) return linkNew(temp, path);
    return takeOver(path, stale, temp, isStale, me.at);
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
    const claimer = look(claim);
    if (claimer === undefined || !isStale(claimer)) return false;
    claim = claimOf(path, claimer.token);
  }
  let taken = false;
  try {
    // Whoever was entitled before may have replaced the lock, and removed the claims, in the meantime.
    if (look(path)?.token !== stale.token) return false;
    renameOver(temp, path);
    taken = true;
    return true;
  } finally {
    if (taken) sweep(path, nowMs);
    else rmSync(claim, { force: true });
  }
}

/** The claims on the lock that was replaced mean nothing any more; temp files are of processes that were killed. */
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

function look(path: string): Found | undefined {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  const text = facts === undefined ? undefined : readText(path, { maxBytes: 4096 });
  if (facts === undefined || text === undefined) return undefined;
  const holder = parseHolder(text);
  const token =
    holder?.token ??
    process
      .getBuiltinModule('node:crypto')
      .createHash('sha256')
      .update(`${facts.ino} ${text}`)
      .digest('hex')
      .slice(0, 16);
  return { token, holder, mtimeMs: facts.mtimeMs };
}

function locked(path: string): StewardError {
  const holder = look(path)?.holder;
  const who = holder === undefined ? 'Another process' : `Process ${holder.pid}`;
  return new StewardError('locked', `${who} is at work here (${path}).`, {
    hint: 'Wait for it to finish, then run the command again.',
  });
}
