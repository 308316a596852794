import { shortHash } from '../platform/files/short-hash';

const GRAMMAR = /^[a-z0-9][a-z0-9._-]{0,80}$/;
/** Names that Windows gives to devices, whatever follows the dot. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;
const MAX_WORDS = 40;

/** Is the text a slug: one safe folder name on every system? */
export function isSlug(text: string): boolean {
  return GRAMMAR.test(text) && !DEVICE.test(text) && !text.endsWith('.') && !text.includes('..');
}

/**
 * `20261120-website-3f9a1c2e`: day, what it is about (all that is known of a session that begins is its repository;
 * it goes by its artifact's slug later), and what tells it from others. Whatever the texts hold, the result is a slug; the same texts give the same.
 *
 * @param day `2026-11-20`
 * @param unique a session id
 */
export function makeSlug(day: string, about: string, unique: string): string {
  const words = plain(about).slice(0, MAX_WORDS).replace(/-$/, '');
  return [plain(day).replaceAll('-', '') || 'day', words || 'session', shortHash(unique)].join('-');
}

/** Latin letters and digits with single hyphens; accents are dropped, other scripts too. */
function plain(text: string): string {
  return text
    .slice(0, 400)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
