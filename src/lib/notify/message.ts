import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { EVENT_NAMES, SOURCES, isEventName, type EventName, type Source } from './events';
import { cleanLines } from './text';

/** A notification as it was asked for, checked. */
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

type Body = Record<string, unknown>;

/** Checks a request body; what is wrong is `usage` that names the key. Unknown keys are ignored. */
export function parseRequest(body: unknown): NotifyRequest {
  if (!isObject(body)) {
    const hint = 'Send an object such as {"message": "Done"}.';
    throw new StewardError('usage', 'The body is not a JSON object.', { hint });
  }
  const title = textOf(body, 'title', MAX_TITLE);
  const request: { [K in keyof NotifyRequest]: NotifyRequest[K] | undefined } = {
    message: messageOf(body['message']),
    voiceEnabled: given(body, 'voice_enabled', 'true or false', isBoolean) ?? true,
    event: given(body, 'event', EVENT_NAMES.join(', '), isEventName, 'is not an event') ?? 'taskComplete',
    tags: [...new Set(given(body, 'tags', TAGS, isTags, 'are not right'))],
    source: given(body, 'source', SOURCES.join(', '), isSource, 'is not known') ?? 'da',
    title: title === undefined ? undefined : clean(title).trim() || undefined,
    voiceId: textLike(body, 'voice_id', /^[!-~]{1,200}$/, 'a voice id: a text without spaces'),
    priority: given(body, 'priority', 'a whole number from 1 to 5', isPriority),
    durationSec: given(body, 'durationSec', `a number from 0 to ${MAX_DURATION_SEC}`, isDuration),
    dedupe: textLike(body, 'dedupe', /^[^\p{Cc}\p{Cf}]{1,200}$/u, 'a text of at most 200 characters'),
    url: urlOf(body),
    phase: textOf(body, 'phase', 100),
    slug: textOf(body, 'slug', 200),
    reach: undefined,
  };
  const entries = Object.entries(request).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as unknown as NotifyRequest;
}

const TAGS = `a list of at most ${MAX_TAGS} texts of letters, digits, - and _`;
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isSource = (value: unknown): value is Source => (SOURCES as readonly unknown[]).includes(value);
const isTags = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= MAX_TAGS &&
  value.every((tag) => typeof tag === 'string' && /^[\w+-]{1,64}$/.test(tag));
const isPriority = (value: unknown): value is number => [1, 2, 3, 4, 5].includes(value as number);
const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_DURATION_SEC;

function messageOf(value: unknown): string {
  if (value === undefined || value === null) throw wrong('message', 'is missing', 'a text');
  // Code points: an emoji is one character.
  const text = checkedText('message', value, MAX_MESSAGE, (whole) => Array.from(whole).length);
  const message = cleanLines(text).trim();
  // What has only characters of no width is nothing to be seen, and nothing to be heard.
  if (!/[^\s\p{Cf}]/u.test(message)) throw wrong('message', 'is empty', 'a text');
  return message;
}

function urlOf(body: Body): string | undefined {
  const text = textOf(body, 'url', 2000);
  if (text === undefined) return undefined;
  const isWeb = !/[\s\p{Cc}]/u.test(text) && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) throw wrong('url', 'is not an address', 'one that begins with http:// or https://');
  return text;
}

function textOf(body: Body, key: string, max: number): string | undefined {
  const value = body[key] ?? undefined;
  return value === undefined ? undefined : checkedText(key, value, max, (text) => text.length);
}

function textLike(body: Body, key: string, grammar: RegExp, expected: string): string | undefined {
  const text = textOf(body, key, 1000);
  if (text === undefined || grammar.test(text)) return text;
  throw wrong(key, 'is not right', expected);
}

function checkedText(key: string, value: unknown, max: number, lengthOf: (text: string) => number): string {
  if (typeof value !== 'string') throw wrong(key, 'is not a text', 'a text');
  // Half of a surrogate pair can be neither spoken nor sent as UTF-8.
  if (/\p{Surrogate}/u.test(value))
    throw wrong(key, 'holds half of a character (a lone surrogate)', 'Unicode');
  const length = value.length <= max ? value.length : lengthOf(value);
  if (length > max) throw wrong(key, `has ${length} characters`, `at most ${max}`);
  return value;
}

function given<T>(
  body: Body,
  key: string,
  expected: string,
  is: (value: unknown) => value is T,
  what = 'is not right',
): T | undefined {
  const value = body[key] ?? undefined;
  if (value === undefined || is(value)) return value;
  throw wrong(key, what, expected);
}

function wrong(key: string, what: string, expected: string): StewardError {
  return new StewardError('usage', `${key} ${what}.`, { hint: `Expected for ${key}: ${expected}.` });
}
