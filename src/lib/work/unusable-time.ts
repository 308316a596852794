const DAYS: Readonly<Record<string, number>> = {
  jan: 31, feb: 29, mar: 31, apr: 30, may: 31, jun: 30, jul: 31, aug: 31, sep: 30, oct: 31, nov: 30, dec: 31,
}; // prettier-ignore
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const LEAD = '\\b(?:on|by|until|till|before|from|for) (?:the )?';
const DAY_MONTH = new RegExp(`${LEAD}(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}\\b`, 'i');
const MONTH_DAY = new RegExp(`${LEAD}${MONTH} (\\d{1,2})(?:st|nd|rd|th)?\\b(?!:)`, 'i');
const DAY_ALONE = /\b(?:on|by|until|till|before) the (\d{1,2})(?:st|nd|rd|th)\b/i;
const ISO = /\b\d{4}-(\d\d)-(\d\d)\b/;
const CLOCK = /(?:\b(?:at|by)|@) ?(\d{1,2}):(\d\d)\b/i;
const TWELVE = /(?:\b(?:at|by)|@) ?(\d{1,2})(?::\d\d)? ?[ap]m\b/i;
const PAST =
  /\b(?:yesterday|last (?:night|week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:\d+|an?) \w+ ago)[.!]?$/i;

/** The words of a text that name a time which cannot be: `on 31 November`, `at 25:00`, `yesterday`. */
export function unusableTime(text: string): string | undefined {
  return (
    impossible(text, DAY_MONTH, ([, day, month = '']) => !isDay(Number(day), month)) ??
    impossible(text, MONTH_DAY, ([, month = '', day]) => !isDay(Number(day), month)) ??
    impossible(text, DAY_ALONE, ([, day]) => !isDay(Number(day), 'jan')) ??
    impossible(
      text,
      ISO,
      ([, month, day]) => !isDay(Number(day), Object.keys(DAYS)[Number(month) - 1] ?? ''),
    ) ??
    impossible(text, CLOCK, ([, hour, minute]) => Number(hour) > 24 || Number(minute) > 59) ??
    impossible(text, TWELVE, ([, hour]) => Number(hour) > 12) ??
    PAST.exec(text)?.[0]
  );
}

function impossible(
  text: string,
  pattern: RegExp,
  isImpossible: (match: RegExpExecArray) => boolean,
): string | undefined {
  const match = pattern.exec(text);
  return match !== null && isImpossible(match) ? match[0] : undefined;
}

function isDay(day: number, month: string): boolean {
  return day >= 1 && day <= (DAYS[month.slice(0, 3).toLowerCase()] ?? 0);
}
