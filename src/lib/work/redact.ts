import { dirname, join } from 'node:path';

import { createFile } from '../platform/files/atomic-file';
import { exists, lstatOf } from '../platform/files/folder';

const REDACTED = '[redacted]';

/**
 * Texts that open a door: nothing that looks like one leaves the machine. A whole prompt may be long, so no pattern
 * looks far on from a place that fits only in part.
 */
const CREDENTIALS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,60}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,60}PRIVATE KEY-----|$)/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|rk_live_|sk_live_|pk_live_|hf_|npm_|AIza|ya29\.)[\w.-]{12,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\bbearer\s{1,9}[\w.~+/-]{12,}=*/gi,
];
/** `Basic …`: what comes after it, where that is a name and a password. */
const BASIC = /\b(basic)(\s{1,9})([\w+/-]{8,}=*)/gi;
/** `scheme://user:password@host`: the password. */
const IN_ADDRESS = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*):[^\s/@]+@/gi;
/** `password: …`, `API_KEY=…`, `the token is …`: what comes after the name. */
const NAMED =
  /(?<![a-z0-9])(password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)(\s{0,9}[:=]\s{0,9}|\s{1,9}is\s{1,9})("[^"]*"|'[^']*'|[^\s,;]+)/gi;

/** A text without what looks like a credential in it. */
export function redacted(text: string): string {
  const known = CREDENTIALS.reduce((rest, pattern) => rest.replace(pattern, REDACTED), text);
  return known
    .replace(BASIC, (all, name: string, space: string, word: string) =>
      isNameAndPassword(word) ? `${name}${space}${REDACTED}` : all,
    )
    .replace(IN_ADDRESS, (_, before: string) => `${before}:${REDACTED}@`)
    .replace(NAMED, (_, name: string, between: string) => `${name}${between}${REDACTED}`);
}

/** Is it `user:password` in base64, and not a word of the language such as "authentication"? */
function isNameAndPassword(word: string): boolean {
  return /^[^\p{Cc}\ufffd:]*:[^\p{Cc}\ufffd]*$/u.test(Buffer.from(word, 'base64').toString());
}

/** The marker of a folder whose work never leaves the machine. */
const RESTRICTED_MARKER = 'RESTRICTED.md';

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

/** Says in a session's folder that it is restricted; where there is none yet, it cannot be said. */
export function markRestricted(folder: string): void {
  if (lstatOf(folder)?.isFolder === true)
    createFile(join(folder, RESTRICTED_MARKER), 'The work of this session stays on this machine.\n');
}
