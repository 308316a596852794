import type * as Interfaces from '@oclif/core/interfaces';
import { join } from 'node:path';

import pjson from '../package.json';
import { COMMANDS } from './command-table';
import { runCli, type Manifest } from './lib/cli/run';
import { readText } from './lib/platform/files/atomic-file';

/** Runs the commands that hot.ts doesn't handle. `root` is the folder with package.json. */
export function start(argv: readonly string[], root: string): Promise<void> {
  const manifest = (): Manifest => JSON.parse(readText(join(root, 'oclif.manifest.json')) ?? '') as Manifest;
  return runCli({ root, pjson: pjson as unknown as Interfaces.PJSON, table: COMMANDS, manifest }, argv);
}
