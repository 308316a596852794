import { isOurAgent, NEGATED_AFTER, NEGATOR, NO_NEGATION, TOPIC } from './routing-words';
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

export interface Look {
  /** One of these parts of words stands in every text that the patterns find: looked for first, since that costs nothing. */
  stems: readonly string[];
  /** Any of these; made when they are needed, because most requests need few of them. */
  any: () => readonly RegExp[];
  /** Where the words end with an agent, it has to be one of ours. */
  endsWithAgent?: boolean;
  /** And each of these, anywhere in the request. */
  also?: readonly RegExp[];
  /** And none of these, anywhere in the request. */
  unless?: readonly RegExp[];
  /** Words before in the same clause with which it means something else. */
  notAfter?: RegExp;
  /** The request may be about the words without asking for them: then they do not count. */
  mayBeTopic?: boolean;
}

const NEGATION_WORDS = 7;
const TOPIC_WORDS = 5;
/** A text that repeats one word a thousand times says no more than one that says it so often. */
const MAX_HITS = 50;

/** Looks for the words of a rule; the first that counts is the hit. */
export function look(request: RequestText, wanted: Look): Finding {
  const { text } = request;
  if (!wanted.stems.some((stem) => text.includes(stem))) return {};
  const seen = (pattern: RegExp): boolean => text.search(pattern) !== -1;
  if (wanted.also?.every(seen) === false || wanted.unless?.some(seen) === true) return {};
  let refused: Hit | undefined;
  for (const pattern of wanted.any()) {
    let tried = 0;
    for (const found of text.matchAll(pattern)) {
      tried += 1;
      if (tried > MAX_HITS) break;
      const at = wordAt(found);
      if (wanted.endsWithAgent === true && !isOurs(text, endOf(found))) continue;
      const judged = judge(request, at, endOf(found) - at);
      if (judged.refused !== undefined) refused ??= judged.refused;
      else if (counts(text, at, wanted)) return { ...judged, ...(refused === undefined ? {} : { refused }) };
    }
  }
  return refused === undefined ? {} : { refused };
}

function counts(text: string, at: number, wanted: Look): boolean {
  if (wanted.notAfter?.test(`${clauseBefore(text, at, NEGATION_WORDS)} `) === true) return false;
  return wanted.mayBeTopic !== true || !TOPIC.test(clauseBefore(text, at, TOPIC_WORDS));
}

/**
 * Are the words at this place meant, or taken back: "don't use …", "no …", "… are not needed", in the same
 * clause, a few words before or right behind?
 */
export function judge(request: Pick<RequestText, 'plain' | 'text'>, at: number, length: number): Finding {
  const { plain, text } = request;
  const words = plain
    .slice(at, at + length)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 80);
  const before = clauseBefore(text, at, NEGATION_WORDS).replace(NO_NEGATION, ' ');
  const isRefused = NEGATOR.test(before) || NEGATED_AFTER.test(clauseAfter(text, at + length, 5));
  const hit = { words, at, length };
  return isRefused ? { refused: hit } : { hit };
}

function isOurs(text: string, end: number): boolean {
  const word = /(?<![a-z])(?:sub-)?[a-z]+$/.exec(text.slice(Math.max(0, end - 20), end))?.[0] ?? '';
  return isOurAgent(text, end - word.length, word.length);
}

/** What stands in the group `w` is the trigger; what is before it only says where it stands. */
function wordAt(found: RegExpExecArray): number {
  const inner = found.groups?.['w'];
  return found.index + (inner === undefined ? 0 : found[0].lastIndexOf(inner));
}

function endOf(found: RegExpExecArray): number {
  const inner = found.groups?.['w'];
  return inner === undefined ? found.index + found[0].length : wordAt(found) + inner.length;
}
