import { dirname, join } from 'node:path';

import { readText, replaceFile, sweepTemps } from '../platform/files/atomic-file';
import { ensureSubfolder, exists, listFolder, removeFile } from '../platform/files/folder';
import { definedOnly } from '../platform/files/json-object';
import { isMachineId } from '../platform/files/machine';
import { toIso, type Clock } from '../platform/time/clock';
import type { Day } from '../platform/time/time';
import {
  publishedDay,
  publishedSessions,
  publishedUsage,
  withoutDetails,
  type Disclosure,
  type LocalDay,
} from './day';
import {
  dayFileOf,
  daysOf,
  machinesFolder,
  readPublishedDay,
  readPublishedSessions,
  readPublishedUsage,
} from './exchange';
import { requireFolder } from './folder';
import { DAY_FILES, FORMAT, toMinute, type DayKind, type DaySet, type MachineInfo } from './format';
import { joinedSet, withLost } from './lost';
import { parseInfo } from './parse';
import { readOthers } from './read';
import { readState, withFolder, writeState, type Removal, type SyncState } from './state';
import { afterReading, needsNewId, nextRun, runsAfter } from './writer';
import { isInRange } from '../platform/time/period';

/** This machine's data, and the rules for which data may leave the machine. */
export interface LocalData {
  /** Returns the days that have a record, events or usage, in chronological order. */
  days: () => Day[];
  /** Returns a fingerprint of a day. If the fingerprint has changed, the day must be published again. */
  markOf: (day: Day) => string;
  read: (day: Day) => LocalDay;
  disclosure: Disclosure;
  /** Returns the time of the last input in epoch seconds; null if unknown. */
  lastInput: () => number | null;
}

/** The exchange as one machine sees it. */
export interface SyncContext {
  folder: string | undefined;
  details: boolean;
  deps: PublishDeps;
  /** Runs `work` under the lock for changes to this machine's published files. */
  locked: <T>(work: () => T | Promise<T>, waitMs?: number) => Promise<T>;
}

export interface PublishDeps {
  clock: Clock;
  folder: string;
  state: string;
  today: Day;
  machine: Pick<MachineInfo, 'id' | 'name' | 'timezone' | 'version'>;
  /** Returns a fingerprint that changes when the local data may have changed. Must be fast. */
  mark: () => string;
  /** Opens the local data. Called only if the data may have changed. */
  local: () => LocalData;
  /** Returns other folders that may contain this machine's published files, most recent first. */
  former?: () => string[];
}

/** A file to publish or remove. `path` is relative to the machine's folder. */
export interface PlannedFile {
  path: string;
  bytes: number;
  change: 'new' | 'changed' | 'none' | 'removed';
  text: string;
}

export interface PublishResult {
  files: number;
  bytes: number;
  /** Days that this machine has lost in part since it published them. Named once. */
  kept?: readonly Day[];
  /** Set if nothing was published, because this machine needs a new id first. */
  needsNewId?: boolean;
}

const KINDS = Object.keys(DAY_FILES) as DayKind[];
/** How often to rewrite an otherwise unchanged machine.json. */
const HEARTBEAT_MS = 6 * 3_600_000;
/**
 * How often to rewrite machine.json if there are other machines, which use its contents to decide which
 * machine sends notifications.
 */
const SHARED_HEARTBEAT_MS = 290_000;

export function machineFolderOf({ folder, machine }: Pick<PublishDeps, 'folder' | 'machine'>): string {
  return join(machinesFolder(folder), machine.id);
}

/**
 * Writes the files that changed since the last run. Compares every file once a day; other runs compare only
 * fingerprints. The caller must hold the sync lock.
 */
