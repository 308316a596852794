import { cleanLines } from './message';
import { short } from './text';

const MAX_CHARS = 300;
/** What is looked at of a response, from its end, and of each of its lines; UTF-16 units. */
const MAX_RESPONSE = 64 * 1024;
const MAX_LINE = 2000;
/** Marks that a response may put around its line: pictures, list marks, bold. */
const AROUND = /^[^\p{L}\p{N}]+|(?<![\s*_`>])[\s*_`>]+$/gu;

/**
 * The voice line of an assistant's response (service.md: Events, rule 6): its last line that begins with the
 * assistant's name, `Completed` or `Voice` and a colon. Undefined for a response that has none: a conversation,
 * and then nothing is dispatched.
 */
export function completionLine(response: string, daName: string): string | undefined {
  const openings = [daName, 'completed', 'voice'].map((name) => `${name.toLowerCase()}:`);
  const lines = cleanLines(response.slice(-MAX_RESPONSE)).split('\n').reverse();
  for (const line of lines) {
    const bare = line.slice(0, MAX_LINE).replace(AROUND, '');
    const spaced = bare.replace(/^([^:]{1,60}?)[\s*_]*:[\s*_]*/u, '$1: ');
    const opening = openings.find((name) => spaced.toLowerCase().startsWith(name));
    const said = opening === undefined ? '' : spaced.slice(opening.length).replace(AROUND, '').trim();
    if (said !== '') return short(said, MAX_CHARS);
  }
  return undefined;
}
