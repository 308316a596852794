import { Plugin } from '@oclif/core/config';

import type { CommandClass, CommandTable, Manifest, Product } from './oclif';

/**
 * What help, completion and the parser need to know of all commands, made by loading each of them: for
 * the build and for runs from source. The same sources give the same bytes.
 */
export async function buildManifest(
  product: Pick<Product, 'root' | 'pjson'>,
  table: CommandTable,
): Promise<Manifest> {
  const plugin = new Plugin({
    root: product.root,
    pjson: product.pjson,
    isRoot: true,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  });
  const classes: Record<string, CommandClass> = {};
  for (const [id, load] of Object.entries(table)) classes[id] = (await load()).default;
  // What the plugin would otherwise read from a file that package.json names.
  Reflect.set(plugin, 'commandCache', classes);
  await plugin.load();
  const ids = Object.keys(plugin.manifest.commands).sort();
  const commands = Object.fromEntries(ids.map((id) => [id, plugin.manifest.commands[id]]));
  return JSON.parse(JSON.stringify({ version: plugin.version, commands })) as Manifest;
}

/** The ids of a manifest, as the product lists them. */
export function idsOf({ commands }: Pick<Manifest, 'commands'>): Product['ids'] {
  return Object.fromEntries(
    Object.values(commands).map(({ id, hidden }) => [id, { hidden: hidden === true }]),
  );
}
