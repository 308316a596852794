import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';

import { isOwn } from '../files/system-files';
import { factsOf, ifThere, pathOf, terminalOfParents, variableOf } from './own-terminal';

/** A pseudo-terminal and the first process found on it. */
export interface Pty {
  /** Device path of the terminal, such as `/dev/pts/3`. */
  tty: string;
  pid: number;
}

/** Maximum number of processes to search, enough for a terminal emulator with a hundred tabs. */
const MAX_PROCESSES = 500;

/** Returns the pseudo-terminals of a terminal emulator's tabs, without nested ones. Works only on Linux. */
export function ptysBelow(pid: number): Pty[] {
  const own = factsOf(pid)?.device;
  const found = new Map<string, Pty>();
  const queue = childrenOf(pid);
  for (let i = 0; i < Math.min(queue.length, MAX_PROCESSES); i += 1) {
    const child = queue[i] ?? 0;
    const facts = factsOf(child);
    if (facts === undefined || facts.isDead) continue;
    const tty = pathOf(facts.device);
    // The terminal emulator may start its shells through a helper process.
    if (tty === undefined || facts.device === own) queue.push(...childrenOf(child));
    else if (!found.has(tty)) found.set(tty, { tty, pid: child });
  }
  return [...found.values()];
}

/**
 * Returns the first process of each of these terminals that belongs to this user and has this home folder, since
 * a container may run programs as the same user. Omits terminals opened by a program on another terminal of
 * the user, such as an assistant: the program types there. Works only on Linux.
 */
export function leadersOf(home: string | undefined, ttys?: { has: (tty: string) => boolean }): Pty[] {
  return (ifThere(() => readdirSync('/proc')) ?? []).flatMap((name) => {
    const pid = Number(name);
    const facts = Number.isInteger(pid) ? factsOf(pid) : undefined;
    if (facts === undefined || facts.leader !== pid || facts.isDead) return [];
    const tty = pathOf(facts.device);
    if (tty === undefined || ttys?.has(tty) === false || !isOwn(tty)) return [];
    if (variableOf(pid, 'HOME') !== home) return [];
    const outer = terminalOfParents(facts.parent)?.tty;
    return outer !== undefined && outer !== tty && isOwn(outer) ? [] : [{ tty, pid }];
  });
}

function childrenOf(pid: number): number[] {
  const threads = ifThere(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.flatMap((thread) => {
    const text = ifThere(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')) ?? '';
    return text.split(' ').filter(Boolean).map(Number);
  });
}

/** Returns the foreground program of a process's terminal, or undefined if the process is gone. */
export function foregroundOf(pid: number) {
  const group = factsOf(pid)?.foreground ?? -1;
  // If the first process of the foreground pipeline has ended, report the shell instead.
  const shown = group > 0 && factsOf(group) !== undefined ? group : pid;
  const program = programOf(shown);
  return program === undefined
    ? undefined
    : { pid: shown, program, folder: folderOf(shown) ?? folderOf(pid) };
}

/** Returns a process's name (at most 15 characters), or undefined if the process is gone. */
export function programOf(pid: number): string | undefined {
  return ifThere(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
}

function folderOf(pid: number): string | undefined {
  return ifThere(() => readlinkSync(`/proc/${pid}/cwd`));
}

/** Returns a process's arguments, or an empty list if the process is gone. */
export function argumentsOf(pid: number): string[] {
  const text = ifThere(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';
  return text.split('\0').slice(0, -1);
}

/**
 * Returns the time (ms) of a terminal's last input, or undefined if the terminal is gone. The system may
 * report a time up to 8 s too early.
 */
export function inputTimeOf(tty: string): number | undefined {
  return ifThere(() => lstatSync(tty).atimeMs);
}
