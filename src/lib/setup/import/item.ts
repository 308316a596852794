import { basename, dirname, join } from 'node:path';

import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { throwIfBug, unless } from '../../errors';
import { readText } from '../../platform/files/atomic-file';
import { copyFolderNew, copyNew, holdsAllOf, sameBytes } from '../../platform/files/copy-new';
import { ensureFolder, exists, lstatOf } from '../../platform/files/folder';
import { type FolderEntry, entriesIn, kindOf } from '../../platform/files/stat';
import { table, wrap } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import { ARTIFACT_NAME } from '../../sessions/artifact';

/** The parts whose items are all of one kind. */
const OF_ONE_KIND = ['pronunciations', 'sessions', 'goals', 'projects', 'agents', 'knowledge'] as const;

/** The parts that can be imported, in import order. */
export const PARTS = ['sense', 'work', ...OF_ONE_KIND] as const;
export type ImportPart = (typeof PARTS)[number];

const IMPORT_KINDS = [
  'sense events',
  'sense records',
  'sense insights',
  'sense settings',
  'work settings',
  'work labels',
  ...OF_ONE_KIND,
] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/**
 * - `there`: already in steward
 * - `conflict`: differs from steward's version, which stays unchanged
 * - `unfit`: in a format that steward can't read
 */
type ImportState = 'new' | 'there' | 'conflict' | 'unfit';

export interface ImportItem {
  kind: ImportKind;
  /** Path of the item, or of the file that contains the setting. */
  from: string;
  /** Path of the target, or the setting's key. */
  to: string;
  state: ImportState;
  /** Why the item isn't imported; null if it is new. */
  why: string | null;
}

/**
 * An item and the function that imports it. The function returns false if the target has been created since
 * planning.
 */
export interface PlannedItem extends ImportItem {
  take: () => boolean | Promise<boolean>;
}

export function unfit(kind: ImportKind, from: string, why: string): PlannedItem {
  return { kind, from, to: '', state: 'unfit', why, take: () => false };
}

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Plans to copy a file unless the target exists.
 * @param problem Returns why the file's text is invalid. May also throw a `StewardError`.
 * @param isSame Returns whether two files with different bytes have the same content.
 */
export async function fileItem(
  kind: ImportKind,
  from: string,
  to: string,
  problem: (text: string) => unknown,
  isSame: (from: string, to: string) => boolean = () => false,
): Promise<PlannedItem> {
  try {
    const text = readText(from, { maxBytes: MAX_BYTES });
    const wrong = text === undefined ? 'deleted during the search' : await problem(text);
    if (typeof wrong === 'string') return unfit(kind, from, wrong);
  } catch (error) {
    return unfit(kind, from, clean(throwIfBug(error).message));
  }
  const isThere = exists(to) && lstatOf(to)?.isFile === true && (sameBytes(from, to) || isSame(from, to));
  return copied({ kind, from, to }, isThere, copyNew, 'file');
}

export function folderItem(kind: ImportKind, from: string, to: string): PlannedItem {
  const isThere = lstatOf(to)?.isFolder === true && holdsAllOf(to, from);
  return copied({ kind, from, to }, isThere, copyFolderNew, basename(to));
}

function copied(
  about: { kind: ImportKind; from: string; to: string },
  isThere: boolean,
  copy: (from: string, to: string) => boolean,
  name: string,
): PlannedItem {
  const { from, to } = about;
  const take = (): boolean => {
    ensureFolder(dirname(to));
    return copy(from, to);
  };
  if (!exists(to)) return { ...about, take, state: 'new', why: null };
  if (isThere) return { ...about, take, state: 'there', why: 'already imported' };
  return { ...about, take, state: 'conflict', why: `steward already has a different ${name}` };
}

const MAX_NAMED = 20;

