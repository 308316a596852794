import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { clean, cleanLines } from '../platform/terminal/terminal';
import { EVENTS, EVENT_NAMES, SOURCES, isEventName, type EventName, type Source } from './events';
import { isNameless } from '../sessions/slug';

export interface NotifyRequest {
  /** 1 to 4,000 characters, without escape sequences or control characters. */
  message: string;
  title?: string;
  voiceId?: string;
  voiceEnabled: boolean;
  event: EventName;
  /** Priority from 1 to 5. Default: the event's priority. */
  priority?: number;
  durationSec?: number;
  /** A newer message replaces pending messages with the same key. */
  dedupe?: string;
  /** An http or https URL to open when the notification is clicked. */
  url?: string;
  tags: string[];
  source: Source;
  phase?: string;
  slug?: string;
  /** The slug of the session that the message is about, or the id of a question. */
  thread?: string | undefined;
  /**
   * Where you are, if known. `desk` skips the push; `away` skips the voice and prefers a push to a banner.
   */
  reach?: 'desk' | 'away';
  /** Whether the vendor's app already pushes it to your phone. */
  isBridged?: true | undefined;
  /** Whether steward noticed this itself, instead of being asked to send it. */
  isNoticed?: boolean;
}

const MAX_MESSAGE = 4000;
const MAX_TITLE = 250;
const MAX_TAGS = 10;
const MAX_DURATION_SEC = 31 * 86_400;

type Body = Record<string, unknown>;

/** Validates a request body. Throws `usage` and names the first invalid key; ignores unknown keys. */
export function parseRequest(body: unknown): NotifyRequest {
  if (!isObject(body)) {
    const hint = 'Send an object such as {"message": "Done"}.';
    throw new StewardError('usage', 'The body is not a JSON object.', { hint });
  }
  const title = textOf(body, 'title', MAX_TITLE);
  const request: { [K in keyof NotifyRequest]: NotifyRequest[K] | undefined } = {
    message: messageOf(body['message']),
    voiceEnabled: valid(body, 'voice_enabled', 'true or false', isBoolean) ?? true,
    event: valid(body, 'event', `one of ${EVENT_NAMES.join(', ')}`, isEventName) ?? 'taskComplete',
    tags: [...new Set(valid(body, 'tags', TAGS, isTags))],
    source: valid(body, 'source', `one of ${SOURCES.join(', ')}`, isSource) ?? 'da',
    title: title === undefined ? undefined : clean(title).trim() || undefined,
    voiceId: matching(body, 'voice_id', /^[!-~]{1,200}$/, 'a voice id without spaces'),
    priority: valid(body, 'priority', 'a whole number from 1 to 5', isPriority),
    durationSec: valid(body, 'durationSec', `a number from 0 to ${MAX_DURATION_SEC}`, isDuration),
    dedupe: matching(body, 'dedupe', /^[^\p{Cc}\p{Cf}\p{Cs}]{1,200}$/u, 'a string of at most 200 characters'),
    url: valid(body, 'url', 'an http:// or https:// URL of at most 2,000 characters', isWebUrl),
    phase: textOf(body, 'phase', 100),
    slug: textOf(body, 'slug', 200),
    reach: undefined,
  };
  const entries = Object.entries(request).filter(([, value]) => value !== undefined);
  const parsed = Object.fromEntries(entries) as unknown as NotifyRequest;
  return isNameless(parsed.slug ?? '') ? withoutText(parsed) : parsed;
}

/** Returns the request of a restricted session, which names only the kind of event. */
function withoutText({ title: _title, url: _url, ...request }: NotifyRequest): NotifyRequest {
  return { ...request, message: EVENTS[request.event].generic, tags: [] };
}

const TAGS = `a list of at most ${MAX_TAGS} strings of letters, digits, - and _`;
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isSource = (value: unknown): value is Source => (SOURCES as readonly unknown[]).includes(value);
const isTags = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= MAX_TAGS &&
  value.every((tag) => typeof tag === 'string' && /^[\w+-]{1,64}$/.test(tag));
const isPriority = (value: unknown): value is number => [1, 2, 3, 4, 5].includes(value as number);
const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_DURATION_SEC;
const isWebUrl = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= 2000 &&
  !/[\s\p{Cc}\p{Cs}]/u.test(value) &&
  URL.canParse(value) &&
  /^https?:$/.test(new URL(value).protocol);

function messageOf(value: unknown): string {
  if (value === undefined || value === null) throw invalid('message', 'is missing', 'a string');
  const text = checkedText('message', value, MAX_MESSAGE, (whole) => Array.from(whole).length);
  const message = cleanLines(text).trim();
  // A message that contains only zero-width characters would be invisible and silent.
  if (!/[^\s\p{Cf}]/u.test(message))
    throw invalid('message', 'is empty', 'the text to send, such as "Build done"');
  return message;
}

function textOf(body: Body, key: string, max: number): string | undefined {
  const value = body[key] ?? undefined;
  return value === undefined ? undefined : checkedText(key, value, max, (text) => text.length);
}

function matching(body: Body, key: string, grammar: RegExp, expected: string): string | undefined {
  const matches = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= 400 && grammar.test(value);
  return valid(body, key, expected, matches);
}

function checkedText(key: string, value: unknown, max: number, lengthOf: (text: string) => number): string {
  if (typeof value !== 'string') throw invalid(key, 'is not a string', 'a string');
  // A lone surrogate can't be spoken or encoded as UTF-8.
  if (/\p{Surrogate}/u.test(value)) throw invalid(key, 'contains a lone surrogate', 'valid Unicode');
  const length = value.length <= max ? value.length : lengthOf(value);
  if (length > max) throw invalid(key, `has ${length} characters`, `at most ${max} characters`);
  return value;
}

function valid<T>(
  body: Body,
  key: string,
  expected: string,
  is: (value: unknown) => value is T,
): T | undefined {
  const value = body[key] ?? undefined;
  if (value === undefined || is(value)) return value;
  throw invalid(key, 'is invalid', expected);
}

function invalid(key: string, problem: string, expected: string): StewardError {
  return new StewardError('usage', `${key} ${problem}.`, { hint: `Set ${key} to ${expected}.` });
}
