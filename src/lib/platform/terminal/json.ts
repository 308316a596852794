/**
 * One JSON document for stdout or stderr. Controls that JSON leaves alone (DEL, C1, bidirectional) are
 * written as escapes: the document may be shown on a terminal, and its values come from elsewhere.
 */
export function toJson(value: unknown): string {
  return escaped(JSON.stringify(value, null, 2) ?? 'null');
}

/** The same on one line, for a stream of documents. */
export function toJsonLine(value: unknown): string {
  return escaped(JSON.stringify(value) ?? 'null');
}

function escaped(text: string): string {
  return `${text.replace(RAW_CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

// DEL and C1, and the controls that turn the direction of text.
const RAW_CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
