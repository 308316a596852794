import { dirname } from 'node:path';

import { readText, replaceFile } from './atomic-file';
import { ensureFolder } from './folder';

/** A value of null means that the entry was removed. */
export type SharedValue = readonly string[] | null;

/** Settings of one kind on this machine, which machines can share. */
export interface SharedGroup {
  /** Returns the values by name; undefined if their file is missing, which removes none. */
  read: () => Promise<ReadonlyMap<string, readonly string[]> | undefined>;
  write: (changes: ReadonlyMap<string, SharedValue>) => Promise<unknown>;
  isValid: (name: string, value: readonly string[]) => boolean;
  /** Returns whether the value names restricted work. */
  isHidden?: (name: string, value: readonly string[]) => boolean;
  /** The files that store the values. */
  files: readonly string[];
}

type Values = Map<string, readonly string[]>;

/** Returns functions that read and change the values in a file. */
export function groupInFile(
  path: string,
  parse: (text: string) => Values | Promise<Values>,
  change: (text: string, name: string, value: SharedValue) => string | Promise<string>,
): Pick<SharedGroup, 'read' | 'write' | 'files'> {
  const stored = (): string | undefined => readText(path, { followLink: true });
  return {
    files: [path],
    async read() {
      const text = stored();
      return text === undefined ? undefined : parse(text);
    },
    async write(changes) {
      let text = stored() ?? '';
      for (const [name, value] of changes) text = await change(text, name, value);
      ensureFolder(dirname(path));
      replaceFile(path, text, { followLink: true });
    },
  };
}
