import { join } from 'node:path';

import { StewardError } from '../../errors';
import { readSystemText } from './system-files';

const MAX_BYTES = 64 * 1024;

/**
 * Returns the text of a file in templates/. Throws `not_found` if the installation lacks it.
 * @param root the folder with steward's package.json
 */
export function readTemplate(root: string, name: string): string {
  const path = join(root, 'templates', name);
  const template = readSystemText(path, MAX_BYTES);
  if (template !== undefined) return template;
  throw new StewardError('not_found', `${path} is missing from the installation.`, {
    hint: 'Reinstall steward.',
  });
}

/** Replaces all placeholders, such as `@NODE@`, in one pass, so that inserted values aren't expanded again. */
export function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/@([A-Z_]+)@/g, (whole, name: string) => values[name] ?? whole);
}

/** Replaces each `{PART}` of a pattern by that part, which may have parts itself; a list means any of its words. */
export function expanded(
  source: string,
  parts: Readonly<Record<string, string | readonly string[]>>,
): string {
  return source.replace(/\{([A-Z_]{3,})\}/g, (_, name: string) => {
    const part = parts[name] ?? '';
    return expanded(typeof part === 'string' ? part : `(?:${part.join('|')})`, parts);
  });
}
