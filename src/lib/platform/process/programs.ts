import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

import { factsOf, ifThere, type OwnTerminal, pathOf } from './own-terminal';
import { argumentsOf, programOf } from './pty';

/** A running program of this user on a terminal. */
export interface RunningProgram extends OwnTerminal {
  startedMs: number;
  /** The folder in which it runs. */
  cwd: string;
  args: readonly string[];
}

/** Linux always reports times of processes in hundredths of a second. */
const TICK_MS = 10;

/** Returns whether a process runs the sessions of all Codex windows, as Codex does since 0.169. */
export function isCodexDaemon(pid: number | undefined): boolean {
  const args = pid === undefined ? [] : argumentsOf(pid);
  return args.includes('app-server') && args.includes('--managed-daemon');
}

/**
 * Returns this user's processes of a program on a terminal, without those that such a process started there.
 * Works only on Linux.
 */
export function programsOnTerminals(name: string, nowMs: number): RunningProgram[] {
  const upSec = Number(ifThere(() => readFileSync('/proc/uptime', 'latin1'))?.split(' ')[0]);
  const found = (ifThere(() => readdirSync('/proc')) ?? []).flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || programOf(pid) !== name) return [];
    const facts = factsOf(pid);
    const tty = pathOf(facts?.device ?? 0);
    const cwd = ifThere(() => readlinkSync(`/proc/${pid}/cwd`));
    if (facts === undefined || facts.isDead || tty === undefined || cwd === undefined) return [];
    const { started, parent } = facts;
    const startedMs = nowMs - upSec * 1000 + Number(started) * TICK_MS;
    return [{ tty, pid, started, startedMs, cwd, args: argumentsOf(pid), parent }];
  });
  const pids = new Set(found.map(({ pid }) => pid));
  return found.filter(({ parent }) => !pids.has(parent));
}
