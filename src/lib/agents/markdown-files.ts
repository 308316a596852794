import { StewardError } from '../errors';
import { listFolder, lstatOf } from '../platform/files/folder';

/** Returns the folder's Markdown files, sorted by name. Throws `config` if the folder is a symbolic link. */
export function rosterFiles(folder: string): string[] {
  const facts = lstatOf(folder);
  if (facts === undefined) return [];
  if (!facts.isFolder) {
    throw new StewardError('config', `${folder} is ${facts.isLink ? 'a symbolic link' : 'not a folder'}.`, {
      hint: 'Replace it with a regular folder.',
    });
  }
  return markdownFiles(folder);
}

/** Returns the names of the Markdown files in a folder, sorted. */
export function markdownFiles(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .sort();
}
