import { join, relative } from 'node:path';

import { StewardError, toStewardError } from '../errors';
import { lstatOf } from '../platform/files/folder';
import { conflictCopies } from '../platform/files/conflict-copies';
import { isMachineId } from '../platform/files/machine';
import { cleanLine } from '../platform/terminal/terminal';
import { addDays, dayOf } from '../platform/time/time';
import { distinctNames, type MachineName } from '../time/machines/model';
import { ambiguous, listed, matching } from '../time/machines/read';
import {
  machinesFolder,
  readMachines,
  readPublishedDay,
  readPublishedSessions,
  readPublishedUsage,
  type OnDamagedFile,
} from './exchange';
import { requireFolder } from './folder';
import type { ExchangeMachine } from './format';
import { clockAhead, newsAt } from './read';
import { latestAt, readShared, SHARED_FILE, type SharedEntries } from './settings';
import type { SyncState } from './state';

export interface EngineStatus {
  engine: 'syncthing' | 'git';
  found: string;
  problem: boolean;
}

export interface SyncStatusInput {
  folder: string | undefined;
  details: boolean;
  state: SyncState;
  ownId: string | undefined;
  nowMs: number;
  timezone: string;
  /** The file with the shared settings as this machine last knew them. */
  shared: string;
  /** Whether to check every file. By default, checks each machine's machine.json and its most recent days. */
  isDeep?: boolean;
}

/** The output of `steward sync status --json`. */
export type SyncStatus = ReturnType<typeof syncStatus> & {
  /** Former folders and git repositories from which purged data was not removed yet. */
  pendingFormer: string[];
  /** The sync tool's state; null if steward didn't set up the tool. */
  engine: EngineStatus | null;
};

/** Returns what the exchange folder and the state contain. */
export function syncStatus(input: SyncStatusInput) {
  const { folder, details, state } = input;
  const status = {
    /** The exchange folder; null before `steward sync setup`. */
    folder: folder ?? null,
    /** Whether the next publication includes details. */
    details,
    /** Whether the published files may contain details; null if unknown. */
    publishedDetails: state.details ?? null,
    /** Why the folder can't be used, or why the last run failed. */
    problem: state.problem?.message ?? null,
    hint: state.problem?.hint ?? null,
    /** Number of purges that have not been applied to the folder yet. */
    pendingRemovals: state.removals.length,
    settings: {
      isShared: state.settings === true,
      /** The machines that share settings. */
      machines: [] as string[],
      /** The entries that two machines changed, neither knowing of the other's change. */
      conflicts: [] as SettingsConflict[],
    },
    machines: [] as MachineStatus[],
    /** The machines whose names got the start of their ids, because others have the same name. */
    sameNames: [] as string[],
    /** Paths of conflict copies, relative to the folder. steward ignores conflict copies. */
    conflicts: [] as string[],
    /** Unusable files, relative to the folder. */
    damaged: [] as { path: string; reason: string }[],
  };
  if (folder === undefined) return { ...status, problem: null, hint: null };
  try {
    requireFolder(folder);
  } catch (error) {
    const { message, hint = null } = toStewardError(error);
    return { ...status, problem: message, hint };
  }
  const note = (path: string, reason: string): unknown =>
    status.damaged.push({ path: relative(folder, path), reason });
  const machines = readMachines(folder, note);
  const names = new Map(namesIn(machines).map(({ id, name }) => [id, name]));
  const nameOf = (id: string): string => names.get(id) ?? id;
  for (const machine of machines) {
    checkDays(machine, input.isDeep === true ? 0 : -RECENT_DAYS, note);
    const shared = readShared(join(machine.path, SHARED_FILE), latestAt(input.nowMs), note);
    const name = nameOf(machine.id);
    const found = { ...machineStatus(machine, Object.keys(shared).length, input), name };
    if (found.publishes.settings > 0 && found.leftAt === null) status.settings.machines.push(name);
    if (name !== machine.info.name) status.sameNames.push(name);
    status.machines.push(found);
  }
  status.settings.conflicts.push(
    ...conflictsIn(readShared(input.shared, latestAt(input.nowMs)), nameOf, input.nowMs),
  );
  for (const { path } of conflictCopies(machinesFolder(folder)))
    status.conflicts.push(cleanLine(`machines/${path}`, 300));
  status.conflicts.sort();
  return status;
}

