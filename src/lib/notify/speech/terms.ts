import { StewardError, errnoCode, toStewardError } from '../../errors';
import { readText } from '../../platform/files/atomic-file';
import { isObject } from '../../platform/files/json-object';
import { markOfTarget } from '../../platform/files/stat';
import { clean } from '../../platform/terminal/terminal';
import type { Replacement } from './transform';

/** How each term is to be said, by the term as it is written. */
export type Terms = ReadonlyMap<string, string>;

const MAX_TERMS = 10_000;
const MAX_LENGTH = 200;
/** Names that a file may hold its terms under, and those of a respelling in a list of terms. */
const WRAPPERS = ['terms', 'pronunciations', 'replacements'];
const RESPELLINGS = ['phonetic', 'spoken', 'say', 'respelling', 'pronunciation'];
/** Not a term: for editors and for people. */
const REMARKS = new Set(['$schema', '_comment']);

/**
 * The terms of a pronunciation file (service.md: Voice; the shape is this product's): `{"Term": "respelling"}`,
 * or a list `[{"term": …, "phonetic": …}]`, either of them bare or under "terms", "pronunciations" or
 * "replacements". Anything else is one `config` error with everything that is wrong.
 */
export function parseTerms(text: string, path: string): Terms {
  const content = contentOf(text);
  if (content === undefined) {
    throw broken(path, ['it is no JSON object or list']);
  }
  const terms = new Map<string, string>();
  const problems: string[] = [];
  for (const [term, respelling] of pairsOf(content, problems)) {
    const fit = checked(term, respelling);
    if ('wrong' in fit) problems.push(fit.wrong);
    else if (terms.has(fit.term)) problems.push(`${shown(fit.term)} is in it twice`);
    else terms.set(fit.term, fit.written);
  }
  if (terms.size > MAX_TERMS) problems.push(`it has more than ${MAX_TERMS} terms`);
  if (problems.length > 0) throw broken(path, problems);
  return terms;
}

function contentOf(text: string): Record<string, unknown> | unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isObject(value) || Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function pairsOf(content: Record<string, unknown> | unknown[], problems: string[]): [unknown, unknown][] {
  if (Array.isArray(content)) return content.map((item, index) => pairOf(item, index, problems));
  const wrapper = WRAPPERS.find((name) => typeof content[name] === 'object' && content[name] !== null);
  if (wrapper !== undefined) return pairsOf(content[wrapper] as Record<string, unknown>, problems);
  return Object.entries(content).filter(([term]) => !REMARKS.has(term));
}

function pairOf(item: unknown, index: number, problems: string[]): [unknown, unknown] {
  if (!isObject(item)) {
    problems.push(`item ${index + 1} is no object with "term" and "phonetic"`);
    return ['-', '-'];
  }
  const name = RESPELLINGS.find((key) => item[key] !== undefined);
  return [item['term'], name === undefined ? undefined : item[name]];
}

function checked(term: unknown, respelling: unknown): { term: string; written: string } | { wrong: string } {
  if (typeof term !== 'string') return { wrong: 'an item has no "term" that is a text' };
  if (term.trim() === '' || term.trim() !== term || term !== clean(term)) {
    return { wrong: `the term ${shown(term)} is empty, has spaces around it or control characters in it` };
  }
  if (/\p{Cs}/u.test(term)) return { wrong: `the term ${shown(term)} has half a character in it` };
  if (typeof respelling !== 'string') return { wrong: `${shown(term)} has no respelling that is a text` };
  if (term.length > MAX_LENGTH || respelling.length > MAX_LENGTH) {
    return { wrong: `${shown(term)} or its respelling is longer than ${MAX_LENGTH} characters` };
  }
  return { term, written: clean(respelling.replace(/\p{Cs}/gu, '')).trim() };
}

function shown(term: string): string {
  const text = clean(JSON.stringify(term));
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

const MAX_TOLD = 5;

function broken(path: string, problems: readonly string[]): StewardError {
  const told = problems.slice(0, MAX_TOLD).join('; ');
  const rest = problems.length > MAX_TOLD ? `; and ${problems.length - MAX_TOLD} more` : '';
  return new StewardError('config', `${path}: ${told}${rest}.`, {
    hint: 'Write it as {"Kubernetes": "koober netties"}: each term as it is written, and how it is said.',
  });
}

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

/** The principal's pronunciations as they are now. */
export interface Pronunciations {
  findTerms: FindTerms;
  /** What keeps the file from being read; `findTerms` is then of the last good one, or finds nothing. */
  problem?: StewardError;
}

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Follows a pronunciation file: each call looks whether it has changed, and reads it if so. A file that cannot
 * be read or is broken is told in the answer, and the last good one stays in use. No file: no terms.
 *
 * @returns never throws
 */
export function pronunciationFile(path: string): () => Pronunciations {
  let read: { mark: string | undefined; answer: Pronunciations } | undefined;
  return () => {
    let mark: string | undefined;
    try {
      mark = markOfTarget(path);
      if (read?.mark === mark && read !== undefined) return read.answer;
      const text = mark === undefined ? undefined : readText(path, { followLink: true, maxBytes: MAX_BYTES });
      const findTerms = text === undefined ? NOTHING : termFinder(parseTerms(text, path));
      read = { mark, answer: { findTerms } };
    } catch (error) {
      const problem = named(error, path);
      read = { mark, answer: { findTerms: read?.answer.findTerms ?? NOTHING, problem } };
    }
    return read.answer;
  };
}

const NOTHING: FindTerms = () => [];

function named(error: unknown, path: string): StewardError {
  if (error instanceof StewardError) return error;
  if (errnoCode(error) === undefined) throw error;
  const { kind, message, hint } = toStewardError(error);
  const whole = message.includes(path) ? message : `${message}: ${path}`;
  return new StewardError(kind, `${whole}.`, { ...(hint === undefined ? {} : { hint }), cause: error });
}
