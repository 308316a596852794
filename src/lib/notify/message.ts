import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { EVENT_NAMES, isEventName, type EventName, SOURCES, type Source } from './events';

/** A notification as it was asked for, checked (service.md: Notify request body; decisions.md 5). */
export interface NotifyRequest {
  /** As it was sent, without escape sequences and controls; 1 to 4,000 characters. */
  message: string;
  title?: string;
  voiceId?: string;
  voiceEnabled: boolean;
  event: EventName;
  /** 1 to 5; the event's own when left out. */
  priority?: number;
  durationSec?: number;
  /** Messages of one key are one message that changes. */
  dedupe?: string;
  /** An http or https address that a click opens. */
  url?: string;
  tags: string[];
  source: Source;
  phase?: string;
  slug?: string;
  /** Where the person is, where a trigger knows: at the desk a push is too much, away only a push is seen. */
  reach?: 'desk' | 'away';
}

const MAX_MESSAGE = 4000;
const MAX_TITLE = 250;
const MAX_TAGS = 10;
const MAX_DURATION_SEC = 31 * 86_400;

/** Checks a request body; what is wrong is `usage` that names the key. Keys that nobody knows are left alone. */
export function parseRequest(body: unknown): NotifyRequest {
  if (!isObject(body)) {
    throw new StewardError('usage', 'The body is not a JSON object.', {
      hint: 'Send an object such as {"message": "Done"}.',
    });
  }
  const message = requiredMessage(body['message']);
  const title = optionalText(body, 'title', MAX_TITLE);
  return {
    message,
    voiceEnabled: flag(body, 'voice_enabled', true),
    event: eventOf(body['event']),
    tags: tagsOf(body['tags']),
    source: sourceOf(body['source']),
    ...given('title', title === undefined ? undefined : clean(title).trim() || undefined),
    ...given('voiceId', pattern(body, 'voice_id', /^[!-~]{1,200}$/, 'a voice id: a text without spaces')),
    ...given('priority', number(body, 'priority', 1, 5, true)),
    ...given('durationSec', number(body, 'durationSec', 0, MAX_DURATION_SEC, false)),
    ...given(
      'dedupe',
      pattern(body, 'dedupe', /^[^\p{Cc}\p{Cf}]{1,200}$/u, 'a text of at most 200 characters'),
    ),
    ...given('url', urlOf(body)),
    ...given('phase', optionalText(body, 'phase', 100)),
    ...given('slug', optionalText(body, 'slug', 200)),
  };
}

function requiredMessage(value: unknown): string {
  if (value === undefined || value === null) throw wrong('message', 'is missing', 'a text');
  if (typeof value !== 'string') throw wrong('message', 'is not a text', 'a text');
  wellFormed('message', value);
  const length = lengthOf(value);
  if (length > MAX_MESSAGE) {
    throw wrong('message', `has ${length} characters`, `at most ${MAX_MESSAGE}`);
  }
  const message = cleanLines(value).trim();
  // What has only characters of no width is nothing to be seen, and nothing to be heard.
  if (!/[^\s\p{Cf}]/u.test(message)) throw wrong('message', 'is empty', 'a text');
  return message;
}

/** Without escape sequences, controls and turned directions; lines stay lines. */
export function cleanLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(clean)
    .join('\n');
}

/** In characters as a person counts code points: an emoji is one. */
function lengthOf(text: string): number {
  if (text.length <= MAX_MESSAGE) return text.length;
  return Array.from(text).length;
}

function eventOf(value: unknown): EventName {
  if (value === undefined || value === null) return 'taskComplete';
  if (typeof value === 'string' && isEventName(value)) return value;
  throw wrong('event', 'is not an event', EVENT_NAMES.join(', '));
}

function sourceOf(value: unknown): Source {
  if (value === undefined || value === null) return 'da';
  if ((SOURCES as readonly unknown[]).includes(value)) return value as Source;
  throw wrong('source', 'is not known', SOURCES.join(', '));
}

function tagsOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const expected = `a list of at most ${MAX_TAGS} texts of letters, digits, - and _`;
  const isTag = (tag: unknown): tag is string => typeof tag === 'string' && /^[\w+-]{1,64}$/.test(tag);
  if (!Array.isArray(value) || value.length > MAX_TAGS || !value.every(isTag)) {
    throw wrong('tags', 'are not right', expected);
  }
  return [...new Set<string>(value)];
}

function urlOf(body: Record<string, unknown>): string | undefined {
  const text = optionalText(body, 'url', 2000);
  if (text === undefined) return undefined;
  const isWeb = !/[\s\p{Cc}]/u.test(text) && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) throw wrong('url', 'is not an address', 'one that begins with http:// or https://');
  return text;
}

function optionalText(body: Record<string, unknown>, key: string, max: number): string | undefined {
  const value = body[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrong(key, 'is not a text', 'a text');
  wellFormed(key, value);
  if (value.length > max) throw wrong(key, `has ${value.length} characters`, `at most ${max}`);
  return value;
}

function pattern(
  body: Record<string, unknown>,
  key: string,
  grammar: RegExp,
  expected: string,
): string | undefined {
  const value = optionalText(body, key, 1000);
  if (value === undefined || grammar.test(value)) return value;
  throw wrong(key, 'is not right', expected);
}

function flag(body: Record<string, unknown>, key: string, fallback: boolean): boolean {
  const value = body[key];
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'boolean') throw wrong(key, 'is not right', 'true or false');
  return value;
}

function number(
  body: Record<string, unknown>,
  key: string,
  from: number,
  to: number,
  whole: boolean,
): number | undefined {
  const value = body[key];
  if (value === undefined || value === null) return undefined;
  const isNumber = typeof value === 'number' && value >= from && value <= to;
  if (isNumber && (!whole || Number.isInteger(value))) return value;
  throw wrong(key, 'is not right', `a ${whole ? 'whole ' : ''}number from ${from} to ${to}`);
}

/** Half of a surrogate pair is no character: it can be neither spoken nor sent as UTF-8. */
function wellFormed(key: string, text: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw wrong(key, 'holds half of a character (a lone surrogate)', 'Unicode');
}

function wrong(key: string, what: string, expected: string): StewardError {
  return new StewardError('usage', `${key} ${what}.`, { hint: `Expected for ${key}: ${expected}.` });
}

function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
