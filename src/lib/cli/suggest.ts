import { distance } from 'fastest-levenshtein';

import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';

/** The candidate that was most likely meant, or undefined when none is near. */
export function suggest(typed: string, candidates: readonly string[]): string | undefined {
  const near = typed.length < 6 ? 1 : Math.max(2, Math.floor(typed.length / 3));
  let best: string | undefined;
  let bestDistance = near + 1;
  for (const candidate of candidates) {
    const found = swapsTwo(typed, candidate) ? 1 : distance(typed, candidate);
    if (found < bestDistance) [best, bestDistance] = [candidate, found];
  }
  return best;
}

/** Whether the words differ by two letters, side by side, that changed places; to the distance those are two faults. */
function swapsTwo(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return `${one.slice(0, at)}${one[at + 1]}${one[at]}${one.slice(at + 2)}` === other;
}

/**
 * The command or topic that was most likely meant by some words: one spelt nearly so, or a command whose
 * last word was typed without its topic (`capture` for `sense capture`).
 *
 * @param commands with spaces: `sense capture`
 */
export function suggestCommand(words: readonly string[], commands: readonly string[]): string | undefined {
  const known = [...new Set([...commands, ...commands.flatMap(topicsOf)])];
  for (let length = words.length; length > 0; length -= 1) {
    const typed = words.slice(0, length).join(' ');
    const found =
      commands.find((command) => command.endsWith(` ${typed}`)) ??
      suggest(
        typed,
        known.filter((command) => command.split(' ').length === length),
      );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The error of words that are no command. */
export function unknownCommand(words: readonly string[], commands: readonly string[]): StewardError {
  const shown = words.map(clean).join(' ');
  const meant = suggestCommand(words, commands);
  const what = shown.startsWith('-') ? `flag ${shown}` : `command "steward ${shown}"`;
  return new StewardError('usage', `There is no ${what}.`, {
    hint: meant === undefined ? 'See "steward --help" for all commands.' : `Did you mean "steward ${meant}"?`,
  });
}

function topicsOf(command: string): string[] {
  const words = command.split(' ');
  return words.slice(1).map((_, index) => words.slice(0, index + 1).join(' '));
}
