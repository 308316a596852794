import { join } from 'node:path';

import { readText } from '../platform/files/atomic-file';

/**
 * Returns a shell script of templates/ with its values filled in.
 * @param root the folder with steward's package.json
 */
export function shellScript(root: string, name: string, values: Readonly<Record<string, string>>): string {
  const template = readText(join(root, 'templates', name), { followLink: true }) ?? '';
  return template.replace(/@([A-Z_]+)@/g, (whole, value: string) => values[value] ?? whole);
}
