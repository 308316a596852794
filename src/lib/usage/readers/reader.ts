import type { PathHost } from '../../platform/files/paths';
import type { Sink } from '../entry';

interface ReaderBase {
  /** As in the rows: `codex`. */
  assistant: string;
  name: string;
  /** The folders or files to read, by the assistant's own environment variables; each may be missing. */
  places: (host: Pick<PathHost, 'env' | 'home'>) => string[];
  isLog: (name: string) => boolean;
  /** How many folders deep its logs lie. */
  depth: number;
}

/** Reads JSON lines. */
export interface LineReader extends ReaderBase {
  kind: 'lines';
  /** Only lines that contain one of these are parsed. */
  markers: readonly string[];
  /** @param carry what the reader remembers between the lines of a file; plain JSON */
  read: (fields: Record<string, unknown>, carry: Record<string, unknown>, sink: Sink, path: string) => void;
}

/** Reads a database. */
export interface DatabaseReader extends ReaderBase {
  kind: 'database';
  /** Reads the answers since a time; false if this Node.js cannot read databases. */
  read: (path: string, sinceMs: number, sink: Sink) => boolean;
}

export type Reader = LineReader | DatabaseReader;

/** Expands a leading `~` of an environment variable, or returns the default below home. */
export function folderFrom(value: string | undefined, home: string, fallback: string): string {
  if (value === undefined || value === '') return `${home}/${fallback}`;
  return /^~(?:$|[/\\])/.test(value) ? home + value.slice(1) : value;
}