export function importText(
  { from, items, cut }: { from: string; items: readonly ImportItem[]; cut: boolean },
  { columns }: { columns: number },
): string {
  const more = cut ? ['The folder is too large to search completely. Choose a subfolder.'] : [];
  if (items.length === 0) return [`Nothing to import in ${clean(from)}.`, ...more].join('\n');
  const states: ImportState[] = ['new', 'there', 'conflict', 'unfit'];
  const rows = IMPORT_KINDS.map((kind) => items.filter((item) => item.kind === kind))
    .filter((group) => group.length > 0)
    .map((group) => [
      group[0]?.kind ?? '',
      ...states.map((state) => String(group.filter((item) => item.state === state).length)),
    ]);
  const right = { align: 'right' as const };
  const skipped = items.filter(({ state }) => state === 'conflict' || state === 'unfit');
  const lines = skipped.slice(0, MAX_NAMED).flatMap((item) => {
    const isSetting = item.to !== '' && !/[/\\]/.test(item.to);
    const what = isSetting ? `${clean(item.to)} in ${clean(item.from)}` : clean(item.from);
    return [`  ${what}`, ...wrap(clean(item.why ?? ''), Math.max(40, columns), '    ')];
  });
  return [
    table([['', ...states], ...rows], [{}, right, right, right, right]),
    ...(skipped.length === 0 ? [] : ['', 'Not imported:', ...lines]),
    ...(skipped.length > MAX_NAMED ? [`  and ${skipped.length - MAX_NAMED} more; --json lists all`] : []),
    ...more,
  ].join('\n');
}

/** An importable part, and the path of its file or folder. */
interface FoundPart {
  part: ImportPart;
  path: string;
}

const MAX_DEPTH = 6;
const MAX_FOLDERS = 20_000;
const SKIPPED = ['.git', 'node_modules'];
const FILES = { pronunciations: 'pronunciations.json', goals: 'goals.md', projects: 'projects.md' } as const;

/**
 * Finds importable parts below a folder by their format, nearest first. Skips links. `cut` is true if the
 * search stopped at a limit.
 */
export function findParts(root: string, except: string): { parts: FoundPart[]; cut: boolean } {
  const parts: FoundPart[] = [];
  let level = [root];
  let count = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      count += 1;
      if (count > MAX_FOLDERS || depth > MAX_DEPTH) return { parts, cut: true };
      const { found, remaining } = partsIn(folder);
      parts.push(...found);
      next.push(...remaining.filter((path) => path !== except));
    }
    level = next;
  }
  return { parts, cut: false };
}

function partsIn(folder: string): { found: FoundPart[]; remaining: string[] } {
  const entries = readable(folder);
  const folders = entries.filter(({ name, isFolder }) => isFolder && !SKIPPED.includes(name));
  const names = folders.map(({ name }) => name);
  const files = new Map(
    entries.filter(({ isFolder }) => !isFolder).map(({ name }) => [name.toLowerCase(), name]),
  );
  const inside = (name: string, pattern: RegExp): boolean =>
    names.includes(name) && readable(join(folder, name)).some((entry) => pattern.test(entry.name));
  const slugs = names.filter((name) => kindOf(join(folder, name, ARTIFACT_NAME)) === 'file');
  const types = KNOWLEDGE_TYPES.filter((type) => inside(type, /\.md$/));
  const found: FoundPart[] = [];
  const taken: string[] = [];
  const add = (matches: boolean, part: ImportPart, path: string, ...known: string[]): void => {
    if (!matches) return;
    found.push({ part, path });
    taken.push(...known);
  };
  const isSense = inside('events', /^\d{4}-\d\d-\d\d\.jsonl$/) || inside('daily', /^\d{4}-\d\d-\d\d\.json$/);
  add(isSense, 'sense', folder, 'events', 'daily', 'insights', 'logs', 'quarantine');
  const isWork = files.has('work_repo.json') || (files.has('labels.yml') && files.has('config.yaml'));
  add(isWork, 'work', folder, 'customers');
  for (const part of ['pronunciations', 'goals', 'projects'] as const) {
    const name = files.get(FILES[part]);
    if (name !== undefined) found.push({ part, path: join(folder, name) });
  }
  add(slugs.length > 0, 'sessions', folder, ...slugs);
  add(inside('agents', /\.md$/), 'agents', join(folder, 'agents'), 'agents');
  add(types.length > 0, 'knowledge', folder, ...types);
  return {
    found,
    remaining: names.filter((name) => !taken.includes(name)).map((name) => join(folder, name)),
  };
}

/** A folder without read permission counts as empty. */
function readable(folder: string): FolderEntry[] {
  return unless(['EACCES', 'EPERM'], () => entriesIn(folder)) ?? [];
}
