import { dirname, join } from 'node:path';

import { exists } from '../platform/files/folder';

/** The marker of a folder whose work never leaves the machine (service.md: Work configuration). */
export const RESTRICTED_MARKER = 'RESTRICTED.md';

/**
 * Does a marker stand in the folder, or in one above it?
 *
 * @param known what is known already, by folder; the answers of those above are added: for many folders of one moment
 */
export function isRestricted(folder: string, known?: Map<string, boolean>): boolean {
  if (exists(join(folder, RESTRICTED_MARKER))) return true;
  const above = dirname(folder);
  if (above === folder) return false;
  const said = known?.get(above) ?? isRestricted(above, known);
  known?.set(above, said);
  return said;
}
