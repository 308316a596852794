import { dirname } from 'node:path';

import { main } from './cli';
import { runHot } from './lib/cli/hot-path';
import { buildManifest } from './lib/cli/manifest';

/** A run from source: the manifest is made now, so that a new command is there at once. */
export async function startFromSource(argv: readonly string[]): Promise<void> {
  const answered = await runHot(argv);
  if (answered === undefined) await main(argv, dirname(__dirname), buildManifest);
  else process.exitCode = answered;
}
