import { MAX_BRIEFS } from './brief';
import type { Hit } from './routing-match';
import type { Asked, Rule, Worker } from './routing-types';
import { traitsIn } from './traits';

/** How many agents: as `--count` says, else as the request does; null: one, and nobody counted. */
export function countOf(rule: Rule, hit: Hit, asked: Asked, warnings: string[]): number | null {
  if (asked.count !== null) return asked.count;
  if (!COUNTED.has(rule.gives.worker)) return null;
  const said = numberIn(asked.request.text);
  if (said !== undefined) {
    if (said > MAX_BRIEFS)
      warnings.push(`${said} agents are asked for; one request launches ${MAX_BRIEFS} at most.`);
    return Math.max(1, Math.min(said, MAX_BRIEFS));
  }
  if (rule.gives.worker !== 'custom' || !/(?:s|ones)$/i.test(hit.words)) return null;
  // One a perspective: those that the request names, else three.
  const perspectives = traitsIn('expertise', asked.request.text).length;
  return perspectives > 1 ? perspectives : 3;
}

const COUNTED: ReadonlySet<Worker> = new Set<Worker>(['custom', 'team', 'research', 'builtin']);
const NUMBER_WORDS: readonly string[] = [
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const COUNTED_NOUN =
  /^(?:(?:sub-?)?agents?|specialists?|experts?|reviewers?|personas?|workers?|critics?|advis[eo]rs?|analysts?|researchers?|perspectives?|briefs)$/;

/** "five custom agents", "3 reviewers": a number, and whom it counts in the four words behind it. */
function numberIn(text: string): number | undefined {
  const words = text.split(/[\s(]+/);
  for (const [index, word] of words.entries()) {
    const number = /^\d{1,6}$/.test(word) ? Number(word) : numberOf(word, words[index - 1], words[index + 1]);
    if (number === undefined) continue;
    for (const next of words.slice(index + 1, index + 5)) {
      if (COUNTED_NOUN.test(next.replace(/(?<![.,;:!?)'"])[.,;:!?)'"]+$/, ''))) return number;
      if (/[.,;:!?]$/.test(next)) break;
    }
  }
  return undefined;
}

function numberOf(word: string, before: string | undefined, after: string | undefined): number | undefined {
  if (before === 'a' && word === 'dozen') return 12;
  if (before === 'a' && word === 'couple' && after === 'of') return 2;
  const at = NUMBER_WORDS.indexOf(word);
  return at === -1 ? undefined : at + 1;
}
