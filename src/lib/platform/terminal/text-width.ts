import { eastAsianWidth } from 'get-east-asian-width';

/**
 * Returns the width of sanitized text in columns: 2 for wide characters, 0 for combining marks and colors.
 */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  const bare = text.replace(COLORS, '');
  let width = 0;
  for (const { segment } of wideTools().segmenter.segment(bare)) width += graphemeWidth(segment);
  return width;
}

/** Truncates text to a number of columns. Truncated text ends in `…`. */
export function fit(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  if (PLAIN.test(text)) return columns > 0 ? `${text.slice(0, columns - 1)}…` : '';
  let fitting = '';
  let width = 0;
  for (const { segment } of wideTools().segmenter.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns - 1) break;
    fitting += segment;
  }
  return columns > 0 ? `${fitting}…` : '';
}

/** Truncates a name before its end, such as ` (9a11)`, which distinguishes it from an equal name. */
export function fitName(name: string, columns: number): string {
  const end = / \([^() ]{1,4}\)$/.exec(name)?.[0] ?? '';
  return fit(name.slice(0, name.length - end.length), columns - end.length) + end;
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - displayWidth(text))) + text;
}

/** Returns the width of a grapheme, which may have several code points (marks, joiners, flags). */
function graphemeWidth(grapheme: string): number {
  const { invisible, emoji } = wideTools();
  if (invisible.test(grapheme)) return 0;
  if (emoji.test(grapheme)) return 2;
  return eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

interface WideTools {
  segmenter: Intl.Segmenter;
  invisible: RegExp;
  /** Matches emoji: characters that are emoji by default or followed by U+FE0F, and two-letter flags. */
  emoji: RegExp;
}

let shared: WideTools | undefined;

/** Returns what only wide characters need. Creating it takes a few milliseconds. */
function wideTools(): WideTools {
  shared ??= {
    segmenter: new Intl.Segmenter(),
    invisible: /^[\p{Mark}\p{Control}\p{Format}]+$/u,
    emoji: /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u,
  };
  return shared;
}

/** Matches text whose characters are all one column wide, so that no segmenter is needed. */
const PLAIN = /^[\x20-\x7e\u2500-\u25fc·–—…✎✓]*$/;
const COLORS = /\u001b\[[\d;]*m/g;
