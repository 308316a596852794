import { basename, dirname } from 'node:path';

import { toStewardError } from '../../errors';
import { readText } from '../../platform/files/atomic-file';
import { copyFolderNew, copyNew, holdsAllOf, sameBytes } from '../../platform/files/copy-new';
import { ensureFolder, exists, lstatOf } from '../../platform/files/folder';
import { clean } from '../../platform/terminal/terminal';
import { unfit, type ImportKind, type PlannedItem } from './item';

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
