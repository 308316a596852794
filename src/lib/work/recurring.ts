const UNIT =
  '(?:minute|hour|day|weekday|weekend|week|fortnight|month|quarter|year|morning|noon|afternoon|evening|night|' +
  '(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?';
const ORDINAL = '(?:other|single|first|second|third|last|\\d+(?:st|nd|rd|th)?)';
/** "the daily report" is a report, and "daily standup notes" are notes: only an adverb repeats. */
const ADVERB =
  '(?<!\\b(?:the|a|an|my|our|your|this|next|last) )(?:daily|weekly|monthly|yearly|annually|hourly)(?=\\s*(?:$|[.,;:!)])|\\s+(?:at|on|from|until|starting)\\b)';
const RECURRING = new RegExp(
  `\\b(?:(?:every|each) (?:${ORDINAL} )*(?:${UNIT}|\\d+(?:st|nd|rd|th))\\b` +
    `|${ADVERB}` +
    '|on (?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekdays|weekends)\\b' +
    `|(?:once|twice|\\d+ times) (?:a|per) ${UNIT}\\b)`,
  'i',
);

/** The words of a text that ask for something again and again (`every monday`); undefined where there are none. */
export function recurringWords(text: string): string | undefined {
  return RECURRING.exec(text)?.[0];
}
