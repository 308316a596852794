import type { Chrono, ParsedResult, ParsingReference } from 'chrono-node/en';

import DATA from '../../../templates/data/due-words.json';
import { expanded } from '../platform/files/template';

/** Compiles a pattern of due-words.json. */
export const rx = (source: string): RegExp => new RegExp(expanded(source, DATA.parts), 'i');

export interface PhraseRange {
  index: number;
  length: number;
}

const NAME = /\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;
const FULL_WEEKDAY = /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i;
const PART_OF_DAY = /^(?:morning|afternoon|evening|night|noon|midday|midnight|now)$/i;
const AFTER_PREPOSITION = /(?:^|\s)(?:on|by|next|this|until|till|before|due|coming)$/i;
const PART_AFTER_PREPOSITION = /(?:^|\s)(?:(?:in|at|by|on|until|till|before)(?: the)?|this)$/i;
const WITH_PREPOSITION = /^(?:on|by|next|this|until|till|before|in|at)\s/i;
const AFTER_DETERMINER = /(?:^|\s)(?:the|an?|my|our|your|his|her|their)$/i;
const RELATIVE = rx(DATA.patterns.relative);
const EXPLICIT_HOUR = rx(DATA.patterns.explicitHour);
const BEFORE_HOUR = /(?:\b(?:at|by)|@)\s*$/i;

/**
 * Returns the last time mentioned in a text. Ignores words that only look like times. For example, `Sun
 * Microsystems` contains no day.
 */
export function namedTime(parser: Chrono, text: string, reference: ParsingReference) {
  const results = clearTimes(parser, text, reference);
  const [before, last] = [results.at(-2), results.at(-1)];
  if (last === undefined) return undefined;
  return (before === undefined ? undefined : dayWithHour([before, last], parser, reference)) ?? asNamed(last);
}

export function asNamed(result: ParsedResult) {
  return { result, spans: [{ index: result.index, length: result.text.length }] };
}

/** Combines a day and an hour that are not adjacent. Example: `tomorrow call Ann at 9`. */
function dayWithHour(
  pair: readonly [ParsedResult, ParsedResult],
  parser: Chrono,
  reference: ParsingReference,
) {
  const hour = pair.find(({ start, text }) => /^at /i.test(text) && !isDay(start));
  const day = pair.find(({ start }) => isDay(start) && !start.isCertain('hour'));
  if (hour === undefined || day === undefined) return undefined;
  const words = `${day.text} ${hour.text}`;
  const [result] = parser.parse(words, reference, { forwardDate: true });
  return result?.text === words ? { result, spans: pair.flatMap((part) => asNamed(part).spans) } : undefined;
}

function isDay(at: ParsedResult['start']): boolean {
  return at.isCertain('day') || at.isCertain('weekday');
}

/** Returns the unambiguous times in a text. Masks ambiguous words and parses again, as they may hide a time. */
function clearTimes(parser: Chrono, text: string, reference: ParsingReference): ParsedResult[] {
  let masked = text;
  for (;;) {
    const results = parser.parse(masked, reference, { forwardDate: true });
    const ambiguous = results.flatMap((result) => ambiguousSpan(result, text) ?? []);
    if (ambiguous.length === 0) return results;
    for (const { index, length } of ambiguous) {
      const end = index + length;
      masked = masked.slice(0, index) + masked.slice(index, end).replace(/\S/g, 'x') + masked.slice(end);
    }
  }
}

function ambiguousSpan(result: ParsedResult, text: string): PhraseRange | undefined {
  const { index, text: words } = result;
  const before = text.slice(0, index);
  const after = text.slice(index + words.length);
  return (
    bareHour(result, before) ??
    (isAmbiguous(result, before, after) ? { index, length: words.length } : undefined)
  );
}

/** Returns a number that the parser mistook for an hour, such as `10` in `chapter 10 tomorrow`. */
function bareHour(result: ParsedResult, before: string): PhraseRange | undefined {
  const { index, text: words, start } = result;
  if (!result.tags().has('parser/ENTimeExpressionParser')) return undefined;
  if (EXPLICIT_HOUR.test(`${BEFORE_HOUR.exec(before)?.[0] ?? ''}${words}`)) return undefined;
  const hour = start.get('hour') ?? 0;
  const forms = [hour, hour - 12, hour * 100 + (start.get('minute') ?? 0)];
  const numbers = [...words.matchAll(/\d+(?:\.\d+)?/g)];
  const number = numbers.findLast(([digits]) => forms.includes(Math.floor(Number(digits))));
  return number === undefined ? undefined : { index: index + number.index, length: number[0].length };
}

