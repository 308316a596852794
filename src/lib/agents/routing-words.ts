/**
 * The words of the routing table, as sources of regular expressions over a text in lower case ASCII. What is
 * shared by several rules has a name here; what belongs to one stands in its entry (routing-rules.ts).
 */

const NUMBERS =
  'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a dozen|several|a few|a couple(?: of)?|many|multiple';
/** Up to three adjectives; a preposition would begin another thing. */
const ADJECTIVES = String.raw`(?: (?!(?:for|to|in|of|on|with|from|that|which|by|at|into|about|as|and|or|over|is|are)\b)[a-z_'-]+){0,3}`;

/** Compounds in which an agent is a thing of software, or of another world. */
const NOT_AFTER = String.raw`(?!['-]?s? (?:framework|class|classes|sdk|library|libraries|pages?|components?|buttons?|api|apis|config|configuration|files?|types?|templates?|schemas?|sections?|tables?|names?|headings?|lists?|dashboard|tooling|modules?|skills?|pools?|service|services|plist|interface|registry|headers?|strings?|fees?|commissions?|salary|salaries|orange|smith|provocateur|carter)\b)(?!-based|-driven)`;
/** Agents of another kind: of a trade, of chemistry, of a service. */
const NOT_OURS = String.raw`(?<!\b(?:customer|customers|customs|travel|estate|insurance|secret|free|sales|support|cent(?:er|re)|user|ticket|booking|federal|fbi|cia|ice|border|cleaning|chemical|biological|reducing|oxidi[sz]ing|bonding|contrast|antimicrobial|infectious|nerve|double|undercover|talent|literary|press|sports|letting|lettings|patent|shipping|ssh|gpg|build|jenkins|monitoring|backup|mail|mining|purchasing|buying|leasing|listing|election|enforcement|station|gate|software's|service|game|npc|thickening|raising|launchd|economic)['s]{0,2} )`;

/** An agent of ours, one or several; what it is a part of, or of what kind, may rule it out. */
export const AGENT = String.raw`${NOT_OURS}\b(?:sub-?)?agents?\b${NOT_AFTER}`;
const AGENTS = String.raw`${NOT_OURS}\b(?:sub-?)?agents\b${NOT_AFTER}`;
/** Whoever does a piece of work: an agent by any name. */
export const WORKER = String.raw`(?:(?:sub-?)?agents?|specialists?|experts?|reviewers?|personas?|workers?|critics?|advis[eo]rs?|analysts?|researchers?|perspectives?|panel|crew|swarm|briefs?)\b${NOT_AFTER}`;

const DELEGATE = String.raw`\b(?:launch|spawn|spin up|fire up|kick off|deploy|dispatch|use|using|send|run|start|create|make|get|have|let|ask|bring in|put|assign|give|set up|need|want|delegate|with|via|through|fan out|throw)\b`;

/** The verbs that ask for code, and what they are said of when they could mean anything else. */
const CODE_VERB = String.raw`(?:implement|code|build|write|fix|refactor|rewrite|add|create|port|debug|optimi[sz]e|migrate|develop|program|patch|extend|make|rename|remove|delete|update|upgrade|test|convert|wire up|set up|hook up|bump|extract|inline|type-?check|speed up|replace|support|handle|generate|finish|repair)`;
const CODE_OBJECT = String.raw`(?:functions?|class|classes|method|endpoints?|apis?|modules?|scripts?|parsers?|unit tests?|tests?|test suite|bugs?|components?|features?|migrations?|cli|regex|regexp|regular expression|handlers?|hooks?|librar(?:y|ies)|schemas?|apps?|websites?|web ?page|settings page|login(?: page| form)?|sign-?in|buttons?|dropdown|modal|forms? validation|validation|algorithm|code|codebase|makefile|dockerfile|docker|build|compiler|lint(?:er|ing)?|type ?errors?|types?|exceptions?|crash(?:es)?|memory leaks?|race condition|deadlock|null pointer|stack ?trace|segfault|server|client|backend|frontend|database|quer(?:y|ies)|sql|cache|caching|queue|worker|cron job|webhooks?|middleware|router|routing table|service|microservice|daemon|package|dependenc(?:y|ies)|crate|gem|repo(?:sitory)?|branch|commit|pull request|merge conflict|ci|pipeline|workflow file|workflow|deploy(?:ment)? script|terraform|kubernetes|helm|typescript|javascript|python|rust|golang|java|c\+\+|ruby|swift|kotlin|react|vue|css|html|json|yaml|plugin|extension|bot|scraper|crawler|sync engine|engine|rate limit(?:er|ing)?|pagination|logging|logger|retry|retries|oauth|auth(?:entication)?|feature flags?|importer|exporter|wrapper|iterator|linked list|binary (?:tree|search)|hash ?map|loop|variable|constant|unused imports?|imports?|program|software|firmware|game|compiler warnings?|flags?|zp_*|zc_*)`;

/** Where a sentence can begin to ask for something. */
export const ASKS = String.raw`(?:^|[.;:!?\n,(]\s*|^\s*[-*\d.)]+\s+|\b(?:please|pls|and|then|now|first|also|just|go|to|you|let's|lets|us|kindly|should|must|help me|next|but|so|instead)\s+)(?:(?:please|quickly|carefully|thoroughly|properly|first|deeply|further|now|just|kindly|also|go|start|try to|and)\s+){0,3}`;

export const W = {
  AGENT,
  AGENTS,
  WORKER,
  DELEGATE,
  ADJECTIVES,
  NUMBERS,
  ASKS,
  CODE_VERB,
  CODE_OBJECT,
};

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
