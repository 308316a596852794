import type { Replacement } from './homographs';
import { errnoCode, StewardError, toStewardError } from '../../errors';
import { readText } from '../../platform/files/atomic-file';
import { isObject, parseJson } from '../../platform/files/json-object';
import { markOfTarget } from '../../platform/files/stat';
import { clean, truncated } from '../../platform/terminal/terminal';
import { findHomographs } from './homographs';

export type Terms = ReadonlyMap<string, string>;

/** Finds terms in text. Matches only whole words, and the longest term at each position. */
type FindTerms = (text: string) => Replacement[];

export type Transformed = ReturnType<typeof transform>;

/**
 * Prepares text for speech: replaces custom terms, respells homographs, and removes line breaks, control
 * characters and lone surrogates.
 */
export function transform(text: string, findTerms: FindTerms) {
  const speakable = clean(text.replace(/\p{Cs}/gu, ' ')).trim();
  const terms = findTerms(speakable);
  const homographs = findHomographs(speakable).filter(
    ({ start, end }) => !terms.some((term) => start < term.end && term.start < end),
  );
  const all = [...terms, ...homographs].sort((a, b) => a.start - b.start);
  return { text, spoken: replaced(speakable, all).trim() };
}

/** Applies sorted replacements in one pass, so that replaced text isn't searched again. */
export function replaced(text: string, replacements: readonly Replacement[]): string {
  let done = 0;
  let result = '';
  for (const { start, end, written } of replacements) {
    result += text.slice(done, start) + written;
    done = end;
  }
  return result + text.slice(done);
}

interface Pronunciations {
  findTerms: FindTerms;
  /**
   * The reason why the file can't be read. In that case, `findTerms` uses the last valid version of the file.
   */
  problem?: StewardError;
}

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_TERMS = 10_000;
const MAX_LENGTH = 200;
const WRAPPERS = ['terms', 'pronunciations', 'replacements'];
const RESPELLINGS = ['phonetic', 'spoken', 'say', 'respelling', 'pronunciation'];
const REMARKS = new Set(['$schema', '_comment']);

/**
 * Returns a function that rereads the pronunciation file after each change. The function never throws; a
 * missing file counts as empty.
 */
export function pronunciationFile(path: string): () => Pronunciations {
  let read: { mark: string | undefined; answer: Pronunciations } | undefined;
  return () => {
    let mark: string | undefined;
    try {
      mark = markOfTarget(path);
      if (read !== undefined && read.mark === mark) return read.answer;
      const text = readText(path, { followLink: true, maxBytes: MAX_BYTES });
      read = {
        mark,
        answer: { findTerms: termFinder(text === undefined ? new Map() : parseTerms(text, path)) },
      };
    } catch (error) {
      const findTerms = read?.answer.findTerms ?? (() => []);
      read = { mark, answer: { findTerms, problem: problemOf(error, path) } };
    }
    return read.answer;
  };
}

function problemOf(error: unknown, path: string): StewardError {
  if (error instanceof StewardError) return error;
  if (errnoCode(error) === undefined) throw error;
  const { kind, message, hint } = toStewardError(error);
  const named = message.includes(path) ? message : `${message}: ${path}`;
  return new StewardError(kind, `${named}.`, { hint, cause: error });
}

/**
 * Parses `{"Term": "respelling"}` or `[{"term": …, "phonetic": …}]`, bare or nested under "terms",
 * "pronunciations" or "replacements". Reports all problems in a single `config` error.
 */
export function parseTerms(text: string, path: string): Terms {
  const terms = new Map<string, string>();
  const problems: string[] = [];
  const pairs = pairsOf(contentOf(text), problems);
  if (pairs === undefined) problems.push('not a JSON object or list');
  for (const [term, respelling] of pairs ?? []) {
    const problem = problemIn(term, respelling);
    if (problem !== undefined) problems.push(problem);
    else if (terms.has(String(term))) problems.push(`${quoted(String(term))} is listed twice`);
    else terms.set(String(term), clean(String(respelling).replace(/\p{Cs}/gu, '')).trim());
  }
  if (terms.size > MAX_TERMS) problems.push(`more than ${MAX_TERMS} terms`);
  if (problems.length === 0) return terms;
  const shown = problems.slice(0, 5).join('; ');
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : '';
  throw new StewardError('config', `${path} is invalid: ${shown}${more}.`, {
    hint: 'Use an object that maps terms to respellings: {"Kubernetes": "koober netties"}.',
  });
}

