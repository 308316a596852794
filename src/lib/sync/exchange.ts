import { join } from 'node:path';

import { orElse, type StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { daysNamed } from '../platform/files/day-files';
import { listFolder } from '../platform/files/folder';
import { isMachineId } from '../platform/files/machine';
import type { Day } from '../platform/time/time';
import { asRecord } from '../time/record';
import type { DayRow } from '../usage/days';
import {
  DAY_FILES,
  FORMAT,
  type DayKind,
  type ExchangeMachine,
  type PublishedDay,
  type PublishedSession,
  isCommit,
  isSession,
  isSpan,
  isUsageRow,
} from './format';
import { arrayOf, isNewer, parseClean, parseInfo } from './parse';

/** Called with the path of each unusable file and the reason why the file can't be used. */
export type OnDamagedFile = (path: string, reason: string) => void;

type Place = Pick<ExchangeMachine, 'path'>;
const IGNORE: OnDamagedFile = () => undefined;

/** Returns a handler that reports each unusable file once. */
export function damagedNotes(note: (text: string) => unknown): OnDamagedFile {
  const noted = new Set<string>();
  return (path, reason) => {
    if (noted.has(path)) return;
    noted.add(path);
    note(`Ignored unreadable file ${path}: ${reason}`);
  };
}

const MAX_INFO_BYTES = 64 * 1024;
/** Size limit of a day's file. */
export const MAX_DAY_BYTES = 8 * 1024 * 1024;

export function machinesFolder(folder: string): string {
  return join(folder, 'machines');
}

export function dayFileOf(machineFolder: string, kind: DayKind, day: Day): string {
  return join(machineFolder, kind, `${day}${DAY_FILES[kind]}`);
}

/**
 * Returns the machines in an exchange folder, sorted by id. Ignores temporary files, conflict copies and
 * unknown names.
 */
export function readMachines(folder: string, onDamaged = IGNORE): ExchangeMachine[] {
  const machines = machinesFolder(folder);
  return listFolder(machines)
    .filter(isMachineId)
    .sort()
    .flatMap((id): ExchangeMachine[] => {
      const path = join(machines, id);
      const info = readFile(join(path, 'machine.json'), MAX_INFO_BYTES, onDamaged, parseInfo, 'missing');
      if (info?.id !== id) {
        if (info !== undefined)
          onDamaged(join(path, 'machine.json'), `contains the id of another machine: ${info.id}`);
        return [];
      }
      return [{ id, path, info, days: daysOf(path, onDamaged) }];
    });
}

/** Returns the days of which a machine's folder contains files. */
export function daysOf(path: string, onDamaged: OnDamagedFile): ExchangeMachine['days'] {
  const in_ = (kind: DayKind): Day[] =>
    daysNamed(reported(join(path, kind), onDamaged, listFolder) ?? [], DAY_FILES[kind]);
  return { daily: in_('daily'), sessions: in_('sessions'), usage: in_('usage') };
}

/** Returns a published day, or undefined if the file is missing or damaged. */
export function readPublishedDay({ path }: Place, day: Day, onDamaged = IGNORE): PublishedDay | undefined {
  return readFile(dayFileOf(path, 'daily', day), MAX_DAY_BYTES, onDamaged, (text) => {
    const value = parseClean(text);
    const record = asRecord(value?.['record']);
    if (value === undefined || record?.date !== day) return undefined;
    const spans = arrayOf(value['spans'], isSpan);
    const commits = arrayOf(value['commits'], isCommit);
    return spans && commits && { format: FORMAT, record, spans, commits };
  });
}

/** Returns a day's published sessions; empty if the file is missing. Reports invalid lines and skips them. */
export function readPublishedSessions({ path }: Place, day: Day, onDamaged = IGNORE): PublishedSession[] {
  const file = dayFileOf(path, 'sessions', day);
  const lines = readFile(file, MAX_DAY_BYTES, onDamaged, (text) =>
    text.split('\n').filter((line) => line !== ''),
  );
  const sessions = (lines ?? []).map((line) => parseClean(line)).filter(isSession);
  if (lines !== undefined && sessions.length < lines.length) onDamaged(file, 'has invalid lines');
  return sessions;
}

/** Returns a day's published usage; empty if the file is missing. */
export function readPublishedUsage({ path }: Place, day: Day, onDamaged = IGNORE): DayRow[] {
  const rows = readFile(dayFileOf(path, 'usage', day), MAX_DAY_BYTES, onDamaged, (text) =>
    arrayOf(parseClean(text)?.['rows'], isUsageRow),
  );
  return rows ?? [];
}

/** Returns a parsed file, or undefined if it is missing. Reports a file that can't be used. */
export function readFile<T>(
  path: string,
  maxBytes: number,
  onDamaged: OnDamagedFile,
  parse: (text: string) => T | undefined,
  ifMissing?: string,
): T | undefined {
  return reported(path, onDamaged, () => {
    const text = readText(path, { maxBytes });
    if (text === undefined && ifMissing === undefined) return undefined;
    const parsed = text === undefined ? undefined : parse(text);
    if (parsed === undefined)
      onDamaged(path, text === undefined ? 'missing' : isNewer(text) ? 'needs a newer steward' : 'damaged');
    return parsed;
  });
}

/** Returns the result of reading a path. If the system refuses to read it, reports the path instead. */
function reported<T>(path: string, onDamaged: OnDamagedFile, read: (path: string) => T): T | undefined {
  const note = ({ message }: StewardError): void => onDamaged(path, message);
  return orElse(undefined, () => read(path), note);
}

/** Returns a function that passes on each text once. */
export function noteOnce(note: (text: string) => unknown): (text: string) => void {
  const noted = new Set<string>();
  return (text) => {
    if (!noted.has(text)) note(text);
    noted.add(text);
  };
}
