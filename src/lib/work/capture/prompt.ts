import { clean, truncated } from '../../platform/terminal/terminal';
import { codeBlock, redact } from '../outgoing';

const KINDS = ['reminder', 'research', 'queue'] as const;
export type CaptureKind = (typeof KINDS)[number];

export function isKind(kind: string): kind is CaptureKind {
  return KINDS.some((known) => known === kind);
}

export interface PromptMatch {
  kind: CaptureKind;
  /** The request without its introductory words, such as `remind me to`. */
  text: string;
}

/** How much of a prompt to search, in UTF-16 code units. The rest is probably pasted. */
const MAX_READ = 64 * 1024;
/**
 * Lines longer than this are assumed to be pasted. The length is measured before and after whitespace is
 * normalized.
 */
const MAX_RAW_LINE = 1000;
const MAX_LINE = 300;
/**
 * In a prompt with more lines than this, only the first line can be a request. The rest is assumed to be
 * pasted.
 */
const MAX_LINES = 8;
const MAX_MATCHES = 5;

const POLITE = '(?:(?:please|pls|also|and|then)[ ,]+){0,2}';
const when = (char: string): string =>
  `(?:today|tonight|tomorrow|later|next|this|on|at|in|by|every|before|after)(?: (?!to\\b)${char}+){0,6}?`;
const WHEN = when('\\S');
const DAY_NAME = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
/** `remind me about` is a reminder only if a day follows; otherwise, it is probably a question. */
const DAY = `(?:today|tonight|tomorrow|(?:next|on|this|by|every) ${DAY_NAME}|next (?:week|month)|in (?:\\d+|an?|two|three) (?:minute|hour|day|week|month)s?)`;
/** Excludes sentences about the phrase itself, such as `"remind me to" is the prefix`. */
const NO_VERB = '(?!(?:is|was|are|were|has|had|should|would|will|can|must|in|on|and|or|at)\\b)';
const LIST_ITEM = /^ {0,3}(?:[-*+\u2022]|\d{1,2}[.)]) /;
/** A greeting, thanks, or words such as "before you start:" in front of a request. */
const OPENING = new RegExp(
  '^(?:(?:(?:hey|hi|hiya|hello|howdy|yo|good (?:morning|afternoon|evening)|morning|ok|okay|alright|great|thanks|' +
    'thank you|thx|cool|perfect|nice|lovely|awesome|sure|yes|yep|oh|ah|no worries|np|btw|by the way|fyi|ps|' +
    'one more thing|quick one|just|also|and|then|so)' +
    '(?: (?:claude|codex|copilot|gemini|cursor|there|again|a lot|so much|work|job)){0,2}(?:\\s?[,!.:;\u2013\u2014-]{1,3})?' +
    "|(?:before (?:you|we|i)|(?:while|when|once|after) you(?:['\u2019]re| are)?) [a-z' ]{1,30}[,:]) ){1,4}",
  'i',
);
/** Words in a sentence after which a request is probably reported, not made. */
const REPORTED =
  /^\S{1,20}: |\b(?:sa(?:y|ys|id)|reads?|wrote(?! to)|writes?|ask(?:s|ed)|told|tells?|typed?|types|phrase|pattern|words?|prefix|example|prompt|message|title|string|translate|e\.g|i\.e|echo)\b/i;
