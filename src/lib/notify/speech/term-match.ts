import type { Replacement } from './replacement';
import type { Terms } from './terms';

/** Finds the terms in a text: at each place the longest, whole words only, none within another. Pure. */
export type FindTerms = (text: string) => Replacement[];

interface Node {
  next: Map<string, Node>;
  /** What is said of the term that ends here. */
  written: string | undefined;
}

/**
 * Prepares the terms once: a text is then walked once, whatever their number. Terms are literal, their case
 * too ("US" is not "us"); the longest that fits wins, and what is written is not looked at again.
 */
export function termFinder(terms: Terms): FindTerms {
  const root = nodeOf();
  for (const [term, written] of terms) {
    let node = root;
    for (const char of term) {
      let next = node.next.get(char);
      if (next === undefined) node.next.set(char, (next = nodeOf()));
      node = next;
    }
    node.written = written;
  }
  return (text) => (terms.size === 0 ? [] : findIn(text, root));
}

function findIn(text: string, root: Node): Replacement[] {
  const found: Replacement[] = [];
  // Code points: no match begins or ends within one.
  const chars = [...text];
  let offset = 0;
  for (let index = 0; index < chars.length;) {
    const match = isJoined(chars, index) ? undefined : longestAt(chars, index, root);
    const length = match?.length ?? 1;
    const end = offset + unitsOf(chars, index, length);
    if (match !== undefined) found.push({ start: offset, end, written: match.written });
    offset = end;
    index += length;
  }
  return found;
}

/** Is what begins here the rest of a word? */
function isJoined(chars: readonly string[], index: number): boolean {
  return index > 0 && isWord(chars[index - 1]);
}

function longestAt(
  chars: readonly string[],
  start: number,
  root: Node,
): { length: number; written: string } | undefined {
  let node: Node | undefined = root;
  let best: { length: number; written: string } | undefined;
  for (let index = start; index < chars.length; index += 1) {
    node = node.next.get(chars[index] as string);
    if (node === undefined) break;
    if (node.written !== undefined && isWhole(chars, index + 1)) {
      best = { length: index + 1 - start, written: node.written };
    }
  }
  return best;
}

/** Does a word end before this place? "don" does not in "don't", but "Ada" does in "Ada's". */
function isWhole(chars: readonly string[], index: number): boolean {
  if (isWord(chars[index])) return false;
  const apostrophe = chars[index] === "'" || chars[index] === '’';
  return !(apostrophe && /^[tT]$/.test(chars[index + 1] ?? '') && !isWord(chars[index + 2]));
}

/** Scripts that put no spaces between words have no whole words either: their characters join nothing. */
const WORD =
  /^(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])[\p{L}\p{N}\p{M}_]/u;

function isWord(char: string | undefined): boolean {
  if (char === undefined) return false;
  const code = char.charCodeAt(0);
  if (code < 128)
    return ((code | 32) >= 97 && (code | 32) <= 122) || (code >= 48 && code <= 57) || code === 95;
  return WORD.test(char);
}

function unitsOf(chars: readonly string[], index: number, length: number): number {
  let units = 0;
  for (let at = index; at < index + length; at += 1) units += (chars[at] as string).length;
  return units;
}

function nodeOf(): Node {
  return { next: new Map(), written: undefined };
}
