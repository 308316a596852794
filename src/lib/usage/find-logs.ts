import { isAbsolute, sep } from 'node:path';

import { orElse, type StewardError } from '../errors';
import type { PathHost } from '../platform/files/paths';
import { folderHash } from '../platform/files/short-hash';
import { entriesIn, kindOf, stampOf } from '../platform/files/stat';
import { READERS } from './readers';
import type { LogReader } from './readers/reader';

/** How far a log has been read. */
export interface Position {
  /** `inode:size:time` of the log when it was last read. */
  mark: string;
  /** The last complete line that was read. */
  last?: { offset: number; hash: string };
  carry?: Record<string, unknown>;
}

/** An assistant's logs, and any problem with reading them. */
export interface LogSource {
  assistant: string;
  name: string;
  places: string[];
  files: number;
  /** Why some usage is missing. */
  problem?: string;
}

/** The logs of all assistants, and the logs that have changed since the last run. */
interface FoundLogs {
  sources: LogSource[];
  seen: Set<string>;
  /** Sorted by creation: a fork repeats the lines of a session, and its log is the younger one. */
  changed: { reader: LogReader; path: string; source: LogSource; bornMs: number }[];
}

/** The key of a log's position. Positions contain no paths, because a path names the work. */
export const keyOf = folderHash;

/** Finds the logs. `files` contains the last read position of each known log. */
export function findLogs(
  host: Pick<PathHost, 'env' | 'home'>,
  files: Readonly<Record<string, Position>>,
  oldestMs: number,
): FoundLogs {
  const found: FoundLogs = { sources: [], seen: new Set(), changed: [] };
  for (const reader of READERS) {
    // Ignore relative paths, because they would depend on the current folder, which is untrusted.
    const places = [...new Set(reader.places(host))].filter((place) => isAbsolute(place));
    const source: LogSource = { assistant: reader.assistant, name: reader.name, places, files: 0 };
    const logs = places.flatMap((place) => logsAt(place, reader, source));
    source.files = logs.length;
    found.sources.push(source);
    for (const path of logs) {
      found.seen.add(keyOf(path));
      if (newMark(reader, path, files[keyOf(path)], oldestMs) !== undefined)
        found.changed.push({ reader, path, source, bornMs: stampOf(path)?.bornMs ?? 0 });
    }
  }
  found.changed.sort((a, b) => a.bornMs - b.bornMs);
  return found;
}

/** Returns a log's current `mark`, or undefined if the log is unchanged or too old. */
export function newMark({ kind }: LogReader, path: string, known: Position | undefined, oldestMs: number) {
  const stamp = stampOf(path);
  if (stamp?.kind !== 'file' || (known === undefined && stamp.mtimeMs < oldestMs)) return undefined;
  const wal = kind === 'database' ? stampOf(`${path}-wal`)?.mark : undefined;
  const mark = wal === undefined ? stamp.mark : `${stamp.mark} ${wal}`;
  return mark === known?.mark ? undefined : mark;
}

/**
 * Returns the logs in the folder `place` and its subfolders, or `place` itself if it is a file. Doesn't
 * follow links.
 */
function logsAt(place: string, { isLog, depth }: LogReader, source: LogSource): string[] {
  if (kindOf(place) === 'file') return [place];
  const note = ({ message }: StewardError): void => void (source.problem = message);
  const below = (folder: string, levels: number): string[] =>
    orElse([], () => entriesIn(folder), note).flatMap(({ name, isFolder }) => {
      const path = folder + sep + name;
      if (isFolder) return levels > 0 ? below(path, levels - 1) : [];
      return isLog(name) ? [path] : [];
    });
  return below(place, depth);
}
