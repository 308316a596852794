import { shortHash } from '../platform/files/short-hash';

const GRAMMAR = /^[a-z0-9][a-z0-9._-]{0,80}$/;
/** Windows reserves these device names, with any file extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;
const MAX_WORDS = 40;

/** Returns whether the text is a valid slug, which is a safe folder name on every system. */
export function isSlug(text: string): boolean {
  return GRAMMAR.test(text) && !DEVICE.test(text) && !text.endsWith('.') && !text.includes('..');
}

/**
 * Makes a slug from a day, a subject and an id, such as `20261120-website-3f9a1c2e`. The same input gives the
 * same slug.
 * @param day such as `2026-11-20`
 * @param about the repository of a new session
 * @param unique a session id
 */
export function makeSlug(day: string, about: string, unique: string): string {
  const words = plain(about).slice(0, MAX_WORDS).replace(/-$/, '');
  return [plain(day).replaceAll('-', '') || 'day', words || 'session', shortHash(unique)].join('-');
}

const NAMELESS = /^restricted-[0-9a-f]{8}$/;

/** Makes the slug of a session that stays without a name, because its work is restricted. */
export function namelessSlug(unique: string): string {
  return `restricted-${shortHash(unique)}`;
}

export function isNameless(slug: string): boolean {
  return NAMELESS.test(slug);
}

function plain(text: string): string {
  return text
    .slice(0, 400)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
