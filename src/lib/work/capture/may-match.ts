/** Every phrase in `PHRASES` of prompt.ts contains one of these words. */
const WORDS = /remind|research|queue|forget/i;

/** Returns false if `matchPrompt` can't find anything. This fast check rules out most prompts. */
export function mayMatch(prompt: string): boolean {
  return WORDS.test(prompt);
}
