import { distance } from 'fastest-levenshtein';

import { otherNames } from '../../../templates/data/command-names.json';
import { StewardError } from '../errors';
import { sentence } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';

/** Returns the candidate that needs the fewest edits, or undefined if no candidate is close. */
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

/** Returns whether the words differ only by two swapped letters, which would otherwise count as two edits. */
function swapsTwo(typed: string, candidate: string): boolean {
  if (typed.length !== candidate.length) return false;
  let at = 0;
  while (at < typed.length && typed[at] === candidate[at]) at += 1;
  return `${typed.slice(0, at)}${typed[at + 1]}${typed[at]}${typed.slice(at + 2)}` === candidate;
}

/**
 * Returns the command that ends with these words, or the command or topic with the closest spelling.
 * @param commands command names with spaces, such as `sense capture`
 */
export function suggestCommand(words: readonly string[], commands: readonly string[]): string | undefined {
  const other = OTHER_NAMES.get(words.join(' ')) ?? OTHER_NAMES.get(words[0] ?? '');
  if (other !== undefined) return other;
  const known = [...new Set([...commands, ...commands.flatMap(topicsOf)])];
  for (let length = words.length; length > 0; length -= 1) {
    const typed = words.slice(0, length).join(' ');
    const inner = words.slice(1, length).join(' ');
    const found =
      commands.find((command) => command === inner) ??
      commands.find((command) => command.endsWith(` ${typed}`)) ??
      suggest(
        typed,
        known.filter((command) => command.split(' ').length === length),
      );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What other programs call a command. */
export const OTHER_NAMES: ReadonlyMap<string, string> = new Map(Object.entries(otherNames));

function topicsOf(command: string): string[] {
  const words = command.split(' ');
  return words.slice(1).map((_, index) => words.slice(0, index + 1).join(' '));
}

export function unknownCommand(
  words: readonly string[],
  commands: readonly { id: string; hidden?: boolean }[],
): StewardError {
  const visible = commands.filter(({ hidden }) => hidden !== true).map(({ id }) => id.replaceAll(':', ' '));
  const shown = words.map(clean).join(' ');
  const meant = suggestCommand(words, visible);
  const what = shown.startsWith('-') ? `flag ${shown}` : `command "steward ${shown}"`;
  return new StewardError('usage', `Unknown ${what}.`, {
    hint:
      meant === undefined
        ? 'Run "steward --help" for a list of commands.'
        : `Did you mean "steward ${meant}"?`,
  });
}

/**
 * Converts oclif's parse errors to usage errors with a hint. Returns other errors unchanged.
 * @param flags the command's flags, without dashes
 */
export function fromOclif(error: unknown, command: string, flags: readonly string[]): unknown {
  if (!(error instanceof Error && 'oclif' in error)) return error;
  const failed: OclifError = error;
  const help = `See "steward ${command} --help".`;
  const unknown = failed.flags?.[0];
  if (unknown === undefined || !failed.message.startsWith('Nonexistent flag'))
    return new StewardError('usage', sentence(reworded(failed, command)), { hint: help, cause: error });
  const known = ['--help', ...flags.map((flag) => `--${flag}`)];
  const meant =
    suggest(unknown, known) ?? known.find((flag) => OTHER_WORDS[flag]?.split(' ').includes(unknown));
  return new StewardError('usage', `Unknown flag ${unknown} for "steward ${command}".`, {
    hint: meant === undefined ? help : `Did you mean "${meant}"? ${help}`,
    cause: error,
  });
}

/** Words that other programs use for a flag. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  '--of': '--since --until --from --to --day --days --before --after --date --period',
  '--limit': '--count --lines --last --max',
  '--dry-run': '--preview --plan',
};

interface OclifError extends Error {
  flags?: string[];
  args?: (string | { name?: string })[];
}

const REWORDED: readonly [pattern: RegExp, words: string][] = [
  [/^Expected (--[^\s=]+)=(.*) to be one of: (.*)$/, 'Invalid $1 "$2". Use one of $3'],
  [/^Expected (.*) to be one of: (.*)$/, 'Invalid value "$1". Use one of $2'],
  [/^Parsing (--\S+) Expected an integer but received: (.*)$/, 'Invalid $1 "$2". Use a whole number'],
  [/^Parsing (--\S+) /, '$1: '],
  [/^(--[\w-]+)=.* cannot also be provided when using (--[\w-]+)/, '$1 cannot be combined with $2'],
  [/^All of the following must be provided when using (--[\w-]+): (.*)$/, '$1 needs $2'],
  [/^Missing required flag (.*)$/, '--$1 is missing'],
];

function reworded({ message, args }: OclifError, command: string): string {
  const plain = clean(message.replace(/\n?See more help with --help\s*$/, ''))
    .replace(/ {2,}/g, ' ')
    .replace(/^The following errors? occurred: ?/, '');
  const names = (args ?? []).map((arg) =>
    typeof arg === 'string' ? `"${clean(arg)}"` : (arg.name ?? '').toUpperCase(),
  );
  if (plain.startsWith('Missing') && names.length > 0)
    return `"steward ${command}" needs ${names.join(' and ')}`;
  if (plain.startsWith('Unexpected argument'))
    return `"steward ${command}" does not take ${names.join(', ')}`;
  return REWORDED.reduce((text, [pattern, words]) => text.replace(pattern, words), plain);
}
