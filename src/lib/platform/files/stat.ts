import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';

import { unless } from '../../errors';

/** What a path showed at one moment, cheap enough to ask for hundreds at every capture. */
export interface Stamp {
  kind: 'file' | 'folder' | 'link' | 'other';
  /**
   * Inode, size and date of change: the same text means the same content, but for a change within one tick of
   * the clock. The date is a double of milliseconds, exact to a quarter of a microsecond.
   */
  mark: string;
  mtimeMs: number;
}

/** The stamp of a path, links not followed; undefined when nothing is there. Throws for what cannot be read. */
export function stampOf(path: string): Stamp | undefined {
  const found = lookAt(lstatSync, path);
  if (found === undefined) return undefined;
  const kind = found.isSymbolicLink() ? 'link' : kindIn(found);
  return { kind, ...datesOf(found) };
}

/** The mark of what stands at the end of a path's links; undefined when nothing does. Throws for what cannot be read. */
export function markOfTarget(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : datesOf(found).mark;
}

/** What stands at the ends of several paths, in one text that is the same as long as nothing changes. */
export interface Marks {
  text: string;
  /** The latest date of change among them, wall-clock ms; 0 when nothing is there. */
  newestMs: number;
}

export function marksOf(paths: readonly string[]): Marks {
  const found = paths.map((path) => statSync(path, { throwIfNoEntry: false }));
  const text = found.map((one) => `${one === undefined ? '-' : datesOf(one).mark}\n`).join('');
  return { text, newestMs: Math.max(0, ...found.map((one) => one?.mtimeMs ?? 0)) };
}

/** What stands at the end of a path's links. */
export interface Target {
  kind: 'file' | 'folder' | 'other';
  bytes: number;
  /** `dev:ino`: the same for every name of one file or folder. */
  id: string;
  /** As of a Stamp. */
  mark: string;
  mtimeMs: number;
}

/** The end of a path's links; undefined when nothing is there. Throws for what cannot be read. */
export function targetOf(path: string): Target | undefined {
  const found = lookAt(statSync, path);
  if (found === undefined) return undefined;
  return { kind: kindIn(found), bytes: found.size, id: idOf(path, found), ...datesOf(found) };
}

/** What stands at the end of a path's links; cheaper than `targetOf`, which tells more. */
export function kindOf(path: string): Target['kind'] | undefined {
  const found = lookAt(statSync, path);
  return found === undefined ? undefined : kindIn(found);
}

export interface FolderEntry {
  name: string;
  isFolder: boolean;
}

/** The entries of a folder, in the order of their names; none where it is not there. */
export function entriesIn(path: string): FolderEntry[] {
  const entries = unless(ABSENT, () => readdirSync(path, { withFileTypes: true })) ?? [];
  return entries
    .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Where a path leads when all its links are followed; undefined when nothing is there. */
export function realPath(path: string): string | undefined {
  return unless(ABSENT, () => realpathSync(path));
}

/** A number of a file that a double cannot hold (on Windows) is asked for again, whole. */
function idOf(path: string, found: Stats): string {
  if (Number.isSafeInteger(found.ino) && Number.isSafeInteger(found.dev)) return `${found.dev}:${found.ino}`;
  const whole = statSync(path, { bigint: true });
  return `${whole.dev}:${whole.ino}`;
}

function datesOf(found: Stats): Pick<Stamp, 'mark' | 'mtimeMs'> {
  return { mark: `${found.ino}:${found.size}:${found.mtimeMs}`, mtimeMs: found.mtimeMs };
}

function kindIn(found: Stats): Target['kind'] {
  return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
}

type StatSync = (path: string, options: { throwIfNoEntry: false }) => Stats | undefined;

function lookAt(stat: StatSync, path: string): Stats | undefined {
  return unless(ABSENT, () => stat(path, { throwIfNoEntry: false }));
}

/** A circle of links leads nowhere; a name that is too long names nothing. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
