import { clean } from '../../platform/terminal/terminal';
import { findHomographs } from './homographs';
import { written, type Replacement } from './replacement';
import type { FindTerms } from './term-match';

/** A text and what the voice says in its place. */
export interface Transformed {
  /** As it was sent. */
  text: string;
  spoken: string;
}

/**
 * The transforms before speech (service.md: Voice; decisions.md 5): the terms are found and protected, then the
 * homographs around them respelled, then the terms written, all in one pass. Line breaks, control characters
 * and halves of characters, which no engine can say, become spaces or nothing. Pure.
 */
export function transform(text: string, findTerms: FindTerms): Transformed {
  const sayable = clean(text.replace(HALF_CHARACTERS, ' ')).trim();
  const terms = findTerms(sayable);
  const homographs = findHomographs(sayable).filter((one) => !terms.some((term) => overlap(one, term)));
  const all = [...terms, ...homographs].sort((a, b) => a.start - b.start);
  return { text, spoken: written(sayable, all).trim() };
}

const HALF_CHARACTERS = /\p{Cs}/gu;

function overlap(a: Replacement, b: Replacement): boolean {
  return a.start < b.end && b.start < a.end;
}
