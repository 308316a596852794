import { clean } from '../../platform/terminal/terminal';
import { findHomographs } from './homographs';
import type { FindTerms } from './terms';

/** A text and what the voice says in its place. */
export interface Transformed {
  /** As it was sent. */
  text: string;
  spoken: string;
}

/** A stretch of a text, from `start` up to `end` (UTF-16 units), and what replaces it. */
export interface Replacement {
  start: number;
  end: number;
  written: string;
}

/**
 * The text as it is to be said: the principal's terms are replaced, and the homographs around them respelled, in one
 * pass. Line breaks, controls and halves of characters, which no engine can say, become spaces or nothing.
 */
export function transform(text: string, findTerms: FindTerms): Transformed {
  const sayable = clean(text.replace(/\p{Cs}/gu, ' ')).trim();
  const terms = findTerms(sayable);
  const homographs = findHomographs(sayable).filter((one) => !terms.some((term) => overlap(one, term)));
  const all = [...terms, ...homographs].sort((a, b) => a.start - b.start);
  return { text, spoken: written(sayable, all).trim() };
}

/** Writes replacements that are in order and do not overlap; what they write is not looked at again. */
export function written(text: string, replacements: readonly Replacement[]): string {
  let done = 0;
  let result = '';
  for (const { start, end, written: word } of replacements) {
    result += text.slice(done, start) + word;
    done = end;
  }
  return result + text.slice(done);
}

function overlap(a: Replacement, b: Replacement): boolean {
  return a.start < b.end && b.start < a.end;
}