export function publish(deps: PublishDeps): PublishResult {
  requireFolder(deps.folder);
  const { state, clock } = deps;
  const stored = withFolder(readState(state), deps.folder);
  const own = machineFolderOf(deps);
  const before = afterReading(stored, infoIn(own), clock.now());
  const isForeign = before !== stored;
  if (isForeign) writeState(state, before);
  if (needsNewId(before, clock.now())) return { files: 0, bytes: 0, needsNewId: true };
  const mark = deps.mark();
  // After a failed run, compare every file again.
  const isSame = !isForeign && isCheckedToday(before, deps);
  const isComplete = isSame && exists(join(own, 'machine.json'));
  if (isComplete && before.mark === mark && before.removals.length === 0) return heartbeat(deps, before);
  ensureSubfolder(own);
  for (const folder of [own, ...KINDS.map((kind) => join(own, kind))])
    if (exists(folder)) sweepTemps(folder, -1, clock.now());
  const local = deps.local();
  const { details } = local.disclosure;
  // If this run is interrupted, some files may have details already.
  if (details && before.details !== true) writeState(state, { ...before, details });
  const removed = before.removals.flatMap((removal) => removedFiles(own, removal, local));
  for (const { path } of removed) removeFile(join(own, path));
  const result = { files: removed.length, bytes: 0 };
  const isForced = !isComplete || before.removals.length > 0;
  const marks: SyncState['days'] = {};
  const kept: Day[] = [];
  for (const day of local.days()) {
    const dayMark = local.markOf(day);
    marks[day] = dayMark;
    if (!isForced && before.days[day] === dayMark) {
      if (before.kept?.includes(day) === true) kept.push(day);
      continue;
    }
    const mayShrink = before.removals.some((removal) => isInRange(removal, day));
    const onLost = (): unknown => kept.push(day);
    for (const file of dayFiles(deps, local, day, { mayShrink, onLost })) write(own, file, result);
  }
  // Nothing is left here of these days.
  kept.push(...daysOf(own, () => undefined).daily.filter((day) => marks[day] === undefined));
  const run = nextRun(before);
  const info = plannedInfo(deps, local, { run, hasChanged: result.files > 0 || isForeign });
  write(own, info, result);
  const isWritten = info.change !== 'none';
  const { kept: known, ...rest } = before;
  delete rest.problem;
  writeState(state, {
    ...rest,
    folder: deps.folder,
    mark,
    checked: deps.today,
    details,
    days: marks,
    removals: [],
    ...(isWritten && { publishedMs: clock.now(), runs: runsAfter(before, run) }),
    ...(kept.length > 0 && { kept }),
  });
  const found = kept.filter((day) => known?.includes(day) !== true);
  return found.length === 0 ? result : { ...result, kept: found };
}

/** Returns whether the last run published to this folder today. */
function isCheckedToday({ checked, folder, problem }: SyncState, deps: PublishDeps): boolean {
  return checked === deps.today && folder === deps.folder && problem === undefined;
}

function heartbeat(deps: PublishDeps, before: SyncState): PublishResult {
  const none = { files: 0, bytes: 0 };
  const otherMachines = listFolder(machinesFolder(deps.folder)).filter(
    (id) => isMachineId(id) && id !== deps.machine.id,
  );
  const nowMs = deps.clock.now();
  const dueMs = otherMachines.length === 0 ? HEARTBEAT_MS : SHARED_HEARTBEAT_MS;
  if (Math.abs(nowMs - (before.publishedMs ?? 0)) < dueMs) return none;
  const info = infoIn(machineFolderOf(deps));
  if (info === undefined) return none;
  const run = nextRun(before);
  const text = `${JSON.stringify({ ...info, ...newHead(deps, run) })}\n`;
  replaceFile(join(machineFolderOf(deps), 'machine.json'), text, { sync: false });
  writeState(deps.state, { ...before, publishedMs: nowMs, runs: runsAfter(before, run) });
  return { files: 1, bytes: Buffer.byteLength(text) };
}

/** Returns every file that this machine would publish, and how it differs from the published file. */
export function planFiles(deps: PublishDeps): PlannedFile[] {
  const own = machineFolderOf(deps);
  const local = deps.local();
  const days = local.days();
  const state = withFolder(readState(deps.state), deps.folder);
  const { removals } = state;
  const removed = removals.flatMap((removal) => removedFiles(own, removal, local));
  const files = days.flatMap((day) =>
    dayFiles(deps, local, day, { mayShrink: removals.some((removal) => isInRange(removal, day)) }),
  );
  const hasChanged = removed.length > 0 || files.some(({ change }) => change !== 'none');
  const planned = [plannedInfo(deps, local, { run: nextRun(state), hasChanged }), ...files];
  const isPlanned = new Set(planned.map(({ path }) => path));
  return [...planned, ...removed.filter(({ path }) => !isPlanned.has(path))];
}

/**
 * Returns the files of a day, and how they differ from the published ones. Unless `mayShrink` is set, the day
 * keeps what it has published and no longer has locally.
 */
function dayFiles(
  deps: PublishDeps,
  local: LocalData,
  day: Day,
  { mayShrink = false, onLost }: { mayShrink?: boolean; onLost?: () => unknown } = {},
): PlannedFile[] {
  const own = machineFolderOf(deps);
  const { disclosure } = local;
  const folders = [...(deps.former?.() ?? []), own];
  const published = folders.map((path) => publishedSet(path, day)).reduce((all, set) => joinedSet(all, set));
  const set = localSet(local, day, published);
  const lost = mayShrink ? undefined : withLost(set, published);
  if (lost !== undefined) onLost?.();
  return filesOf(own, day, withoutDetails(lost ?? set, disclosure));
}

