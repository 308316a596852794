import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { suggest } from './suggest';

/**
 * oclif's parse errors as usage errors with a hint; anything else is returned as it is.
 *
 * @param command the command with spaces
 * @param flags its flags without dashes
 */
export function fromOclif(error: unknown, command: string, flags: readonly string[]): unknown {
  if (!isOclifError(error)) return error;
  const help = `See "steward ${command} --help".`;
  const unknown = error.flags?.[0];
  if (unknown !== undefined && error.message.startsWith('Nonexistent flag')) {
    const meant = suggest(unknown, ['--help', ...flags.map((flag) => `--${flag}`)]);
    return new StewardError('usage', `There is no flag ${unknown} for "steward ${command}".`, {
      hint: meant === undefined ? help : `Did you mean "${meant}"? ${help}`,
      cause: error,
    });
  }
  return new StewardError('usage', sentence(inOurWords(error, command)), { hint: help, cause: error });
}

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
  return said
    .replace(/^Expected (--[^\s=]+)=(.*) to be one of: (.*)$/, '$1 must be one of $3, not "$2"')
    .replace(/^Expected (.*) to be one of: (.*)$/, 'One of $2 is wanted, not "$1"')
    .replace(
      /^Parsing (--\S+) Expected an integer but received: (.*)$/,
      '$1 must be a whole number, not "$2"',
    )
    .replace(/^Parsing (--\S+) /, '$1: ')
    .replace(/^(--[\w-]+)=\S+ cannot also be provided when using (--[\w-]+)/, '$1 does not go with $2')
    .replace(/^Missing required flag (.*)$/, '--$1 is missing');
}

interface OclifError extends Error {
  oclif: unknown;
  flags?: string[];
  args?: (string | { name?: string })[];
}

function isOclifError(error: unknown): error is OclifError {
  return error instanceof Error && 'oclif' in error;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
