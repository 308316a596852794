import data from '../../../templates/data/routing.json';

/**
 * A request prepared for matching: `plain` with quotations, code, URLs and paths masked, and `text` in lowercase
 * ASCII. Each character has the same position in both. `isCut`: the middle of a long request was dropped.
 */
export type RequestText = ReturnType<typeof readRequest>;

/**
 * Number of characters kept from the start and the end of a long request. The middle is usually pasted text.
 */
const HEAD = 48 * 1024;
const TAIL = 16 * 1024;

/** Prepares a request for matching. Takes linear time and reads at most 65,536 characters. */
export function readRequest(request: string) {
  const isCut = request.length > HEAD + TAIL;
  const part = isCut ? `${request.slice(0, HEAD)}\n${request.slice(-TAIL)}` : request;
  const whole = unwrapped(
    part
      .normalize('NFKC')
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ')
      .replace(/[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, ''),
  );
  const plain = masked(straight(whole.trim()));
  return { plain, text: plain.replace(/[^\n\x20-\x7e]/gu, standIn).toLowerCase(), isCut };
}

/** Replaces typographic quotes and dashes with ASCII characters of the same length. */
function straight(text: string): string {
  return text
    .replace(/[\u2018\u2019\u201b\u02bc]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f\u00ab\u00bb]/g, '"')
    .replace(/[\u3002\uff0e]/g, '.')
    .replace(/[\u2010-\u2015]/g, '-');
}

function standIn(char: string): string {
  const sign = /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(char) ? '_' : /[\s\p{S}]/u.test(char) ? ' ' : ',';
  return sign.repeat(char.length);
}

function unwrapped(text: string): string {
  const found = /^\s*(["'\u201c\u00ab])([^"'`\u201c\u201d\u00ab\u00bb]{2,})(["'\u201d\u00bb])\s*$/.exec(text);
  return found === null ? text : (found[2] as string);
}

/**
 * Patterns and their replacements. Each replacement is padded with `_` to the length of its match. An apostrophe inside
 * a word is not a quote.
 */
const MASKS = data.masks.map(({ pattern, flags, word }) => [new RegExp(pattern, flags), word] as const);

function masked(text: string): string {
  return MASKS.reduce(
    (rest, [pattern, word]) =>
      rest.replace(pattern, (found) =>
        UNMASKED.test(found) ? found : (found.length < word.length ? '' : word).padEnd(found.length, '_'),
      ),
    text,
  );
}

const UNMASKED = new RegExp(data.unmasked, 'i');

/** Returns up to `words` words before a position, within the same clause. */
export function clauseBefore(text: string, at: number, words: number): string {
  const from = Math.max(0, at - 240);
  const before = text.slice(from, at);
  let start = 0;
  for (const { 0: boundary, index } of before.matchAll(BOUNDARY)) start = index + boundary.length;
  return before.slice(start).trim().split(/\s+/).slice(-words).join(' ');
}

/** Returns up to `words` words after a position, within the same clause. */
export function clauseAfter(text: string, at: number, words: number): string {
  const after = text.slice(at, at + 160);
  const end = after.search(BOUNDARY_ONCE);
  return (end === -1 ? after : after.slice(0, end)).trim().split(/\s+/).slice(0, words).join(' ');
}

const CLAUSE_END = String.raw`[.;:!?\n,()]|\s-\s|\b(?:but|then|so|because|instead(?! of)|otherwise|and just|just|and instead|rather(?! than))\b`;
const BOUNDARY = new RegExp(CLAUSE_END, 'g');
const BOUNDARY_ONCE = new RegExp(CLAUSE_END);
