import { errorBody, toStewardError } from '../../errors';
import { cleanLines } from './terminal';
import { EXIT_CODES } from './exit-codes';
import { toJson } from './json';

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
    text: `${lines.map(cleanLines).join('\n')}\n`,
  };
}

function stackOf(error: Error): string {
  const own = error.stack ?? String(error);
  return error.cause instanceof Error ? `${own}\nCaused by: ${stackOf(error.cause)}` : own;
}
