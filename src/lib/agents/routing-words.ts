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
