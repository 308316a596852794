import type { PathHost } from '../../platform/files/paths';
import type { Sink } from '../entry';

interface ReaderBase {
  /** The assistant's name in the rows, such as `codex`. */
  assistant: string;
  name: string;
  /**
   * Returns the folders or files to read, which may not exist. Uses the assistant's environment variables.
   */
  places: (host: Pick<PathHost, 'env' | 'home'>) => string[];
  isLog: (name: string) => boolean;
  /** How many levels of subfolders to search for logs. */
  depth: number;
}

/** A reader of JSON lines. */
export interface LineReader extends ReaderBase {
  kind: 'lines';
  /** Only lines that contain one of these strings are parsed. */
  markers: readonly string[];
  /** @param carry The reader's state between lines of a file, as JSON. */
  read: (fields: Record<string, unknown>, carry: Record<string, unknown>, sink: Sink, path: string) => void;
}

/** A reader of a database. */
export interface DatabaseReader extends ReaderBase {
  kind: 'database';
  /**
   * Reads the responses recorded since `sinceMs`. Returns false if this Node.js version can't read databases.
   */
  read: (path: string, sinceMs: number, sink: Sink) => boolean;
}

export type Reader = LineReader | DatabaseReader;

/** Expands a leading `~` in an environment variable, or returns the default below the home folder. */
export function folderFrom(value: string | undefined, home: string, fallback: string): string {
  if (value === undefined || value === '') return `${home}/${fallback}`;
  return /^~(?:$|[/\\])/.test(value) ? home + value.slice(1) : value;
}
