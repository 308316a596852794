/**
 * One word with two pronunciations: the engine's own, and one that it gives only to a respelling. The contexts
 * are tried in order and the first that fits decides; where none fits, the word stays. So a new mispronounced
 * phrasing is one more context, and never a replacement everywhere (service.md: Voice).
 */
export interface Homograph {
  /** In lower case; any case is found, whole words only. */
  word: string;
  respelling: string;
  /** Made at the first use: a text without the word pays nothing. */
  contexts: () => readonly Context[];
}

/** What stands around the word, in lower case, with straight apostrophes and single spaces. */
export interface Context {
  /** What it says of the word here. */
  then: 'respell' | 'keep';
  /** Matched against the sentence up to the word, to its end: ends in `$`. */
  before?: RegExp;
  /**
   * Any of them matches the sentence behind the word, from its beginning: each begins with `^`. Contexts share
   * them, since the engine compiles each at its first use.
   */
  after?: readonly RegExp[];
}
