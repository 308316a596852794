import { type RequestText, clauseAfter, clauseBefore } from './text';

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

/**
 * The words of the routing table, as sources of regular expressions over a text in lower case ASCII. What is
 * shared by several rules has a name here; what belongs to one stands in its entry (routing-rules.ts).
 */

const NUMBERS =
  'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a dozen|several|a few|a couple(?: of)?|many|multiple';
/** Up to three adjectives; a preposition would begin another thing. */
const ADJECTIVES = String.raw`(?: (?!(?:for|to|in|of|on|with|from|that|which|by|at|into|about|as|and|or|over|is|are)\b)[a-z_'-]+){0,3}`;

/** An agent of any kind; whether it is one of ours, `isOurAgent` says of its neighbours. */
const AGENT = String.raw`\b(?:sub-?)?agents?\b`;
const AGENTS = String.raw`\b(?:sub-?)?agents\b`;
/** Whoever does a piece of work: an agent by any name. */
const WORKER = String.raw`\b(?:(?:sub-?)?agents?|specialists?|experts?|reviewers?|personas?|workers?|critics?|advis[eo]rs?|analysts?|researchers?|perspectives?|panel|crew|swarm|briefs?)\b`;

const DELEGATE = String.raw`\b(?:launch|spawn|spin up|fire up|kick off|deploy|dispatch|use|using|send|run|start|create|make|get|have|let|ask|bring in|put|assign|give|set up|need|want|delegate|with|via|through|fan out|throw)\b`;

/** Where a sentence can begin to ask for something. */
const ASKS = String.raw`(?:^|[.;:!?\n,(][^\S\n]*|^\s*[-*\d.)]+\s+|\b(?:please|pls|and|then|now|first|also|just|go|to|you|let's|lets|us|kindly|should|must|help me|next|but|so|instead)\s+)(?:(?:please|quickly|carefully|thoroughly|properly|first|deeply|further|now|just|kindly|also|go|start|try to|and)\s+){0,3}`;

export const W = { AGENT, AGENTS, WORKER, DELEGATE, ADJECTIVES, NUMBERS, ASKS };

/** Compounds in which an agent is a thing of software, or of another world: the word behind it. */
const NOT_BEFORE = new Set(
  'framework class classes sdk library libraries page pages component components button api apis config configuration file files type types template templates schema schemas section sections table tables name names heading headings list lists dashboard tooling module modules skill skills pool pools service services plist interface registry header headers string strings fee fees commission commissions salary salaries orange smith provocateur carter based driven'.split(
    ' ',
  ),
);
/** Agents of another kind, of a trade, of chemistry, of a service: the word before it. */
const NOT_BEHIND = new Set(
  "customer customers customers' customer's customs travel estate insurance secret free sales support center centre user ticket booking federal fbi cia ice border cleaning chemical biological reducing oxidising oxidizing bonding contrast antimicrobial infectious nerve double undercover talent literary press sports letting lettings patent shipping ssh gpg build jenkins monitoring backup mail mining purchasing buying leasing listing election enforcement station gate software's service game npc thickening raising launchd economic".split(
    ' ',
  ),
);

/** Is the agent at this place of the text one that work can be given to? "customer agents", "agent class" are not. */
export function isOurAgent(text: string, at: number, length: number): boolean {
  const before = /(?<![a-z'])([a-z']+) $/.exec(text.slice(Math.max(0, at - 40), at))?.[1] ?? '';
  const after = /^(?:['-]?s)?[ -]([a-z]+)/.exec(text.slice(at + length, at + length + 40))?.[1] ?? '';
  return !NOT_BEHIND.has(before) && !NOT_BEFORE.has(after);
}

/** Whoever cannot be meant: of these a request tells or asks something. Looked at in the four words before. */
export const TOPIC =
  /\b(?:about|what(?:'s| is| are| were| does| do)|describe|define|definition of|history of|difference between|how (?:do|does|did|are|is|can|should|would|to|much|many)|why (?:do|does|did|are|is|was|were)|who (?:is|are|were)|mention(?:s|ed|ing)?|called|titled|documentation (?:of|for|on)|docs (?:of|for|on)|words?|terms?|article on|essay on|talk on|post on|book on)(?: [a-z_'-]+){0,2}$/;

/** What takes a word back that comes after it in the same clause, seven words at most. */
export const NEGATOR =
  /\b(?:no|not|never|without|don't|dont|do not|doesn't|does not|didn't|isn't|aren't|won't|wouldn't|shouldn't|mustn't|can't|cannot|needn't|avoid|avoiding|skip|skipping|(?<!the )stop|instead of|rather than|refrain from|nor|neither|forbid|forbidden|minus|sans|nix)\b/;
/** A word taken back by what follows it. */
export const NEGATED_AFTER =
  /^(?:(?:is|are|was|were|will be|would be) )?(?:not |un|never )(?:be )?(?:needed|necessary|required|wanted|allowed|helpful|an option)|^(?:aren't|isn't) (?:needed|necessary|required|wanted|allowed)|^(?:is|are) (?:forbidden|overkill|pointless|out)\b/;
/** Phrases with a negator that ask for what follows. */
export const NO_NEGATION =
  /\b(?:don't forget|do not forget|dont forget|never forget|don't hesitate|do not hesitate|why don't (?:you|we)|why not|not only|not just|no problem|no rush|no worries|can't you|couldn't you|won't you|wouldn't you|not sure|no idea|cannot wait|can't wait|no matter|(?:don't|do not|never) (?:take|use|allow)(?: any)? short-?cuts|(?:don't|do not|never) cut (?:any )?corners|no short-?cuts|without (?:any |taking |cutting )?(?:short-?cuts|corners))\b/g;

export function rx(source: string): RegExp {
  return new RegExp(source, 'g');
}

/** A name as it stands, within a pattern. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
