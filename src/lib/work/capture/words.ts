/** A word of each pattern of `prompt.ts`. */
const WORDS = /remind|research|queue|forget/i;

/**
 * May a prompt ask for something to be kept? Cheaper than the patterns, which most prompts need not be held against,
 * and no: `matchPrompt` finds nothing.
 */
export function mayAsk(prompt: string): boolean {
  return WORDS.test(prompt);
}
