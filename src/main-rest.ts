import { EXIT_CODES } from './lib/platform/terminal/exit-codes';
import { errorBody, toStewardError } from './lib/errors';
import { writeErr } from './lib/platform/terminal/stdio';
import { clean } from './lib/platform/terminal/terminal';

export { keepCode } from './lib/platform/process/code-cache-keep';

/**
 * What nothing else has caught, in a line and never as a dump. Under `hook` it is not even said: an exit code would
 * block the assistant.
 */
export function fail(argv: readonly string[], error: unknown): void {
  if (argv[0] === 'hook' && !argv.includes('--strict')) {
    process.exitCode = 0;
    return;
  }
  const { kind, message, hint } = toStewardError(error);
  const lines = argv.includes('--json')
    ? [JSON.stringify(errorBody(error))]
    : [message, ...(hint === undefined ? [] : [hint])].map(clean);
  writeErr(`${lines.join('\n')}\n`);
  process.exitCode = EXIT_CODES[kind];
}
