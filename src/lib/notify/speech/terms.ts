import { isObject } from '../../platform/files/json-object';
import { clean } from '../../platform/terminal/terminal';
import { StewardError } from '../../errors';

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
