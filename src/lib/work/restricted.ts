import { dirname, join } from 'node:path';

import { exists } from '../platform/folder';

/** The marker of a folder whose work never leaves the machine (service.md: Work configuration). */
export const RESTRICTED_MARKER = 'RESTRICTED.md';

/** Does a marker stand in the folder, or in one above it? */
export function isRestricted(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (exists(join(at, RESTRICTED_MARKER))) return true;
    if (dirname(at) === at) return false;
  }
}
