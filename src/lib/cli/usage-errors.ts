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

/** Whether two neighbouring letters changed places; to the distance those are two faults. */
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

function topicsOf(command: string): string[] {
  const words = command.split(' ');
  return words.slice(1).map((_, index) => words.slice(0, index + 1).join(' '));
}

/** The error of words that are no command. */
export function unknownCommand(
  words: readonly string[],
  commands: readonly { id: string; hidden?: boolean }[],
): StewardError {
  const visible = commands.filter(({ hidden }) => hidden !== true).map(({ id }) => id.replaceAll(':', ' '));
  const shown = words.map(clean).join(' ');
  const meant = suggestCommand(words, visible);
  const what = shown.startsWith('-') ? `flag ${shown}` : `command "steward ${shown}"`;
  return new StewardError('usage', `There is no ${what}.`, {
    hint: meant === undefined ? 'See "steward --help" for all commands.' : `Did you mean "steward ${meant}"?`,
  });
}

/**
 * oclif's parse errors as usage errors with a hint; anything else is returned as it is.
 *
 * @param command the command with spaces
 * @param flags its flags without dashes
 */
export function fromOclif(error: unknown, command: string, flags: readonly string[]): unknown {
  if (!(error instanceof Error && 'oclif' in error)) return error;
  const failed: OclifError = error;
  const help = `See "steward ${command} --help".`;
  const unknown = failed.flags?.[0];
  if (unknown === undefined || !failed.message.startsWith('Nonexistent flag'))
    return new StewardError('usage', sentence(inOurWords(failed, command)), { hint: help, cause: error });
  const meant = suggest(unknown, ['--help', ...flags.map((flag) => `--${flag}`)]);
  return new StewardError('usage', `There is no flag ${unknown} for "steward ${command}".`, {
    hint: meant === undefined ? help : `Did you mean "${meant}"? ${help}`,
    cause: error,
  });
}

interface OclifError extends Error {
  flags?: string[];
  args?: (string | { name?: string })[];
}

const REWORDED: readonly [pattern: RegExp, words: string][] = [
  [/^Expected (--[^\s=]+)=(.*) to be one of: (.*)$/, '$1 must be one of $3, not "$2"'],
  [/^Expected (.*) to be one of: (.*)$/, 'One of $2 is wanted, not "$1"'],
  [/^Parsing (--\S+) Expected an integer but received: (.*)$/, '$1 must be a whole number, not "$2"'],
  [/^Parsing (--\S+) /, '$1: '],
  [/^(--[\w-]+)=\S+ cannot also be provided when using (--[\w-]+)/, '$1 does not go with $2'],
  [/^Missing required flag (.*)$/, '--$1 is missing'],
];

/** What oclif's parser says, as steward says such things: what is wrong with which word of the command line. */
function inOurWords({ message, args }: OclifError, command: string): string {
  const said = clean(message.replace(/\n?See more help with --help\s*$/, ''))
    .replace(/ {2,}/g, ' ')
    .replace(/^The following errors? occurred: ?/, '');
  const names = (args ?? []).map((arg) =>
    typeof arg === 'string' ? `"${clean(arg)}"` : (arg.name ?? '').toUpperCase(),
  );
  if (said.startsWith('Missing') && names.length > 0)
    return `"steward ${command}" needs ${names.join(' and ')}`;
  if (said.startsWith('Unexpected argument')) return `"steward ${command}" does not take ${names.join(', ')}`;
  return REWORDED.reduce((text, [pattern, words]) => text.replace(pattern, words), said);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
