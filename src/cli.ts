import type * as Interfaces from '@oclif/core/interfaces';

import pjson from '../package.json';
import { COMMANDS } from './command-table';
import type { Manifest, Product } from './lib/cli/oclif';
import { runCli } from './lib/cli/run';

/** The product with its commands; `root` is the folder of package.json. */
export function product(root: string): Product {
  return { root, pjson: pjson as unknown as Interfaces.PJSON, table: COMMANDS };
}

/** Runs a command line with a manifest at hand (the build embeds it) or one made now from the sources. */
export async function main(
  argv: readonly string[],
  root: string,
  manifest: (product: Product) => Manifest | Promise<Manifest>,
): Promise<void> {
  const own = product(root);
  await runCli(own, await manifest(own), argv);
}