/** Returns the files of a day in a machine's folder, and how they differ from the published ones. */
export function filesOf(own: string, day: Day, { day: written, sessions, usage }: DaySet): PlannedFile[] {
  const files: Partial<Record<DayKind, string>> = {
    sessions: sessions.map((session) => `${JSON.stringify(session)}\n`).join(''),
    usage: usage.length === 0 ? '' : `{"format":${FORMAT},"rows":${lines(usage)}}\n`,
  };
  if (written !== undefined) {
    const { spans, commits, record } = written;
    const rest = `"spans":${lines(spans)},\n"commits":${lines(commits)}}\n`;
    files.daily = `{"format":${FORMAT},"record":${JSON.stringify(record)},\n${rest}`;
  }
  return KINDS.flatMap((kind) => {
    const text = files[kind];
    const path = `${kind}/${day}${DAY_FILES[kind]}`;
    if (text === undefined) return [];
    const file = plannedFile(own, path, text);
    return text === '' && file.change === 'none' ? [] : [file];
  });
}

/** Returns what this machine's data amounts to on a day, in the form to publish. */
function localSet(local: LocalData, day: Day, published: DaySet): DaySet {
  const source = local.read(day);
  const { record } = source;
  return {
    day: record && publishedDay({ ...source, record }, published.day),
    sessions: publishedSessions(source, published.sessions, local.disclosure.about),
    usage: publishedUsage(source.usage).rows,
  };
}

export function publishedSet(path: string, day: Day): DaySet {
  return {
    day: readPublishedDay({ path }, day),
    sessions: readPublishedSessions({ path }, day),
    usage: readPublishedUsage({ path }, day),
  };
}

/** Formats a JSON array with one item per line, to keep diffs in version control small. */
function lines(items: readonly unknown[]): string {
  return items.length === 0 ? '[]' : `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`;
}

/** Plans the change to a file. Empty text means that the file should not exist. */
export function plannedFile(own: string, path: string, text: string): PlannedFile {
  const stored = readText(join(own, path));
  const change =
    (stored ?? '') === text ? 'none' : text === '' ? 'removed' : stored === undefined ? 'new' : 'changed';
  return { path, bytes: Buffer.byteLength(text), change, text };
}

export function write(own: string, { path, text, bytes, change }: PlannedFile, result: PublishResult): void {
  if (change === 'none') return;
  const target = join(own, path);
  if (change === 'removed') removeFile(target);
  else {
    ensureSubfolder(dirname(target));
    replaceFile(target, text);
  }
  result.files += 1;
  result.bytes += bytes;
}

export function infoIn(own: string): MachineInfo | undefined {
  return parseInfo(readText(join(own, 'machine.json')) ?? '');
}

type InfoHead = Pick<MachineInfo, 'publishedAt' | 'run' | 'read'>;

/** Returns the part of machine.json that each publication renews. */
function newHead(deps: PublishDeps, run: string): InfoHead {
  const publishedAt = toMinute(toIso(deps.clock.now()));
  return { publishedAt, run, read: readOthers(deps.folder, deps.machine.id) };
}

function infoText({ machine }: PublishDeps, local: LocalData, head: InfoHead): string {
  const input = local.lastInput();
  const { id, name, timezone, version } = machine;
  const info: MachineInfo & { format: number } = {
    format: FORMAT,
    id,
    name,
    timezone,
    version,
    lastInput: input === null ? null : toMinute(toIso(input * 1000)),
    publishedAt: head.publishedAt,
    ...definedOnly({ run: head.run, read: head.read }),
  };
  return `${JSON.stringify(info)}\n`;
}

/** Plans the change to machine.json. Its head changes only if another file changes or a heartbeat is due. */
function plannedInfo(
  deps: PublishDeps,
  local: LocalData,
  { run, hasChanged }: { run: string; hasChanged: boolean },
): PlannedFile {
  const own = machineFolderOf(deps);
  const stored = infoIn(own);
  const isDue = deps.clock.now() - Date.parse(stored?.publishedAt ?? '') >= HEARTBEAT_MS;
  const isSame = stored !== undefined && !hasChanged && !isDue;
  const head = isSame ? stored : newHead(deps, run);
  return plannedFile(own, 'machine.json', infoText(deps, local, head));
}

/** Returns the published files that are covered by a pending removal and no longer have local data. */
function removedFiles(own: string, removal: Removal, local: LocalData): PlannedFile[] {
  const days = daysOf(own, () => undefined);
  const stored = KINDS.flatMap((kind) => days[kind].map((day) => ({ kind, day })));
  const localDays = new Set(local.days());
  return stored.flatMap(({ kind, day }): PlannedFile[] => {
    if (!isInRange(removal, day)) return [];
    const source = localDays.has(day) ? local.read(day) : undefined;
    const isGone = kind === 'usage' ? (source?.usage.length ?? 0) === 0 : source?.record === undefined;
    const isForgotten = removal.sessions === true && kind === 'sessions';
    if (!isGone && !isForgotten) return [];
    return [{ path: dayFileOf('', kind, day), bytes: 0, change: 'removed', text: '' }];
  });
}