/** Returns the file's text with a term changed or added, or removed if `said` is null. */
export function withTerm(text: string, path: string, term: string, said: string | null): string {
  const content = contentOf(text === '' ? '{}' : text);
  const isPlain = isObject(content) && WRAPPERS.every((name) => typeof content[name] !== 'object');
  const terms = new Map<string, unknown>(isPlain ? Object.entries(content) : parseTerms(text, path));
  if (said === null) terms.delete(term);
  else terms.set(term, said);
  return `${JSON.stringify(Object.fromEntries(terms), null, 2)}\n`;
}

function contentOf(text: string): unknown {
  return parseJson(text.replace(/^\uFEFF/, ''));
}

function pairsOf(content: unknown, problems: string[]): [unknown, unknown][] | undefined {
  if (Array.isArray(content)) {
    return content.flatMap((item: unknown, index): [unknown, unknown][] => {
      if (!isObject(item)) {
        problems.push(`item ${index + 1} is not an object with "term" and "phonetic"`);
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

export function problemIn(term: unknown, respelling: unknown): string | undefined {
  if (typeof term !== 'string') return `an item's "term" is missing or not a string`;
  if (term.trim() === '' || term.trim() !== term || term !== clean(term)) {
    return `the term ${quoted(term)} is empty, has leading or trailing spaces, or contains control characters`;
  }
  if (/\p{Cs}/u.test(term)) return `the term ${quoted(term)} contains a lone surrogate`;
  if (typeof respelling !== 'string') return `${quoted(term)} has a respelling that is not a string`;
  if (term.length <= MAX_LENGTH && respelling.length <= MAX_LENGTH) return undefined;
  return `${quoted(term)} or its respelling is longer than ${MAX_LENGTH} characters`;
}

function quoted(term: string): string {
  return truncated(clean(JSON.stringify(term)), 40);
}

/**
 * Matches a word (group 1) or a single other character. In scripts without spaces between words, each
 * character is matched separately.
 */
const TOKEN =
  /((?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])[\p{L}\p{N}\p{M}_])+)|[^]/gu;

/** Returns a function that finds terms. Terms are literal and case-sensitive, and the longest match wins. */
export function termFinder(terms: Terms): FindTerms {
  /** Maps a term's first token to the lengths of the terms that start with that token, longest first. */
  const lengths = new Map<string, number[]>();
  for (const term of [...terms.keys()].sort((a, b) => b.length - a.length)) {
    const first = term.match(TOKEN)?.[0] ?? '';
    const known = lengths.get(first) ?? [];
    if (known.at(-1) !== term.length) lengths.set(first, [...known, term.length]);
  }
  return (text) => {
    if (terms.size === 0) return [];
    const tokens = [...text.matchAll(TOKEN)];
    /** Maps the offset of each token to the token's word, or to `undefined` if the token isn't a word. */
    const words = new Map(tokens.map(({ index, 1: word }) => [index, word]));
    const endsAt = (index: number): boolean =>
      index === text.length ||
      // A term may end before "'s" but not before "'t", so "don" isn't found in "don't".
      (words.has(index) &&
        words.get(index) === undefined &&
        !(/^['’]$/.test(text.charAt(index)) && /^t$/i.test(words.get(index + 1) ?? '')));
    const found: Replacement[] = [];
    let done = 0;
    for (const [i, { index: start, 0: token }] of tokens.entries()) {
      if (start < done || tokens[i - 1]?.[1] !== undefined) continue;
      const term = lengths
        .get(token)
        ?.map((length) => text.slice(start, start + length))
        .find((candidate) => terms.has(candidate) && endsAt(start + candidate.length));
      if (term === undefined) continue;
      done = start + term.length;
      found.push({ start, end: done, written: terms.get(term) ?? '' });
    }
    return found;
  };
}
