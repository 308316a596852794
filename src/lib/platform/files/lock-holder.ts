import { readFileSync, readlinkSync } from 'node:fs';

import { errnoCode, unless } from '../../errors';
import { parseObject } from './json-object';
import { spawnSync } from '../process/spawn';

/** Who holds a lock: the content of the lock file. */
export interface Holder {
  pid: number;
  machine: string;
  /** Boot of the machine and pid namespace, where the system tells: a pid means nothing beyond them. */
  boot: string | null;
  namespace: string | null;
  /** Start of the process in clock ticks since the boot, where the system tells: a pid is used again, this not. */
  started: string | null;
  /** When it was taken, wall-clock ms. */
  at: number;
  /** 16 hex digits, new each time. */
  token: string;
}

export interface Judge {
  machineId: string;
  /** Wall-clock ms. */
  nowMs: number;
  /** For holders that cannot be judged by their process: how old their last sign of life may be. */
  staleAfterMs: number;
  /** Wall-clock ms of that sign; the time of the lock when left out. */
  lastSignMs?: number;
  /** Wall-clock ms at which a process started, where the lock file does not say; undefined: not known. */
  processStart: (pid: number) => number | undefined;
}

/** How long after its lock a process must have started to be another one that was given the same pid. */
const REUSED_AFTER_MS = 60_000;

export function thisHolder(machineId: string, nowMs: number, token: string): Holder {
  return holderOf(process.pid, machineId, nowMs, token);
}

/** Of another process that runs, such as the one that has started this one. */
export function holderOf(pid: number, machineId: string, nowMs: number, token: string): Holder {
  const { boot, namespace } = scope();
  const started = processFacts(pid)?.started ?? null;
  return { pid, machine: machineId, boot, namespace, started, at: nowMs, token };
}

/** The holder in a lock file's text, or undefined when it is none. */
export function parseHolder(text: string): Holder | undefined {
  const value = parseObject(text);
  const { pid, machine, boot, namespace, started, at, token } = value ?? {};
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (typeof machine !== 'string' || typeof at !== 'number') return undefined;
  if (typeof token !== 'string' || !/^[0-9a-f]{16}$/.test(token)) return undefined;
  const textOrNull = (given: unknown): string | null => (typeof given === 'string' ? given : null);
  return {
    pid,
    machine,
    boot: textOrNull(boot),
    namespace: textOrNull(namespace),
    started: textOrNull(started),
    at,
    token,
  };
}

/**
 * Has the holder gone? A process of this machine is judged by its pid and start; one of another machine or pid
 * namespace by its last sign of life alone, where a time in the future counts as expired.
 */
export function isGone(holder: Holder, judge: Judge): boolean {
  if (holder.machine === judge.machineId) {
    const here = scope();
    if (holder.boot !== null && here.boot !== null && holder.boot !== here.boot) return true;
    if (holder.namespace === here.namespace) return isProcessGone(holder, judge);
  }
  return Math.abs(judge.nowMs - (judge.lastSignMs ?? holder.at)) > judge.staleAfterMs;
}

function isProcessGone(holder: Holder, judge: Judge): boolean {
  if (!isAlive(holder.pid)) return true;
  const facts = processFacts(holder.pid);
  if (facts?.ended === true) return true;
  if (facts !== undefined && holder.started !== null) return facts.started !== holder.started;
  const startedAt = judge.processStart(holder.pid);
  return startedAt !== undefined && startedAt > holder.at + REUSED_AFTER_MS;
}

/** Is there a process with this pid (one that nobody has waited for yet counts)? */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoCode(error) === 'EPERM';
  }
}

/** When a process started, wall-clock ms, by the system's own tools; undefined when they do not tell. */
export function processStart(pid: number): number | undefined {
  const [file, args] =
    process.platform === 'win32'
      ? [
          'powershell',
          ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`],
        ]
      : ['ps', ['-o', 'lstart=', '-p', String(pid)]];
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const found = spawnSync(file as string, args as string[], {
    env,
    encoding: 'utf8',
    timeout: 5000,
    windowsHide: true,
  });
  if (found.error !== undefined || found.status !== 0) return undefined;
  const text = found.stdout.trim();
  const ms = Date.parse(process.platform === 'win32' ? text : `${text} UTC`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The two are of Linux; elsewhere a pid is the machine's own. */
function scope(): { boot: string | null; namespace: string | null } {
  return {
    boot: systemText(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()) ?? null,
    namespace: systemText(() => readlinkSync('/proc/self/ns/pid')) ?? null,
  };
}

/** State and start (fields 3 and 22) of /proc/PID/stat; undefined where there is no /proc. */
function processFacts(pid: number): { started: string; ended: boolean } | undefined {
  const stat = systemText(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields?.[0];
  const started = fields?.[19];
  // A killed process stays as a zombie until its parent looks; in a container often for good.
  return started === undefined ? undefined : { started, ended: state === 'Z' || state === 'X' };
}

const ABSENT = ['ENOENT', 'EACCES', 'EPERM', 'ESRCH', 'EINVAL', 'ENOTDIR'];

function systemText(read: () => string): string | undefined {
  return unless(ABSENT, read);
}
