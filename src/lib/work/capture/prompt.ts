import DATA from '../../../../templates/data/prompt-phrases.json';
import { expanded } from '../../platform/files/template';
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

const rx = (source: string, flags = 'i'): RegExp => new RegExp(expanded(source, DATA.parts), flags);

const LIST_ITEM = /^ {0,3}(?:[-*+\u2022]|\d{1,2}[.)]) /;
/** A greeting, thanks, or words such as "before you start:" in front of a request. */
const OPENING = rx(DATA.patterns.opening);
/** Words in a sentence after which a request is probably reported, not made. */
const REPORTED = rx(DATA.patterns.reported);
const CODE = /[[\]{}<>=`"\u201c\u201d\u00ab\u00bb|$\\_]|\('/;
/** A polite question is a request if it names a time; otherwise, it may ask what you meant. */
const QUESTION = rx(DATA.patterns.question);
const TIME = rx(DATA.patterns.time);
/**
 * Matches research requests with an immediate next step. Such research should happen now, so it isn't
 * captured.
 */
const FOR_NOW = rx(DATA.patterns.forNow);
/**
 * Matches log lines, timestamped chat messages and diff lines. The whole block that contains such a line
 * counts as pasted.
 */
const PASTED = rx(DATA.pasted, '');

/**
 * Patterns that match requests at the start of a line, but not questions or mentions of these phrases, such as
 * `"remind me to" is the prefix`. `remind me about` is a reminder only if a day follows; otherwise, it is probably a
 * question.
 */
const PATTERNS = DATA.phrases.map(({ kind, says }) => ({
  kind: kind as CaptureKind,
  pattern: rx(`^{POLITE}${says}`),
}));

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

const BARE_QUEUE = rx(DATA.patterns.bareQueue);

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
