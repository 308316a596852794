import data from '../../../templates/data/routing.json';
import type { TextRange } from './routing-match';

/** Nouns for parts of a codebase, such as "test" or "build". */
const OBJECTS = new Set(data.codeObjects);

/** Finds the first noun that refers to a part of the codebase. */
export function objectIn(text: string): TextRange | undefined {
  const words = [...text.matchAll(/[a-z0-9_+#]+(?:-[a-z0-9_]+)*/g)];
  for (const [index, { 0: word, index: at }] of words.entries()) {
    const next = words[index + 1];
    const after = next?.[0] ?? '';
    if (OBJECTS.has(`${word} ${after}`)) return { at, length: (next?.index ?? 0) + after.length - at };
    const isObject = OBJECTS.has(word) || /^z[pc]_*$/.test(word);
    const isOther = (after === 'of' && words[index + 2]?.[0] === 'conduct') || /^words?$/.test(after);
    if (isObject && !isOther) return { at, length: word.length };
  }
  return undefined;
}
