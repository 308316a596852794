import type { PathHost } from '../../platform/files/paths';
import type { Sink } from '../entry';

interface ReaderBase {
  assistant: string;
  name: string;
  /**
   * Returns the paths to search for logs, including paths that don't exist. Respects the assistant's
   * environment variables.
   */
  places: (host: Pick<PathHost, 'env' | 'home'>) => string[];
  isLog: (name: string) => boolean;
  /** How many levels of subfolders to search for logs. */
  depth: number;
}

export interface LineReader extends ReaderBase {
  kind: 'lines';
  /** Lines that contain none of these strings are skipped. */
  markers: readonly string[];
  /** @param carry Data that the reader keeps between the lines of a file, as JSON. */
  read: (fields: Record<string, unknown>, carry: Record<string, unknown>, sink: Sink, path: string) => void;
}

export interface DatabaseReader extends ReaderBase {
  kind: 'database';
  /** Reads the responses recorded since `sinceMs`. */
  read: (path: string, sinceMs: number, sink: Sink) => void;
}

export type LogReader = LineReader | DatabaseReader;

/**
 * Returns the path in an environment variable, expanding a leading `~`. If the variable is unset, returns the
 * default path in the home folder.
 */
export function folderFrom(value: string | undefined, home: string, fallback: string): string {
  if (value === undefined || value === '') return `${home}/${fallback}`;
  return /^~(?:$|[/\\])/.test(value) ? home + value.slice(1) : value;
}
