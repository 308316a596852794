import data from '../../../templates/data/routing.json';
import { expanded } from '../platform/files/template';
import { clauseAfter, clauseBefore, type RequestText } from './text';

/** Words in the request that match a rule. */
export interface Hit extends TextRange {
  words: string;
}

/** `hit` is the deciding match. `refused` is a negated match, such as "don't use custom agents". */
export interface RuleMatch {
  hit?: Hit;
  refused?: Hit;
}

/**
 * An entry under `looks` in routing.json. Patterns are matched against lowercase ASCII text. `{PART}` refers
 * to an entry in `parts`.
 */
export interface RulePattern {
  /** Every match contains at least one of these substrings. Checked before the patterns, which are slower. */
  stems?: readonly string[];
  /**
   * At least one of these patterns must match. If a pattern has a group named `w`, only the group counts as
   * the match.
   */
  any: readonly string[];
  /** Whether the match must end with a noun that means an AI agent. */
  endsWithAgent?: boolean;
  /** All of these patterns must match somewhere in the request. */
  also?: readonly string[];
  /** None of these patterns may match. */
  unless?: readonly string[];
  /** Words that must not precede the match in the same clause. */
  notAfter?: string;
  mayBeTopic?: boolean;
}

export const PATTERNS_BY_RULE: Readonly<Record<keyof typeof data.looks, RulePattern>> = data.looks;
const PATTERNS = data.patterns;
const [NOT_BEFORE, NOT_BEHIND] = [data.words.notBefore, data.words.notBehind].map((words) => new Set(words.split(' '))) as [Set<string>, Set<string>]; // prettier-ignore

const NEGATION_WORDS = 7;
const TOPIC_WORDS = 7;
/** Maximum number of matches per pattern; limits the time spent on repetitive text. */
const MAX_HITS = 50;
const compiled = new Map<string, RegExp>();

/** Compiles a pattern after replacing `{PART}` and `{NAME}`. Caches the result. */
export function rx(source: string, name = ''): RegExp {
  const key = `${name}\n${source}`;
  const pattern = compiled.get(key) ?? new RegExp(expanded(source, { ...data.parts, NAME: name }), 'g');
  compiled.set(key, pattern);
  return pattern;
}

export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

export function has(text: string, pattern: keyof typeof PATTERNS): boolean {
  return text.search(rx(PATTERNS[pattern])) !== -1;
}

/** Position and length of a match in the prepared request. */
export interface TextRange {
  at: number;
  length: number;
}

/** Returns the first match that meets a rule's conditions. */
export function findPattern(request: RequestText, wanted: RulePattern, name?: string): RuleMatch {
  const { text } = request;
  if (wanted.stems?.some((stem) => text.includes(stem)) === false) return {};
  const matches = (source: string): boolean => text.search(rx(source)) !== -1;
  if (wanted.also?.every(matches) === false || wanted.unless?.some(matches) === true) return {};
  const places = function* (): Generator<TextRange> {
    for (const source of wanted.any) {
      for (const place of placesOf(text, rx(source, name), 'w'))
        if (wanted.endsWithAgent !== true || isAssignable(text, place)) yield place;
    }
  };
  return firstMeant(request, places(), ({ at }) => {
    const before = `${clauseBefore(text, at, NEGATION_WORDS)} `;
    if (wanted.notAfter !== undefined && before.search(rx(wanted.notAfter)) !== -1) return false;
    return wanted.mayBeTopic !== true || !has(clauseBefore(text, at, TOPIC_WORDS), 'topic');
  });
}

/** Yields the position of each match, or of its named group if present. */
export function* placesOf(text: string, pattern: RegExp, group: string): Generator<TextRange> {
  let count = 0;
  for (const found of text.matchAll(pattern)) {
    count += 1;
    if (count > MAX_HITS) return;
    const inner = found.groups?.[group];
    const at = inner === undefined ? found.index : found.index + found[0].lastIndexOf(inner);
    yield { at, length: (inner ?? found[0]).length };
  }
}

/** Returns the first match for which `counts` returns true, and the first negated match. */
export function firstMeant(
  request: Pick<RequestText, 'plain' | 'text'>,
  places: Iterable<TextRange>,
  counts: (place: TextRange) => boolean = () => true,
): RuleMatch {
  let refused: Hit | undefined;
  for (const place of places) {
    const { plain, text } = request;
    const { at, length } = place;
    const words = plain.slice(at, at + length).replace(/\s+/g, ' ').trim().slice(0, 80); // prettier-ignore
    const hit = { words, at, length };
    if (isNegated(text, place)) refused ??= hit;
    else if (counts(place)) return refused === undefined ? { hit } : { hit, refused };
  }
  return refused === undefined ? {} : { refused };
}

/** Returns whether the clause negates the match: "don't use …", "no …", "… are not needed". */
function isNegated(text: string, { at, length }: TextRange): boolean {
  const before = clauseBefore(text, at, NEGATION_WORDS).replace(rx(PATTERNS.noNegation), ' ');
  return has(before, 'negator') || has(clauseAfter(text, at + length, 5), 'negatedAfter');
}

/**
 * Returns whether the noun at the end of `place` means an AI agent. In "customer agents" and "agent class",
 * it doesn't.
 */
function isAssignable(text: string, place: TextRange): boolean {
  const end = place.at + place.length;
  const word = /(?<![a-z])(?:sub-)?[a-z]+$/.exec(text.slice(Math.max(0, end - 20), end))?.[0] ?? '';
  const at = end - word.length;
  const before = /(?<![a-z'])([a-z']+) $/.exec(text.slice(Math.max(0, at - 40), at))?.[1] ?? '';
  const after = /^(?:['-]?s)?[ -]([a-z]+)/.exec(text.slice(end, end + 40))?.[1] ?? '';
  return !NOT_BEHIND.has(before) && !NOT_BEFORE.has(after);
}
