import data from '../../../templates/data/routing.json';
import { clauseAfter, clauseBefore, type RequestText } from './text';

/** Words of the request that a rule looks for. */
export interface Hit {
  words: string;
  /** Where they begin in the prepared text, and how many characters they are. */
  at: number;
  length: number;
}

/** What a rule found: `hit` decides; `refused` was taken back by the request ("don't use custom agents"). */
export interface Finding {
  hit?: Hit;
  refused?: Hit;
}

/** What a rule looks for, in `looks` of routing.json. Patterns match lower case ASCII; `{PART}` is one of `parts`. */
export interface Look {
  /** One of these stands in every text that the patterns find: looked for first, since that costs nothing. */
  stems?: readonly string[];
  /** Any of these. The group `w` is the trigger; what is before it only says where it stands. */
  any: readonly string[];
  /** Where the words end with an agent, it has to be one of ours. */
  endsWithAgent?: boolean;
  /** And each of these, anywhere in the request. */
  also?: readonly string[];
  /** And none of these, anywhere in the request. */
  unless?: readonly string[];
  /** Words before in the same clause with which it means something else. */
  notAfter?: string;
  /** The request may be about the words without asking for them: then they do not count. */
  mayBeTopic?: boolean;
}

export const LOOKS: Readonly<Record<keyof typeof data.looks, Look>> = data.looks;
const PARTS: Readonly<Record<string, string>> = data.parts;
const PATTERNS = data.patterns;
const [NOT_BEFORE, NOT_BEHIND] = [data.words.notBefore, data.words.notBehind].map((words) => new Set(words.split(' '))) as [Set<string>, Set<string>]; // prettier-ignore

const NEGATION_WORDS = 7;
const TOPIC_WORDS = 5;
/** A text that repeats one word a thousand times says no more than one that says it so often. */
const MAX_HITS = 50;
const compiled = new Map<string, RegExp>();

/** A pattern with its parts, and `name` for `{NAME}`. Compiled when it is needed: all of them cost 50 ms. */
export function rx(source: string, name = ''): RegExp {
  const filled = fill(source, name);
  const pattern = compiled.get(filled) ?? new RegExp(filled, 'g');
  compiled.set(filled, pattern);
  return pattern;
}

function fill(source: string, name: string): string {
  return source.replace(/\{([A-Z_]{3,})\}/g, (_, part: string) =>
    part === 'NAME' ? name : fill(PARTS[part] ?? '', name),
  );
}

/** A name as it stands, within a pattern. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

export function has(text: string, pattern: keyof typeof PATTERNS): boolean {
  return text.search(rx(PATTERNS[pattern])) !== -1;
}

export interface Place {
  at: number;
  length: number;
}

/** Looks for the words of a rule; the first that counts is the hit. */
export function look(request: RequestText, wanted: Look, name?: string): Finding {
  const { text } = request;
  if (wanted.stems?.some((stem) => text.includes(stem)) === false) return {};
  const seen = (source: string): boolean => text.search(rx(source)) !== -1;
  if (wanted.also?.every(seen) === false || wanted.unless?.some(seen) === true) return {};
  const places = function* (): Generator<Place> {
    for (const source of wanted.any) {
      for (const place of placesOf(text, rx(source, name), 'w'))
        if (wanted.endsWithAgent !== true || endsWithOurs(text, place)) yield place;
    }
  };
  return firstMeant(request, places(), ({ at }) => {
    const before = `${clauseBefore(text, at, NEGATION_WORDS)} `;
    if (wanted.notAfter !== undefined && before.search(rx(wanted.notAfter)) !== -1) return false;
    return wanted.mayBeTopic !== true || !has(clauseBefore(text, at, TOPIC_WORDS), 'topic');
  });
}

/** Where a pattern matches, or its group of this name. */
export function* placesOf(text: string, pattern: RegExp, group: string): Generator<Place> {
  let tried = 0;
  for (const found of text.matchAll(pattern)) {
    tried += 1;
    if (tried > MAX_HITS) return;
    const inner = found.groups?.[group];
    const at = inner === undefined ? found.index : found.index + found[0].lastIndexOf(inner);
    yield { at, length: (inner ?? found[0]).length };
  }
}

/** The first place that the request means, and the first that it takes back. */
export function firstMeant(
  request: Pick<RequestText, 'plain' | 'text'>,
  places: Iterable<Place>,
  counts: (place: Place) => boolean = () => true,
): Finding {
  let refused: Hit | undefined;
  for (const place of places) {
    const { plain, text } = request;
    const { at, length } = place;
    const words = plain.slice(at, at + length).replace(/\s+/g, ' ').trim().slice(0, 80); // prettier-ignore
    const hit = { words, at, length };
    if (isTakenBack(text, place)) refused ??= hit;
    else if (counts(place)) return refused === undefined ? { hit } : { hit, refused };
  }
  return refused === undefined ? {} : { refused };
}

/** "don't use …", "no …", "… are not needed": in the same clause, a few words before or right behind. */
function isTakenBack(text: string, { at, length }: Place): boolean {
  const before = clauseBefore(text, at, NEGATION_WORDS).replace(rx(PATTERNS.noNegation), ' ');
  return has(before, 'negator') || has(clauseAfter(text, at + length, 5), 'negatedAfter');
}

/** Can work be given to the agent that ends here? Not to "customer agents" or an "agent class". */
function endsWithOurs(text: string, place: Place): boolean {
  const end = place.at + place.length;
  const word = /(?<![a-z])(?:sub-)?[a-z]+$/.exec(text.slice(Math.max(0, end - 20), end))?.[0] ?? '';
  const at = end - word.length;
  const before = /(?<![a-z'])([a-z']+) $/.exec(text.slice(Math.max(0, at - 40), at))?.[1] ?? '';
  const after = /^(?:['-]?s)?[ -]([a-z]+)/.exec(text.slice(end, end + 40))?.[1] ?? '';
  return !NOT_BEHIND.has(before) && !NOT_BEFORE.has(after);
}
