import { dirname } from 'node:path';

import { HOT, runHot } from './lib/cli/hot-path';
import { bundleLoader, type Bundles } from './lib/platform/process/code-cache';

/** The bundles of this build with the hashes of their bytes; written in by the build. */
declare const STEWARD_BUNDLES: Bundles;

const native: (id: string) => unknown = require;

/** What few runs need. */
const rest = (): typeof import('./main-rest') => native('./main-rest.js') as typeof import('./main-rest');

/**
 * The launcher of the built product: the hot path first, else the bundle that all commands share and the one of the command's group,
 * through the code cache.
 * It stays small; everything here is paid by every run.
 */
async function launch(argv: readonly string[]): Promise<void> {
  const load = bundleLoader(__dirname, STEWARD_BUNDLES, kindOf(argv), native, () => rest().keepCode);
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

const argv = process.argv.slice(2);
launch(argv).catch((error: unknown) => rest().fail(argv, error));
