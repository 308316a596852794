import { basename, dirname } from 'node:path';

import { toStewardError } from '../../errors';
import { readText } from '../../platform/files/atomic-file';
import { copyFolderNew, copyNew, holdsAllOf, sameBytes } from '../../platform/files/copy-new';
import { ensureFolder, exists, lstatOf } from '../../platform/files/folder';
import { table, wrap } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import type { ImportResult } from './index';

/** What of another system can be taken over, by what it is. */
export const IMPORT_KINDS = [
  'sense events',
  'sense records',
  'sense insights',
  'sense settings',
  'work settings',
  'work labels',
  'pronunciations',
  'sessions',
  'goals',
  'projects',
  'agents',
  'knowledge',
] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/**
 * - new: to be imported
 * - there: steward has it already
 * - conflict: steward has another one, which stays
 * - unfit: of a format that steward does not read
 */
export type ImportState = 'new' | 'there' | 'conflict' | 'unfit';

/** One file, one session's folder or one setting. */
export interface ImportItem {
  kind: ImportKind;
  /** Where it is found; a setting's file. */
  from: string;
  /** Where it goes: a path, or the key of a setting. */
  to: string;
  state: ImportState;
  /** Why it is not imported, for a person; null where it is. */
  why: string | null;
}

/** An item, and what takes it over. False: something stands there by now. */
export interface PlannedItem extends ImportItem {
  take: () => boolean | Promise<boolean>;
}

export function unfit(kind: ImportKind, from: string, why: string): PlannedItem {
  return { kind, from, to: '', state: 'unfit', why, take: () => false };
}

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * A file that is copied as it is where nothing stands.
 *
 * @param problem why a text is none of that format; undefined: it is
 * @param isThere is this the same as what stands there, though other bytes?
 */
export async function fileItem(
  kind: ImportKind,
  from: string,
  to: string,
  problem: (text: string) => string | undefined | Promise<string | undefined>,
  isThere: (from: string, to: string) => boolean = () => false,
): Promise<PlannedItem> {
  const wrong = await whatIsWrong(from, problem);
  if (wrong !== undefined) return unfit(kind, from, wrong);
  const item = {
    kind,
    from,
    to,
    take: (): boolean => {
      ensureFolder(dirname(to));
      return copyNew(from, to);
    },
  };
  if (!exists(to)) return { ...item, state: 'new', why: null };
  if (lstatOf(to)?.isFile === true && (sameBytes(from, to) || isThere(from, to))) {
    return { ...item, state: 'there', why: 'steward has it already' };
  }
  return { ...item, state: 'conflict', why: 'steward has another one, which stays' };
}

async function whatIsWrong(
  path: string,
  problem: (text: string) => string | undefined | Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    const text = readText(path, { maxBytes: MAX_BYTES });
    return text === undefined ? 'it is not there any more' : await problem(text);
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind === 'internal') throw error;
    return clean(message);
  }
}

/** A folder that is copied whole where nothing stands. */
export function folderItem(kind: ImportKind, from: string, to: string): PlannedItem {
  const item = {
    kind,
    from,
    to,
    take: (): boolean => {
      ensureFolder(dirname(to));
      return copyFolderNew(from, to);
    },
  };
  if (!exists(to)) return { ...item, state: 'new', why: null };
  if (lstatOf(to)?.isFolder === true && holdsAllOf(to, from)) {
    return { ...item, state: 'there', why: 'steward has it already' };
  }
  return { ...item, state: 'conflict', why: `steward has another ${basename(to)}, which stays` };
}

const MAX_NAMED = 20;

/** What is there, by kind, then what is not imported and why. */
export function importText(
  { from, items, cut }: Pick<ImportResult, 'from' | 'items' | 'cut'>,
  options: { columns: number },
): string {
  if (items.length === 0) {
    return [`Nothing that steward could import lies in ${clean(from)}.`, ...cutLines(cut)].join('\n');
  }
  const rows = IMPORT_KINDS.flatMap((kind) => {
    const own = items.filter((item) => item.kind === kind);
    if (own.length === 0) return [];
    const count = (state: ImportState): string => String(own.filter((item) => item.state === state).length);
    return [[kind, count('new'), count('there'), count('conflict'), count('unfit')]];
  });
  const right = { align: 'right' as const };
  const left = items.filter(({ state }) => state === 'conflict' || state === 'unfit');
  return [
    table([['', 'new', 'there', 'conflict', 'unfit'], ...rows], [{}, right, right, right, right]),
    ...(left.length === 0
      ? []
      : ['', 'Not imported:', ...left.slice(0, MAX_NAMED).flatMap((item) => leftLines(item, options))]),
    ...(left.length > MAX_NAMED ? [`  and ${left.length - MAX_NAMED} more, which --json lists`] : []),
    ...cutLines(cut),
  ].join('\n');
}

function leftLines({ from, to, why }: ImportItem, { columns }: { columns: number }): string[] {
  const isSetting = to !== '' && !/[/\\]/.test(to);
  const what = isSetting ? `${clean(to)} in ${clean(from)}` : clean(from);
  return [`  ${what}`, ...wrap(clean(why ?? ''), Math.max(40, columns), '    ')];
}

function cutLines(cut: boolean): string[] {
  return cut ? ['There is more in that folder than was looked through: name a folder further down.'] : [];
}
