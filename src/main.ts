import { dirname } from 'node:path';

import { EXIT_CODES } from './lib/cli/exit-codes';
import { HOT, runHot } from './lib/cli/hot-path';
import { errorBody, toStewardError } from './lib/errors';
import { bundleLoader, type Bundles } from './lib/platform/code-cache';
import { clean } from './lib/platform/terminal';

/** The bundles of this build with the hashes of their bytes; written in by the build. */
declare const STEWARD_BUNDLES: Bundles;

/**
 * The launcher of the built product: the hot path first, else the bundle that all commands share and the one of the command's group,
 * through the code cache.
 * It stays small; everything here is paid by every run.
 */
async function launch(argv: readonly string[]): Promise<void> {
  const load = bundleLoader(__dirname, STEWARD_BUNDLES, kindOf(argv), require);
  const answered = await runHot(argv, HOT, load);
  if (typeof answered === 'number') {
    process.exitCode = answered;
    return;
  }
  const cli = load('./cli.js') as typeof import('./cli-built');
  await cli.start(answered, dirname(__dirname), load);
}

/** Runs of one command with the same kind of output call about the same functions. */
function kindOf(argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-')).slice(0, 2);
  return [...words, ...argv.filter((word) => word === '--help' || word === '--json')].join(' ');
}

/**
 * What nothing else has caught, in a line and never as a dump. Under `hook` it is not even said: an exit code would
 * block the assistant.
 */
function fail(argv: readonly string[], error: unknown): void {
  if (argv[0] === 'hook' && !argv.includes('--strict')) {
    process.exitCode = 0;
    return;
  }
  const { kind, message, hint } = toStewardError(error);
  const lines = argv.includes('--json')
    ? [JSON.stringify(errorBody(error))]
    : [message, ...(hint === undefined ? [] : [hint])].map(clean);
  process.stderr.write(`${lines.join('\n')}\n`);
  process.exitCode = EXIT_CODES[kind];
}

const argv = process.argv.slice(2);
launch(argv).catch((error: unknown) => fail(argv, error));
