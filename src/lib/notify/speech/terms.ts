import { errnoCode, StewardError, toStewardError } from '../../errors';
import { readText } from '../../platform/files/atomic-file';
import { isObject } from '../../platform/files/json-object';
import { markOfTarget } from '../../platform/files/stat';
import { clean } from '../../platform/terminal/terminal';
import type { Replacement } from './transform';

/** How each term is to be said, by the term as it is written. */
export type Terms = ReadonlyMap<string, string>;

/** Finds the terms in a text: at each place the longest, whole words only, none within another. */
export type FindTerms = (text: string) => Replacement[];

/** The principal's pronunciations as they are now. */
export interface Pronunciations {
  findTerms: FindTerms;
  /** What keeps the file from being read; `findTerms` is then of the last good one, or finds nothing. */
  problem?: StewardError;
}

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_TERMS = 10_000;
const MAX_LENGTH = 200;
/** Names that a file may hold its terms under, and those of a respelling in a list of terms. */
const WRAPPERS = ['terms', 'pronunciations', 'replacements'];
const RESPELLINGS = ['phonetic', 'spoken', 'say', 'respelling', 'pronunciation'];
/** Not a term: for editors and for people. */
const REMARKS = new Set(['$schema', '_comment']);
const NOTHING: FindTerms = () => [];

/**
 * Follows a pronunciation file: each call looks whether it has changed, and reads it if so. A file that cannot be read
 * or is broken is told in the answer, and the last good one stays in use. No file: no terms. Never throws.
 */
export function pronunciationFile(path: string): () => Pronunciations {
  let read: { mark: string | undefined; answer: Pronunciations } | undefined;
  return () => {
    let mark: string | undefined;
    try {
      mark = markOfTarget(path);
      if (read !== undefined && read.mark === mark) return read.answer;
      const text = readText(path, { followLink: true, maxBytes: MAX_BYTES });
      const findTerms = text === undefined ? NOTHING : termFinder(parseTerms(text, path));
      read = { mark, answer: { findTerms } };
    } catch (error) {
      const findTerms = read?.answer.findTerms ?? NOTHING;
      read = { mark, answer: { findTerms, problem: named(error, path) } };
    }
    return read.answer;
  };
}

function named(error: unknown, path: string): StewardError {
  if (error instanceof StewardError) return error;
  if (errnoCode(error) === undefined) throw error;
  const { kind, message, hint } = toStewardError(error);
  const whole = message.includes(path) ? message : `${message}: ${path}`;
  return new StewardError(kind, `${whole}.`, { ...(hint === undefined ? {} : { hint }), cause: error });
}

/**
 * The terms of a pronunciation file: `{"Term": "respelling"}`, or a list `[{"term": …, "phonetic": …}]`, either of them
 * bare or under "terms", "pronunciations" or "replacements". Anything else is one `config` error that names all of it.
 */
export function parseTerms(text: string, path: string): Terms {
  const terms = new Map<string, string>();
  const problems: string[] = [];
  const pairs = pairsOf(contentOf(text), problems);
  if (pairs === undefined) problems.push('it is no JSON object or list');
  for (const [term, respelling] of pairs ?? []) {
    const wrong = wrongIn(term, respelling);
    if (wrong !== undefined) problems.push(wrong);
    else if (terms.has(String(term))) problems.push(`${shown(String(term))} is in it twice`);
    else terms.set(String(term), clean(String(respelling).replace(/\p{Cs}/gu, '')).trim());
  }
  if (terms.size > MAX_TERMS) problems.push(`it has more than ${MAX_TERMS} terms`);
  if (problems.length > 0) throw broken(path, problems);
  return terms;
}

function contentOf(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function pairsOf(content: unknown, problems: string[]): [unknown, unknown][] | undefined {
  if (Array.isArray(content)) {
    return content.flatMap((item: unknown, index): [unknown, unknown][] => {
      if (!isObject(item)) {
        problems.push(`item ${index + 1} is no object with "term" and "phonetic"`);
        return [];
      }
      const name = RESPELLINGS.find((key) => item[key] !== undefined) ?? '';
      return [[item['term'], item[name]]];
    });
  }
  if (!isObject(content)) return undefined;
  const wrapper = WRAPPERS.find((name) => typeof content[name] === 'object' && content[name] !== null);
  if (wrapper !== undefined) return pairsOf(content[wrapper], problems);
  return Object.entries(content).filter(([term]) => !REMARKS.has(term));
}

function wrongIn(term: unknown, respelling: unknown): string | undefined {
  if (typeof term !== 'string') return 'an item has no "term" that is a text';
  if (term.trim() === '' || term.trim() !== term || term !== clean(term)) {
    return `the term ${shown(term)} is empty, has spaces around it or control characters in it`;
  }
  if (/\p{Cs}/u.test(term)) return `the term ${shown(term)} has half a character in it`;
  if (typeof respelling !== 'string') return `${shown(term)} has no respelling that is a text`;
  if (term.length <= MAX_LENGTH && respelling.length <= MAX_LENGTH) return undefined;
  return `${shown(term)} or its respelling is longer than ${MAX_LENGTH} characters`;
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

/** Terms by their first characters: what follows, and what is said of the term that ends here. */
interface Node {
  next: Map<string, Node>;
  written?: string;
}

/**
 * Prepares the terms once: a text is then walked once, whatever their number. Terms are literal, their case too ("US"
 * is not "us"); the longest that fits wins, and what is written is not looked at again.
 */
export function termFinder(terms: Terms): FindTerms {
  const root: Node = { next: new Map() };
  for (const [term, written] of terms) {
    let node = root;
    for (const char of term) {
      const next = node.next.get(char) ?? { next: new Map() };
      node.next.set(char, next);
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
  let start = 0;
  for (let index = 0; index < chars.length;) {
    const isJoined = index > 0 && isWord(chars[index - 1]);
    const match = isJoined ? undefined : longestAt(chars, index, root);
    const length = match?.length ?? 1;
    const end = chars.slice(index, index + length).reduce((units, char) => units + char.length, start);
    if (match !== undefined) found.push({ start, end, written: match.written });
    start = end;
    index += length;
  }
  return found;
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
    if (node.written === undefined || !isWhole(chars, index + 1)) continue;
    best = { length: index + 1 - start, written: node.written };
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
  return char !== undefined && (/^\w/.test(char) || WORD.test(char));
}
