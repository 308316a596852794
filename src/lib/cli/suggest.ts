import { distance } from 'fastest-levenshtein';

/** The candidate that was most likely meant, or undefined when none is near. */
export function suggest(typed: string, candidates: readonly string[]): string | undefined {
  const near = Math.max(1, Math.floor(typed.length / 3));
  let best: string | undefined;
  let bestDistance = near + 1;
  for (const candidate of candidates) {
    const found = distance(typed, candidate);
    if (found < bestDistance) [best, bestDistance] = [candidate, found];
  }
  return best;
}

/**
 * The command that was most likely meant by some words: one spelt nearly so, or one whose last word was
 * typed without its topic (`capture` for `sense capture`).
 */
export function suggestCommand(words: readonly string[], commands: readonly string[]): string | undefined {
  for (let length = words.length; length > 0; length -= 1) {
    const typed = words.slice(0, length).join(' ');
    const found =
      commands.find((command) => command.endsWith(` ${typed}`)) ??
      suggest(
        typed,
        commands.filter((command) => command.split(' ').length === length),
      );
    if (found !== undefined) return found;
  }
  return undefined;
}
