/**
 * The one sanitiser (decisions.md 9): every string from elsewhere (window classes, commit subjects,
 * folder names, hook JSON, model output) passes here before a terminal or a log. Removes escape
 * sequences, C0 and C1 controls and bidirectional controls; a line break or tab becomes a space.
 */
export function clean(text: string): string {
  return text
    .replace(ESCAPE_SEQUENCES, '')
    .replace(/[\t\n\r\v\f\u0085\u2028\u2029]+/g, ' ')
    .replace(CONTROLS, '');
}

/** A text from elsewhere that keeps its lines, each cleaned. */
export function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n');
}

/**
 * A text from elsewhere as one cleaned line of at most `max` UTF-16 units, with `…` at its end where something
 * is missing. Half a pair of surrogates, which no file and no page can hold, becomes U+FFFD.
 */
export function cleanLine(text: string, max: number): string {
  const line = clean(text)
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/ {2,}/g, ' ')
    .trim();
  if (line.length <= max) return line;
  return `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

const ESCAPE_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g;
