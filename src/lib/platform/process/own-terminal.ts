import {
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  writeSync,
  type Stats,
} from 'node:fs';

import { unless } from '../../errors';
import { closing } from '../files/durable';

/** A terminal and a process attached to it. `pid` and `started` identify the process in later checks. */
export interface OwnTerminal {
  /** Device path of the terminal, such as `/dev/pts/3`. */
  tty: string;
  pid: number;
  /** Start time of the process, in clock ticks since boot. */
  started: string;
}

const MAX_PARENTS = 16;

/**
 * Returns the terminal of the nearest ancestor with a terminal, because hooks have none. Works only on Linux.
 */
export function terminalOfParents(pid: number = process.ppid): OwnTerminal | undefined {
  let at = pid;
  for (let step = 0; step < MAX_PARENTS && at > 1; step += 1) {
    const facts = factsOf(at);
    if (facts === undefined) return undefined;
    const tty = pathOf(facts.device);
    if (tty !== undefined) return { tty, pid: at, started: facts.started };
    at = facts.parent;
  }
  return undefined;
}

/** Returns the ancestors of a process, nearest first. Empty on systems other than Linux. */
export function parentsOf(pid: number): number[] {
  const parents: number[] = [];
  for (let at = pid; parents.length < MAX_PARENTS;) {
    const parent = factsOf(at)?.parent;
    if (parent === undefined || parent <= 1) break;
    parents.push(parent);
    at = parent;
  }
  return parents;
}

/**
 * Writes to a terminal without blocking. Returns false if the write fails or the process is no longer
 * attached to the terminal.
 */
export function writeToTerminal(terminal: OwnTerminal, text: string): boolean {
  if (!holdsTerminal(terminal)) return false;
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK, O_NOFOLLOW } = constants;
  return (
    ifThere(() =>
      closing(openSync(terminal.tty, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW), (fd) => {
        const bytes = Buffer.from(text, 'utf8');
        // Check again after opening the device, because its owner may have changed in the meantime.
        return isOwnDevice(fstatSync(fd), factsOf(terminal.pid)) && writeSync(fd, bytes) === bytes.length;
      }),
    ) ?? false
  );
}

/** Returns whether the process is still attached to this terminal and this user owns the terminal device. */
export function holdsTerminal(terminal: OwnTerminal): boolean {
  const facts = factsOf(terminal.pid);
  if (facts === undefined || facts.started !== terminal.started) return false;
  if (pathOf(facts.device) !== terminal.tty) return false;
  return ifThere(() => isOwnDevice(lstatSync(terminal.tty), facts)) ?? false;
}

function isOwnDevice(found: Stats, facts: ProcessFacts | undefined): boolean {
  return (
    found.isCharacterDevice() && found.uid === process.getuid?.() && deviceOf(found.rdev) === facts?.device
  );
}

const ABSENT = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EIO', 'ENXIO', 'EAGAIN', 'ELOOP'];

/**
 * Calls `read`; returns undefined if the process is gone or belongs to another user. Always returns undefined
 * on systems other than Linux.
 */
export function ifThere<T>(read: () => T): T | undefined {
  return process.platform === 'linux' ? unless(ABSENT, read) : undefined;
}

/** Returns the boot id and pid namespace. Both are null on systems other than Linux. */
export function pidScope(): { boot: string | null; namespace: string | null } {
  return {
    boot: ifThere(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()) ?? null,
    namespace: ifThere(() => readlinkSync('/proc/self/ns/pid')) ?? null,
  };
}

/** Returns a variable from the initial environment of one of this user's processes. */
export function variableOf(pid: number, name: string): string | undefined {
  const variables = ifThere(() => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')) ?? [];
  return variables.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1);
}

/**
 * Parses /proc/PID/stat: state (field 3), parent (4), session (6), terminal (7), foreground group (8), start
 * time (22).
 */
export function factsOf(pid: number) {
  const stat = ifThere(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, device, started] = [Number(fields[1]), Number(fields[4]), fields[19]];
  return Number.isSafeInteger(parent) && Number.isSafeInteger(device) && started !== undefined
    ? {
        parent,
        /** Device number of the controlling terminal, or 0 if there is none. */
        device,
        /** Foreground process group of the controlling terminal, or -1 if there is none. */
        foreground: Number(fields[5]),
        started,
        /** Process that opened the session on the terminal. */
        leader: Number(fields[3]),
        /** Whether the process is a zombie: exited, but not reaped by its parent. */
        isDead: /^[ZX]$/.test(fields[0] ?? ''),
      }
    : undefined;
}

type ProcessFacts = NonNullable<ReturnType<typeof factsOf>>;

/**
 * Returns the path of a terminal device. The major numbers are 136 to 143 for pseudo-terminals and 4 for
 * consoles.
 */
export function pathOf(device: number): string | undefined {
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  if (major >= 136 && major <= 143) return `/dev/pts/${(major - 136) * 256 + minor}`;
  return major === 4 && minor > 0 && minor < 64 ? `/dev/tty${minor}` : undefined;
}

/** Converts a device number from stat() to the format that /proc uses. */
function deviceOf(rdev: number): number {
  const major = (rdev >> 8) & 0xfff;
  const minor = (rdev & 0xff) | ((rdev >>> 12) & 0xfff00);
  return (minor & 0xff) | (major << 8) | ((minor & 0xfff00) << 12);
}
