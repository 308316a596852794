import { StewardError, errorBody, toStewardError } from '../errors';
import { clean } from '../platform/terminal';
import { EXIT_CODES } from './exit-codes';
import { toJson } from './json';
import { suggest } from './suggest';

export interface ErrorReport {
  exitCode: number;
  /** What goes to stderr, newline at the end. */
  text: string;
}

export interface ReportOptions {
  json: boolean;
  debug: boolean;
}

/** An error as a person reads it (a line that says what is, a line what to do) or as the JSON shape. */
export function reportError(error: unknown, options: ReportOptions): ErrorReport {
  const known = toStewardError(error);
  const exitCode = EXIT_CODES[known.kind];
  if (options.json) {
    return { exitCode, text: toJson(errorBody(known)) };
  }
  const lines = [known.message, ...(known.hint === undefined ? [] : [known.hint])];
  if (options.debug) lines.push(stackOf(known));
  else if (known.kind === 'internal')
    lines.push('This is a fault in steward. Run it again with --debug and report what it prints.');
  return {
    exitCode,
    text: `${lines
      .flatMap((text) => text.split('\n'))
      .map(clean)
      .join('\n')}\n`,
  };
}

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
  const message = clean(error.message.replace(/\n?See more help with --help\s*$/, '')).replace(/ {2,}/g, ' ');
  return new StewardError('usage', sentence(message), { hint: help, cause: error });
}

interface OclifError extends Error {
  oclif: unknown;
  flags?: string[];
}

function isOclifError(error: unknown): error is OclifError {
  return error instanceof Error && 'oclif' in error;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function stackOf(error: Error): string {
  const own = error.stack ?? String(error);
  return error.cause instanceof Error ? `${own}\nCaused by: ${stackOf(error.cause)}` : own;
}
