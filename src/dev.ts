import { dirname } from 'node:path';

import { PACKAGE, sourceManifest } from './cli';
import { COMMANDS } from './command-table';
import { runHot } from './lib/cli/hot-path';
import { idsOf } from './lib/cli/manifest';
import { runCli } from './lib/cli/run';

/** A run from source: the manifest is made now, so that a new command is there at once. */
export async function startFromSource(argv: readonly string[]): Promise<void> {
  const answered = await runHot(argv);
  if (typeof answered === 'number') {
    process.exitCode = answered;
    return;
  }
  const root = dirname(__dirname);
  const manifest = await sourceManifest(root);
  const group = { table: COMMANDS, commands: manifest.commands };
  await runCli({ root, pjson: PACKAGE, ids: idsOf(manifest), load: () => group }, answered);
}
