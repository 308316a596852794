import { clean } from '../platform/terminal/terminal';

/** What one character may cost, and how much of it fits into a part. */
export interface Measure {
  cost: (char: string) => number;
  max: number;
}

/** Bytes of UTF-8. */
export function utf8Bytes(char: string): number {
  return Buffer.byteLength(char, 'utf8');
}

/** Bytes within a JSON text. */
export function jsonBytes(char: string): number {
  return Buffer.byteLength(JSON.stringify(char), 'utf8') - 2;
}

/** As the length of a JavaScript string, which several services count in. */
export function utf16Units(char: string): number {
  return char.length;
}

/**
 * The text in parts that are each within every measure, cut at a line or a word where one ends in the last third
 * of a part, never within what a reader sees as one character, unless that alone is more than a part holds. One
 * part at least; together they hold every character but the white space that they were cut at.
 */
export function split(text: string, measures: readonly Measure[]): string[] {
  const parts: string[] = [];
  let part = '';
  let spent = measures.map(() => 0);
  const fits = (costs: readonly number[]): boolean =>
    costs.every((cost, i) => cost <= (measures[i]?.max ?? 0));
  const costsOf = (unit: string): number[] => measures.map(({ cost }) => costOf(unit, cost));
  for (const unit of unitsOf(text, (unit) => fits(costsOf(unit)))) {
    const after = costsOf(unit).map((cost, i) => cost + (spent[i] ?? 0));
    if (part === '' || fits(after)) {
      part += unit;
      spent = after;
      continue;
    }
    const at = cutAt(part);
    parts.push(part.slice(0, at).trimEnd());
    const rest = part.slice(at).trimStart();
    if (fits(costsOf(rest + unit))) part = rest + unit;
    else {
      parts.push(rest);
      part = unit;
    }
    spent = costsOf(part);
  }
  return [...parts, part].filter((one, index) => one !== '' || index === 0);
}

const PLAIN = /^[\n\x20-\x7e]*$/;

/** What a cut leaves whole: an emoji of several code points is one, and so is a letter with its marks. */
function* unitsOf(text: string, fits: (unit: string) => boolean): Iterable<string> {
  if (PLAIN.test(text)) return yield* text;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (fits(segment)) yield segment;
    else yield* segment;
  }
}

function costOf(text: string, cost: Measure['cost']): number {
  return [...text].reduce((sum, char) => sum + cost(char), 0);
}

function cutAt(part: string): number {
  const line = part.lastIndexOf('\n');
  const word = part.lastIndexOf(' ');
  const from = (part.length * 2) / 3;
  if (line > from) return line;
  return word > from ? word : part.length;
}

/** Parts that say which of how many they are, as `(2/3)`; a single one is left alone. */
export function numberedParts(parts: readonly string[]): string[] {
  return parts.length === 1
    ? [...parts]
    : parts.map((part, index) => `(${index + 1}/${parts.length}) ${part}`);
}

/** Several messages as one: a line each, cut to a length, and how many more there were. */
export function digestText(messages: readonly string[], most = 20): string {
  const lines = messages.slice(0, most).map((message) => `• ${short(message, 120)}`);
  const more = messages.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

/** One line of at most so many characters, with `…` where something is missing. */
export function short(text: string, max: number): string {
  const chars = [...text.replace(/\s+/g, ' ').trim()];
  return chars.length <= max ? chars.join('') : `${chars.slice(0, max - 1).join('')}…`;
}

/** Without escape sequences, controls and turned directions; lines stay lines. */
export function cleanLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(clean)
    .join('\n');
}

/** With the three characters escaped that mean something in markup, and in a Slack message. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (char) => (char === '&' ? '&amp;' : char === '<' ? '&lt;' : '&gt;'));
}

/** Looks the same, and mentions nobody: a character without width follows each `@` or `<` that a mention begins with. */
export function withoutMentions(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}_.])@(?=[\p{L}\p{N}_])|<(?=[!@#])/gu, '$&\u200b');
}
