import type { Chrono, ParsedResult, ParsingReference } from 'chrono-node/en';

interface Span {
  index: number;
  length: number;
}

/** A time that a text names, and where its words are. */
export interface NamedTime {
  result: ParsedResult;
  spans: Span[];
}

const NAME = /\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;
const FULL_WEEKDAY = /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i;
const PART_OF_DAY = /^(?:morning|afternoon|evening|night|noon|midday|midnight|now)$/i;
const LED = /(?:^|\s)(?:on|by|next|this|until|till|before|due|coming)$/i;
const LED_PART = /(?:^|\s)(?:(?:in|at|by|on|until|till|before)(?: the)?|this)$/i;
const BEGINS_LED = /^(?:on|by|next|this|until|till|before|in|at)\s/i;
const DETERMINER = /(?:^|\s)(?:the|an?|my|our|your|his|her|their)$/i;
const RELATIVE =
  /^(?:[+-]|(?:in|within|next|after|this|last|past|the)\s)|\b(?:from|after|before|later|ago)\b/i;
const EXPLICIT_HOUR =
  /\d\s*:\s*\d\d|\d\s*[ap]\.?\s?m\b|o.?clock|(?:\b(?:at|by)|@)\s*\d|\dT\d\d|\bin the (?:morning|afternoon|evening)/i;
const HOUR_LEAD = /(?:\b(?:at|by)|@)\s*$/i;

/**
 * Returns the time that a text names, the last one of several; undefined without any. Words that may mean something
 * else (`Sun Microsystems`, `chapter 10 tomorrow`) don't count.
 */
export function namedTime(parser: Chrono, text: string, reference: ParsingReference): NamedTime | undefined {
  const results = soundTimes(parser, text, reference);
  const last = results.at(-1);
  if (last === undefined) return undefined;
  const before = results.at(-2);
  return (before === undefined ? undefined : dayWithHour([before, last], parser, reference)) ?? asNamed(last);
}

export function asNamed(result: ParsedResult): NamedTime {
  return { result, spans: [{ index: result.index, length: result.text.length }] };
}

/** `tomorrow call Ann at 9`: the day and the hour stand apart. */
function dayWithHour(
  pair: readonly [ParsedResult, ParsedResult],
  parser: Chrono,
  reference: ParsingReference,
): NamedTime | undefined {
  const hour = pair.find(({ start, text }) => /^at /i.test(text) && !isDay(start));
  const day = pair.find(({ start }) => isDay(start) && !start.isCertain('hour'));
  if (hour === undefined || day === undefined) return undefined;
  const words = `${day.text} ${hour.text}`;
  const [result] = parser.parse(words, reference, { forwardDate: true });
  if (result?.text !== words) return undefined;
  return { result, spans: pair.flatMap((one) => asNamed(one).spans) };
}

function isDay(at: ParsedResult['start']): boolean {
  return at.isCertain('day') || at.isCertain('weekday');
}

/** Parses again without the doubtful words until the rest is beyond doubt: they may hide a time behind them. */
function soundTimes(parser: Chrono, text: string, reference: ParsingReference): ParsedResult[] {
  let read = text;
  for (;;) {
    const results = parser.parse(read, reference, { forwardDate: true });
    const doubtful = results.flatMap((result) => doubtfulSpan(result, text) ?? []);
    if (doubtful.length === 0) return results;
    for (const { index, length } of doubtful) {
      const end = index + length;
      read = read.slice(0, index) + read.slice(index, end).replace(/\S/g, 'x') + read.slice(end);
    }
  }
}

function doubtfulSpan(result: ParsedResult, text: string): Span | undefined {
  const { index, text: words } = result;
  const before = text.slice(0, index);
  const after = text.slice(index + words.length);
  return (
    bareHour(result, before) ??
    (isDoubtful(result, before, after) ? { index, length: words.length } : undefined)
  );
}

/** The number that was taken for an hour without anything that says so: `chapter 10 tomorrow`. */
function bareHour(result: ParsedResult, before: string): Span | undefined {
  const { index, text: words, start } = result;
  if (!result.tags().has('parser/ENTimeExpressionParser')) return undefined;
  if (EXPLICIT_HOUR.test(`${HOUR_LEAD.exec(before)?.[0] ?? ''}${words}`)) return undefined;
  const hour = start.get('hour') ?? 0;
  const isHour = (value: number): boolean =>
    [hour, hour - 12, hour * 100 + (start.get('minute') ?? 0)].includes(value);
  const number = [...words.matchAll(/\d+(?:\.\d+)?/g)].findLast(([digits]) =>
    isHour(Math.floor(Number(digits))),
  );
  return number === undefined ? undefined : { index: index + number.index, length: number[0].length };
}

function isDoubtful(result: ParsedResult, before: string, after: string): boolean {
  const { text: words, start } = result;
  const tags = result.tags();
  if (/[\p{L}\p{N}][-_.'’@#&]$/u.test(before) || /^(?:['’]s?\b|[-_&]\p{L})/u.test(after)) return true;
  const lead = before.trimEnd();
  const isAtStart = !/[\p{L}\p{N}]/u.test(before);
  const isAtEnd = !/[\p{L}\p{N}]/u.test(after.replace(/\bplease\b/i, ''));
  const isApart = isAtStart && /^\s*[:,;–—-]/.test(after);
  if (PART_OF_DAY.test(words)) return !(isAtEnd || isApart || LED_PART.test(lead));
  if (isAtEnd && isAtStart) return false;
  if (tags.has('result/relativeDate')) return !(RELATIVE.test(words) || LED.test(lead));
  if (DETERMINER.test(lead) && !isAtEnd) return true;
  const isTimed = start.isCertain('hour');
  if (/^at \d{1,2}$/i.test(words)) {
    return !(isAtStart || isAtEnd || /^\s*(?:[,:;.!)]|(?:to|with|about|please)\b)/i.test(after));
  }
  const isLed = LED.test(lead) || BEGINS_LED.test(words);
  if (isTimed || isLed || start.isCertain('year')) return false;
  if (tags.has('parser/SlashDateFormatParser')) return !isApart;
  if (!NAME.test(words) || isAtEnd || isApart) return false;
  if (start.isCertain('month') && /^in$/i.test(lead)) return false;
  // "friday call Ann", "3 march call Ann", "sat call Ann"; but not "Sun Microsystems", "March on Rome".
  if (!isAtStart) return true;
  if (FULL_WEEKDAY.test(words) || start.isCertain('day')) return false;
  return start.isCertain('month') || /^\s*\p{Lu}/u.test(after);
}
