import type * as Interfaces from '@oclif/core/interfaces';

import pjson from '../package.json';
import { COMMANDS } from './command-table';
import { buildManifest } from './lib/cli/manifest';
import type { Manifest } from './lib/cli/oclif';

/** package.json as oclif reads it. */
export const PACKAGE = pjson as unknown as Interfaces.PJSON;

/** The manifest of the sources as they are now; `root` is the folder of package.json. */
export function sourceManifest(root: string): Promise<Manifest> {
  return buildManifest({ root, pjson: PACKAGE }, COMMANDS);
}
