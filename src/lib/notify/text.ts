/** A measure of text length, and the maximum length of each part in that measure. */
interface Measure {
  cost: (char: string) => number;
  max: number;
}

export function utf8Bytes(char: string): number {
  return Buffer.byteLength(char, 'utf8');
}

/** Returns a character's size inside a JSON string, in bytes. */
export function jsonBytes(char: string): number {
  return Buffer.byteLength(JSON.stringify(char), 'utf8') - 2;
}

/** Returns a character's length in UTF-16 code units. Several services use this unit for their limits. */
export function utf16Units(char: string): number {
  return char.length;
}

/**
 * Splits text into parts that respect every limit, preferably at a line or word break in the last third of a
 * part. Splits a grapheme only if it exceeds a limit.
 */
export function split(text: string, measures: readonly Measure[]): string[] {
  const parts: string[] = [];
  let part = '';
  let spent = measures.map(() => 0);
  const fits = (costs: readonly number[]): boolean =>
    costs.every((cost, i) => cost <= (measures[i]?.max ?? 0));
  const costsOf = (unit: string): number[] =>
    measures.map(({ cost }) => [...unit].reduce((sum, char) => sum + cost(char), 0));
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
  return [...parts, part].filter((piece, index) => piece !== '' || index === 0);
}

const PLAIN = /^[\n\x20-\x7e]*$/;

function* unitsOf(text: string, fits: (unit: string) => boolean): Iterable<string> {
  if (PLAIN.test(text)) return yield* text;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (fits(segment)) yield segment;
    else yield* segment;
  }
}

function cutAt(part: string): number {
  const line = part.lastIndexOf('\n');
  const word = part.lastIndexOf(' ');
  const from = (part.length * 2) / 3;
  if (line > from) return line;
  return word > from ? word : part.length;
}

/** Adds a prefix such as `(2/3)` to each part if there is more than one part. */
export function numberedParts(parts: readonly string[]): string[] {
  if (parts.length === 1) return [...parts];
  return parts.map((part, index) => `(${index + 1}/${parts.length}) ${part}`);
}

/** Formats a digest: one shortened line per message, and the number of omitted messages. */
export function digestText(messages: readonly string[], most = 20): string {
  const lines = messages.slice(0, most).map((message) => `• ${short(message, 120)}`);
  const more = messages.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

/** Shortens text to one line of at most `max` characters, ending in `…` if truncated. */
export function short(text: string, max: number): string {
  const chars = [...text.replace(/\s+/g, ' ').trim()];
  return chars.length <= max ? chars.join('') : `${chars.slice(0, max - 1).join('')}…`;
}

/** Escapes the three characters that are special in markup and in Slack messages. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (char) => (char === '&' ? '&amp;' : char === '<' ? '&lt;' : '&gt;'));
}

/** Disables mentions: inserts a zero-width character after each `@` or `<` that could start a mention. */
export function withoutMentions(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}_.])@(?=[\p{L}\p{N}_])|<(?=[!@#])/gu, '$&\u200b');
}
