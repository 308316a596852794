import { dirname } from 'node:path';

import { HOT, runHot } from './lib/cli/hot-path';
import { bundleLoader, type Bundles } from './lib/platform/code-cache';

/** The bundles of this build with the hashes of their bytes; written in by the build. */
declare const STEWARD_BUNDLES: Bundles;

/**
 * The launcher of the built product: the hot path first, else the big bundle through the code cache.
 * It stays small; everything here is paid by every run.
 */
async function launch(argv: readonly string[]): Promise<void> {
  const load = bundleLoader(__dirname, STEWARD_BUNDLES, kindOf(argv), require);
  const answered = await runHot(argv, HOT, load);
  if (answered !== undefined) {
    process.exitCode = answered;
    return;
  }
  const cli = load('./cli.js') as typeof import('./cli-built');
  await cli.start(argv, dirname(__dirname));
}

/** Runs of one command with the same kind of output call about the same functions. */
function kindOf(argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-')).slice(0, 2);
  return [...words, ...argv.filter((word) => word === '--help' || word === '--json')].join(' ');
}

void launch(process.argv.slice(2));
