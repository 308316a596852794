import { join, relative } from 'node:path';

import { StewardError, toStewardError } from '../errors';
import { lstatOf } from '../platform/files/folder';
import { conflictCopies } from '../platform/files/conflict-copies';
import { isMachineId } from '../platform/files/machine';
import { cleanLine } from '../platform/terminal/terminal';
import { addDays, dayOf, type Day } from '../platform/time/time';
import {
  machinesFolder,
  readMachines,
  readPublishedDay,
  readPublishedSessions,
  readPublishedUsage,
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
  for (const machine of readMachines(folder, note)) {
    const { daily, sessions, usage } = machine.days;
    const checked = (days: readonly Day[]): readonly Day[] =>
      input.isDeep === true ? days : days.slice(-RECENT_DAYS);
    for (const day of checked(daily)) readPublishedDay(machine, day, note);
    for (const day of checked(sessions)) readPublishedSessions(machine, day, note);
    for (const day of checked(usage)) readPublishedUsage(machine, day, note);
    const shared = readShared(join(machine.path, SHARED_FILE), latestAt(input.nowMs), note);
    const settings = Object.keys(shared).length;
    if (settings > 0) status.settings.machines.push(machine.info.name);
    status.machines.push(machineStatus(machine, settings, input));
  }
  const nameOf = (id: string): string => status.machines.find((machine) => machine.id === id)?.name ?? id;
  status.settings.conflicts.push(
    ...conflictsIn(readShared(input.shared, latestAt(input.nowMs)), nameOf, input.nowMs),
  );
  const copies = conflictCopies(machinesFolder(folder));
  return { ...status, conflicts: copies.map(({ path }) => cleanLine(`machines/${path}`, 300)).sort() };
}

function machineStatus(machine: ExchangeMachine, settings: number, input: SyncStatusInput) {
  const { id, name, timezone, version, lastInput, publishedAt, read = [] } = machine.info;
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
  const machines = readMachines(folder);
  const exact = machines.filter(({ id }) => id === wanted);
  const byName = machines.filter(({ info }) => info.name.toLowerCase() === wanted.toLowerCase());
  const named = exact.length > 0 ? exact : byName;
  // A machine whose machine.json is damaged can still be removed by its id.
  const path = `${machinesFolder(folder)}/${wanted}`;
  const isId = isMachineId(wanted) && lstatOf(path)?.isFolder === true;
  const found = named.length === 0 && isId ? [{ id: wanted, path, info: undefined }] : named;
  const [machine] = found;
  if (machine === undefined || found.length > 1) {
    const list = found.length > 1 ? found : machines;
    throw new StewardError(
      'not_found',
      `${found.length > 1 ? 'Several machines are' : 'No machine is'} named ${JSON.stringify(wanted)}.`,
      {
        hint: `Use a machine's id: ${list.map(({ id, info }) => `${id} (${info?.name ?? ''})`).join(', ') || 'none'}.`,
      },
    );
  }
  if (machine.id === ownId) {
    throw new StewardError(
      'usage',
      `${JSON.stringify(wanted)} is this machine; only other machines can be forgotten.`,
      {
        hint: 'To stop publishing from this machine: steward sync leave --remove',
      },
    );
  }
  return { id: machine.id, name: machine.info?.name ?? null, path: machine.path };
}
