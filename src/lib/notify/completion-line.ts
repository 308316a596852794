import { cleanLines } from './message';
import { short } from './text';

const MAX_CHARS = 300;
/** What is looked at of a response, from its end, and of each of its lines; UTF-16 units. */
const MAX_RESPONSE = 64 * 1024;
const MAX_LINE = 2000;
/** Marks that a response may put around its line: pictures, list marks, bold. */
const AROUND = /^[^\p{L}\p{N}]+|(?<![\s*_`>])[\s*_`>]+$/gu;

/**
 * The voice line of an assistant's response: its last line, outside of code, that begins with the assistant's name,
 * `Completed` or `Voice` and a colon. Undefined for a response that has none: a conversation, and then nothing is
 * dispatched.
 */
export function completionLine(response: string, daName: string): string | undefined {
  const openings = [daName, 'completed', 'voice'].map((name) => `${name.toLowerCase()}:`);
  const lines = withoutCode(cleanLines(response.slice(-MAX_RESPONSE)).split('\n')).reverse();
  for (const line of lines) {
    const bare = line.slice(0, MAX_LINE).replace(AROUND, '');
    const spaced = bare.replace(/^([^:]{1,60}?)[\s*_]*:[\s*_]*/u, '$1: ');
    const opening = openings.find((name) => spaced.toLowerCase().startsWith(name));
    const said = opening === undefined ? '' : spaced.slice(opening.length).replace(AROUND, '').trim();
    if (said !== '') return short(said, MAX_CHARS);
  }
  return undefined;
}

/** Without fenced blocks: `voice: alloy` in a file is nothing that the assistant says. One that is not closed stays. */
function withoutCode(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let open: { fence: string; at: number } | undefined;
  for (const line of lines) {
    const fence = /^[ \t]*(```|~~~)/.exec(line)?.[1];
    kept.push(line);
    if (fence === undefined) continue;
    if (open === undefined) open = { fence, at: kept.length - 1 };
    else if (open.fence === fence) {
      kept.length = open.at;
      open = undefined;
    }
  }
  return kept;
}