function isAmbiguous(result: ParsedResult, before: string, after: string): boolean {
  const { text: words, start } = result;
  const tags = result.tags();
  if (/[\p{L}\p{N}][-_.'’@#&]$/u.test(before) || /^(?:['’]s?\b|[-_&]\p{L})/u.test(after)) return true;
  const lead = before.trimEnd();
  const isAtStart = !/[\p{L}\p{N}]/u.test(before);
  const isAtEnd = !/[\p{L}\p{N}]/u.test(after.replace(/\bplease\b/i, ''));
  const isApart = isAtStart && /^\s*[:,;–—-]/.test(after);
  if (PART_OF_DAY.test(words)) return !(isAtEnd || isApart || PART_AFTER_PREPOSITION.test(lead));
  if (isAtEnd && isAtStart) return false;
  if (tags.has('result/relativeDate')) return !(RELATIVE.test(words) || AFTER_PREPOSITION.test(lead));
  if (AFTER_DETERMINER.test(lead) && !isAtEnd) return true;
  if (/^at \d{1,2}$/i.test(words)) {
    return !(isAtStart || isAtEnd || /^\s*(?:[,:;.!)]|(?:to|with|about|please)\b)/i.test(after));
  }
  const hasPreposition = AFTER_PREPOSITION.test(lead) || WITH_PREPOSITION.test(words);
  if (start.isCertain('hour') || hasPreposition || start.isCertain('year')) return false;
  if (tags.has('parser/SlashDateFormatParser')) return !isApart;
  if (!NAME.test(words) || isAtEnd || isApart) return false;
  if (start.isCertain('month') && /^in$/i.test(lead)) return false;
  // "friday call Ann", "3 march call Ann" and "sat call Ann" contain dates. "Sun Microsystems" and "March on
  // Rome" don't.
  if (!isAtStart) return true;
  if (FULL_WEEKDAY.test(words) || start.isCertain('day')) return false;
  return start.isCertain('month') || /^\s*\p{Lu}/u.test(after);
}

/** Matches words such as `daily`, but not as adjectives (`the daily report`, `daily standup notes`). */
const RECURRING = rx(DATA.patterns.recurring);

/** Returns the words that make a reminder recurring, such as `every monday`. */
export function recurringWords(text: string): string | undefined {
  return RECURRING.exec(text)?.[0];
}

const DAYS: Readonly<Record<string, number>> = {
  jan: 31, feb: 29, mar: 31, apr: 30, may: 31, jun: 30, jul: 31, aug: 31, sep: 30, oct: 31, nov: 30, dec: 31,
}; // prettier-ignore
const DAY_MONTH = rx(DATA.patterns.dayMonth);
const MONTH_DAY = rx(DATA.patterns.monthDay);
const DAY_ALONE = /\b(?:on|by|until|till|before) the (\d{1,2})(?:st|nd|rd|th)\b/i;
const ISO = /\b\d{4}-(\d\d)-(\d\d)\b/;
const CLOCK = /(?:\b(?:at|by)|@) ?(\d{1,2}):(\d\d)\b/i;
const TWELVE = /(?:\b(?:at|by)|@) ?(\d{1,2})(?::\d\d)? ?[ap]m\b/i;
const PAST = rx(DATA.patterns.past);

type Impossible = readonly [pattern: RegExp, isImpossible: (match: RegExpExecArray) => boolean][];

/** Every pattern of a day starts with one of these words. This fast check avoids compiling the patterns in a hook. */
const BEFORE_DAY = /\b(?:on|by|until|till|before|from|for) /i;
const IMPOSSIBLE_DAY: Impossible = [
  [DAY_MONTH, ([, day, month = '']) => !isMonthDay(Number(day), month)],
  [MONTH_DAY, ([, month = '', day]) => !isMonthDay(Number(day), month)],
  [DAY_ALONE, ([, day]) => !isMonthDay(Number(day), 'jan')],
];
const IMPOSSIBLE: Impossible = [
  [ISO, ([, month, day]) => !isMonthDay(Number(day), Object.keys(DAYS)[Number(month) - 1] ?? '')],
  [CLOCK, ([, hour, minute]) => Number(hour) > 24 || Number(minute) > 59],
  [TWELVE, ([, hour]) => Number(hour) > 12],
];

/** Returns the words that describe an impossible or past time, such as `on 31 November` or `yesterday`. */
export function unusableTime(text: string): string | undefined {
  return impossibleTime(text) ?? PAST.exec(text)?.[0];
}

/** Returns the words that describe a time that doesn't exist, such as `on 31 November`. */
export function impossibleTime(text: string): string | undefined {
  for (const [pattern, isImpossible] of BEFORE_DAY.test(text)
    ? [...IMPOSSIBLE_DAY, ...IMPOSSIBLE]
    : IMPOSSIBLE) {
    const match = pattern.exec(text);
    if (match !== null && isImpossible(match)) return match[0];
  }
  return undefined;
}

function isMonthDay(day: number, month: string): boolean {
  return day >= 1 && day <= (DAYS[month.slice(0, 3).toLowerCase()] ?? 0);
}