const CODE = /[[\]{}<>=`"\u201c\u201d\u00ab\u00bb|$\\_]|\('/;
/** A polite question is a request if it names a time; otherwise, it may ask what you meant. */
const QUESTION = /^(?:can|could|would|will) you (?:(?:please|pls|also) ){0,2}(?=remind me )/i;
const TIME = new RegExp(
  `\\b(?:${DAY}|on ${DAY_NAME}|at (?:\\d{1,2}(?::\\d\\d)? ?(?:[ap]m)?|noon|midday|midnight))(?=[\\s,.!]|$)`,
  'i',
);
/**
 * Matches research requests with an immediate next step. Such research should happen now, so it isn't
 * captured.
 */
const FOR_NOW = new RegExp(
  '\\b(?:first|(?<!not )now)(?:,|$)|(?:[,;]| and| then) (?:then )?' +
    '(?:add|apply|build|change|come|compare|create|delete|draft|explain|fix|give|implement|list|make|move|patch|pick|' +
    'prepare|produce|propose|put|refactor|remove|rename|replace|report|rewrite|show|start|suggest|summari[sz]e|tell|' +
    'turn|update|use|write) (?:it|them|me|us|an?|the|this|that|these|those|my|our|all|any|each|every|up|down|back)\\b',
  'i',
);
/**
 * Matches log lines, timestamped chat messages and diff lines. The whole block that contains such a line
 * counts as pasted.
 */
const PASTED = new RegExp(
  '^(?:\\[?\\d{4}-\\d\\d-\\d\\d[T ]|\\[?\\d\\d:\\d\\d:\\d\\d|\\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\\b|' +
    '\\S+(?: \\S+)?(?: {2,}|\\t)\\[?\\d{1,2}:\\d\\d|\\[\\d{1,2}:\\d\\d[^\\]]{0,6}\\] |diff --git |@@ |(?:From|Subject): )',
);

/** Patterns that match requests at the start of a line, but not questions or mentions of these phrases. */
const PHRASES: readonly (readonly [CaptureKind, string])[] = [
  [
    'reminder',
    `(?:remind me(?: please| pls)?|(?:don't|don\u2019t|do not) let me forget) (?:(?<when>${WHEN}),? )?to ${NO_VERB}(?<what>[^\\s=:].*)$`,
  ],
  ['reminder', `remind me(?: (?<when>${when('[^\\s:]')}))?: ?(?<what>\\S[^]*)`],
  ['reminder', `remind me (?<when>${WHEN}) about (?<what>\\S[^]*)`],
  ['reminder', `remind me about (?<what>\\S.* ${DAY}\\b[^]*)`],
  [
    'reminder',
    `(?:set|add|create) (?:a |me a )?reminder (?:for me )?(?:(?:for )?(?<when>${WHEN}|${DAY_NAME}),? )?to (?<what>\\S.*)$`,
  ],
  ['research', 'research (?:(?<now>the \\S.*)|(?:for )?later: (?<what>\\S.*))$'],
  ['queue', 'queue(?: up)? (?:this|that|it)(?: up)?: (?<what>[^\\s{\\[].*)$'],
  [
    'queue',
    '(?:queue(?: up)?(?: (?:this|that|it)(?: up)?|(?= for later:))|(?:add|put) (?:this|that|it) (?:to|in|on) (?:the|my) queue) for (?<when>later|(?:\\S+ ){0,4}\\S+): (?<what>\\S.*)$',
  ],
  [
    'queue',
    'queue (?:up )?(?<it>\\S.*?) for (?:(?<whom>\\S.*?) )?later(?:\\s*[:\u2013\u2014-]\\s*(?<what>\\S.*))?$',
  ],
];
const PATTERNS = PHRASES.map(([kind, source]) => ({ kind, pattern: new RegExp(`^${POLITE}${source}`, 'i') }));

function requestOf(kind: CaptureKind, { what, when, now, it, whom }: Partial<Record<string, string>>) {
  if (what !== undefined) {
    const isAnyTime = when === undefined || (kind === 'queue' && /\blater$/i.test(when));
    return isAnyTime ? what : `${what} ${when}`;
  }
  if (now !== undefined) return FOR_NOW.test(now) ? '' : now;
  const isBare = /^(?:this|that|it)(?: up)?$/i.test(it ?? '');
  if (whom === undefined) return isBare ? '' : (it ?? '');
  if (isBare && PERSON.test(whom)) return '';
  return `${isBare ? it?.toLowerCase() : it} for ${whom}`;
}

/** "Queue this for Bob" names no task. */
const PERSON = /^(?:[A-Z][a-z]+|[Mm]y [a-z]+)$/;

/**
 * Returns the requests in a prompt. To avoid false matches, ignores code, quotes, questions, and indented or
 * pasted text.
 */
export function matchPrompt(prompt: string): PromptMatch[] {
  const matches: PromptMatch[] = [];
  for (const line of ownLines(prompt)) {
    const match = matchLine(line);
    if (match !== undefined && !matches.some(({ kind, text }) => kind === match.kind && text === match.text))
      matches.push(match);
  }
  return matches.slice(0, MAX_MATCHES);
}

function searched(prompt: string): string {
  return prompt.length <= MAX_READ ? prompt : prompt.slice(0, prompt.lastIndexOf('\n', MAX_READ) + 1);
}

function ownLines(prompt: string): string[] {
  const blocks = plainBlocks(searched(prompt));
  const typed = blocks.filter((block) => !block.some((line) => PASTED.test(line))).flat();
  const own = blocks.flat().length > MAX_LINES ? typed.slice(0, 1) : typed;
  return own.filter((line) => line.length <= MAX_RAW_LINE);
}

const BARE_QUEUE = new RegExp(
  `^${POLITE}queue(?: up)? (?:this|that|it)(?: up)?(?: for (?:later|${DAY}|${DAY_NAME}|(?<whom>\\S+?(?: \\S+?)??)(?: later)?))?$`,
  'i',
);

/** Returns whether a prompt asks to queue "this" without naming a task. */
export function isBareQueue(prompt: string): boolean {
  return ownLines(prompt).some((line) => {
    const found = BARE_QUEUE.exec(bareLine(line));
    const whom = found?.groups?.['whom'];
    return found !== null && (whom === undefined || PERSON.test(whom));
  });
}

function bareLine(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/(?<![\s.!;,])[\s.!;,]+$/, '');
}