/** Reads the published days, from the given one on, and notes what is damaged. */
function checkDays(machine: ExchangeMachine, from: number, note: OnDamagedFile): void {
  const { daily, sessions, usage } = machine.days;
  for (const day of daily.slice(from)) readPublishedDay(machine, day, note);
  for (const day of sessions.slice(from)) readPublishedSessions(machine, day, note);
  for (const day of usage.slice(from)) readPublishedUsage(machine, day, note);
}

function machineStatus(machine: ExchangeMachine, settings: number, input: SyncStatusInput) {
  const { id, name, timezone, version, lastInput, publishedAt, left, read = [] } = machine.info;
  const { daily, sessions, usage } = machine.days;
  const { ownId, nowMs } = input;
  const cameAt = newsAt(machine);
  const readHere = read.find((each) => each.id === ownId);
  const seen = dayOf(Date.parse(publishedAt), input.timezone);
  let daysBehind = 0;
  for (let day = dayOf(nowMs, input.timezone); day > seen && daysBehind < MAX_BEHIND; day = addDays(day, -1))
    daysBehind += 1;
  return {
    id,
    name,
    timezone,
    version,
    lastInput,
    isThis: id === ownId,
    lastSeen: publishedAt,
    /** When it stopped publishing; null while it publishes. */
    leftAt: left ?? null,
    daysBehind,
    days: daily.length,
    from: daily[0] ?? null,
    to: daily.at(-1) ?? null,
    /** When its news came here. */
    newsAt: cameAt,
    /** What else it publishes: days of sessions and of usage, and settings. */
    publishes: { sessions: sessions.length, usage: usage.length, settings },
    /** What it has read of this machine; null if it doesn't say. */
    read: readHere ?? null,
    /** How far its clock is ahead of this one's; null if unknown. */
    clock: clockAhead(machine.info, cameAt, readHere) ?? null,
  };
}

export type SettingsConflict = ReturnType<typeof conflictsIn>[number];

const SHOWN_MS = 14 * 86_400_000;

function conflictsIn(entries: SharedEntries, nameOf: (id: string) => string, nowMs: number) {
  return Object.entries(entries).flatMap(([key, { at, by, value, other }]) =>
    other === undefined || nowMs - Date.parse(at) > SHOWN_MS
      ? []
      : [{ key, at, machine: nameOf(by), value, other: { ...other, machine: nameOf(other.by) } }],
  );
}

export type MachineStatus = ReturnType<typeof machineStatus>;

const MAX_BEHIND = 3660;
/** Reports read the other days, and note what they can't read. */
const RECENT_DAYS = 2;

/** Returns another machine by its id or name. */
export function findMachine(folder: string, wanted: string, ownId: string | undefined) {
  requireFolder(folder);
  const machines = namesIn(readMachines(folder));
  const others = machines.filter(({ id }) => id !== ownId);
  const [machine, ...more] = matching(others, wanted);
  if (machine !== undefined && more.length > 0) throw ambiguous(wanted, [machine, ...more]);
  if (machine !== undefined) return { ...machine, path: join(machinesFolder(folder), machine.id) };
  const shown = JSON.stringify(wanted);
  if (matching(machines, wanted).length > 0) {
    throw new StewardError('usage', `${shown} is this machine; only other machines can be forgotten.`, {
      hint: 'To stop publishing from this machine: steward sync leave --remove',
    });
  }
  // A machine whose machine.json is damaged can still be removed by its id.
  const path = join(machinesFolder(folder), wanted);
  if (isMachineId(wanted) && lstatOf(path)?.isFolder === true) return { id: wanted, name: null, path };
  const known = others.length === 0 ? 'none, so there is nothing to forget' : listed(others);
  throw new StewardError('not_found', `No other machine is named ${shown}.`, {
    hint: `Machines that you can forget: ${known}.`,
  });
}

/** Returns the machines' names. Those of machines with the same name get the start of their ids. */
export function namesIn(machines: readonly ExchangeMachine[]): MachineName[] {
  return distinctNames(machines.map(({ id, info }) => ({ id, name: info.name })));
}
