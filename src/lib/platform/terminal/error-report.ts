import { errorBody, toStewardError, EXIT_CODES } from '../../errors';
import { foldFor } from './fold';
import { cleanLines } from './terminal';

/** Formats an error as JSON or as plain text. The text has one line for the problem and one for the hint. */
export function reportError(error: unknown, options: { json: boolean; debug: boolean }) {
  const known = toStewardError(error);
  const exitCode = EXIT_CODES[known.kind];
  if (options.json) return { exitCode, text: toJson(errorBody(known)) };
  const lines = [known.message, ...(known.hint === undefined ? [] : [known.hint])];
  if (options.debug) lines.push(stackOf(known));
  else if (known.kind === 'internal')
    lines.push('This is a bug in steward. Rerun the command with --debug and report the output.');
  const text = lines.map(cleanLines).join('\n');
  return { exitCode, text: `${foldFor('stderr', text)}\n` };
}

function stackOf(error: Error): string {
  const own = error.stack ?? String(error);
  return error.cause instanceof Error ? `${own}\nCaused by: ${stackOf(error.cause)}` : own;
}

/**
 * Formats a JSON document. Also escapes DEL, C1 and bidirectional characters, because terminals interpret
 * such characters.
 */
export function toJson(value: unknown): string {
  return escaped(`${JSON.stringify(value, null, 2) ?? 'null'}\n`);
}

/** Formats a document as one line of a JSON stream. */
export function toJsonLine(value: unknown): string {
  return escaped(`${JSON.stringify(value) ?? 'null'}\n`);
}

function escaped(text: string): string {
  return text.replace(RAW_CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const RAW_CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