function matchLine(line: string): PromptMatch | undefined {
  const [item = ''] = LIST_ITEM.exec(line) ?? [];
  const text = bareLine(line.slice(item.length));
  if (text.length > MAX_LINE) return undefined;
  const isItem = item !== '';
  const match = matchRequest(text, isItem) ?? matchRequest(text.replace(OPENING, ''), isItem);
  return match ?? (!isItem && !CODE.test(text) ? matchSentence(text) : undefined);
}

/** Matches a reminder or a queue request that follows other sentences or clauses. */
function matchSentence(text: string): PromptMatch | undefined {
  for (const { 0: end, index } of text.matchAll(/(?:[.!?;]|, (?:so|and|but)) /g)) {
    if (REPORTED.test(text.slice(0, index))) return undefined;
    const match = matchRequest(text.slice(index + end.length).replace(OPENING, ''), true);
    if (match !== undefined) return match;
  }
  return undefined;
}

/** Research that isn't the whole line is part of the current work, so it isn't captured. */
function matchRequest(text: string, isPart: boolean): PromptMatch | undefined {
  const asked = askedPolitely(text) ?? text;
  if (/\?["')\]]*$/.test(asked)) return undefined;
  for (const { kind, pattern } of PATTERNS) {
    if (kind === 'research' && isPart) continue;
    const found = pattern.exec(asked);
    const request = found === null ? '' : requestOf(kind, found.groups ?? {}).trim();
    if (request.length > 1) return { kind, text: request };
  }
  return undefined;
}

/** Returns the request in "can you remind me to … at 5pm?". */
function askedPolitely(text: string): string | undefined {
  const lead = QUESTION.exec(text)?.[0];
  if (lead === undefined) return undefined;
  const [request = ''] = text.slice(lead.length).split('?', 1);
  const asked = bareLine(request.replace(/,? (?:please|pls)$/i, ''));
  return /^remind me [^?]*\bto /i.test(asked) && TIME.test(asked) ? asked : undefined;
}

function plainBlocks(prompt: string): string[][] {
  const blocks: string[][] = [[]];
  let fence: string | undefined;
  let tag: string | undefined;
  for (const line of prompt.split(/\r\n|\r|\n/)) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else if (tag !== undefined) {
      if (line.includes(`</${tag}>`)) tag = undefined;
    } else {
      const opened = /^\s*<([a-zA-Z][\w-]*)(?:\s[^>]*)?>/.exec(line)?.[1];
      if (opened !== undefined && !line.includes(`</${opened}>`)) tag = opened;
      else if (line.trim() === '') blocks.push([]);
      else if (opened === undefined && !/^(?: {4}|\t| *>)/.test(line)) blocks.at(-1)?.push(line);
    }
  }
  return blocks;
}

/**
 * Maximum length of a stored prompt in UTF-16 code units. A longer prompt could exceed the spool's size
 * limit.
 */
export const MAX_PROMPT = 16_000;

/** Returns the whole prompt. Redacts before truncating, so that no partial credential remains. */
export function wholePrompt(prompt: string): string {
  const lines = prompt.split(/\r\n|[\n\r\u2028\u2029]/);
  const text = lines.map((line) => clean(line.replaceAll('\t', '    ')).trimEnd()).join('\n');
  const safe = redact(text)
    .trim()
    .replace(/\p{Surrogate}/gu, '\ufffd');
  return truncated(safe, MAX_PROMPT);
}

/** Returns the issue body. A code fence disables mentions, links and markup. */
export function promptBody(prompt: string | undefined): string {
  if (prompt === undefined) return 'Captured from a prompt.';
  return `Captured from a prompt:\n\n${codeBlock(prompt)}`;
}
