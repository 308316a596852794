/**
 * Sanitizes untrusted text for a terminal or log. Removes escape sequences and invisible characters. Replaces
 * line breaks and tabs with spaces.
 */
export function clean(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(ESCAPE_SEQUENCES, '')
    .replace(/[\t\n\r\v\f\u0085\u2028\u2029]+/g, ' ')
    .replace(CONTROLS, '')
    .replace(LOOSE, '');
}

/** Sanitizes each line of a text, like `clean`. */
export function cleanLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(clean)
    .join('\n');
}

/**
 * Returns text as one sanitized line of at most `max` UTF-16 code units, truncated with `…`. Replaces lone
 * surrogates with U+FFFD, because they can't be stored.
 */
export function cleanLine(text: string, max: number): string {
  const line = clean(text)
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/ {2,}/g, ' ')
    .trim();
  return truncated(line, max);
}

/** Truncates text to `max` UTF-16 code units with `…`. Does not split a surrogate pair. */
export function truncated(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.slice(0, Math.max(0, max - 1)).replace(/[\ud800-\udbff]$/, '');
  return `${start.trimEnd()}…`;
}

/** Escapes hidden and control characters, so that a permission prompt hides nothing. */
export function escapeHidden(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (hidden) =>
    /[\n\r\t]/.test(hidden)
      ? hidden
      : hidden.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

const ESCAPE_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;
const PLAIN = /^[\x20-\x7e]*$/;
/** Control, zero-width and tag characters. */
const CONTROLS =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]/g;
/** Arabic, Indic and similar scripts, in which joiners are part of words. */
const JOINING = '\u0600-\u0dff\u1000-\u109f\u1780-\u18af';
const PICTURE = '(?:[\ud83c-\ud83e][\udc00-\udfff]|[\u2190-\u2bff])';
/** Joiners (U+200C, U+200D) outside emoji and `JOINING` scripts, and variation selectors without an emoji. */
const LOOSE = new RegExp(
  `(?<![${JOINING}])\u200c|\u200c(?![${JOINING}])|` +
    `(?<!${PICTURE}\ufe0f?|[${JOINING}])\u200d|\u200d(?![\ud83c-\ud83e\u2190-\u2bff${JOINING}])|` +
    `(?<![0-9#*\u00a9\u00ae\u203c-\u3299]|[\ud83c-\ud83e][\udc00-\udfff])[\ufe0e\ufe0f]`,
  'g',
);
