import type { Command } from '@oclif/core/command';
import { Config } from '@oclif/core/config';
import type * as Interfaces from '@oclif/core/interfaces';

import type { BaseCommand } from './base-command';

/** A command class as the edge runs it. */
export interface CommandClass {
  id: string;
  new (argv: string[], config: Config): BaseCommand;
}

/** Every command by its id with colons; only the one that runs is loaded. */
export type CommandTable = Readonly<Record<string, () => Promise<{ default: CommandClass }>>>;

export interface Manifest {
  version: string;
  commands: Record<string, Command.Cached>;
}

/** Some commands, with what help, completion and the parser need to know of them. */
export interface CommandGroup {
  table: CommandTable;
  commands: Manifest['commands'];
}

export interface Product {
  /** The folder of package.json. */
  root: string;
  pjson: Interfaces.PJSON;
  /** The ids of all commands, and whether help leaves each out. */
  ids: Readonly<Record<string, { hidden: boolean }>>;
  /** The group that holds the command or topic of these words; the one of the root's help where there are none. */
  load: (words: readonly string[]) => CommandGroup;
}

/** oclif's configuration, without its search of folders: one plugin, which is a plain object. */
export async function loadOclif(product: Product, group: CommandGroup): Promise<Config> {
  const { root, pjson } = product;
  const { table, commands } = group;
  const name = pjson.name;
  const plugin: Interfaces.Plugin = {
    _base: '',
    alias: name,
    commandIDs: Object.keys(commands),
    commands: Object.values(commands).map((command) => ({
      ...command,
      load: () => loadForOclif(table, command.id),
    })),
    commandsDir: undefined,
    findCommand: (id: string) => loadForOclif(table, id),
    hasManifest: true,
    hooks: {},
    isRoot: true,
    load: () => Promise.resolve(),
    moduleType: 'commonjs',
    name,
    options: { root },
    pjson,
    root,
    topics: Object.entries(pjson.oclif.topics ?? {}).map(([topic, facts]) => ({ ...facts, name: topic })),
    type: 'core',
    valid: true,
    version: pjson.version,
  };
  const config = new Config({
    root,
    pjson,
    plugins: new Map([[name, plugin]]),
    userPlugins: false,
    devPlugins: false,
  });
  // oclif would look for a theme.json of the user's, which steward does not have.
  Reflect.set(config, 'loadTheme', () => Promise.resolve(undefined));
  await config.load();
  return config;
}

/** Loads one command of the table. */
export async function loadCommand(table: CommandTable, id: string): Promise<CommandClass> {
  const load = table[id];
  if (load === undefined) throw new Error(`The manifest names ${id}, which is not in the command table.`);
  const { default: command } = await load();
  command.id = id;
  return command;
}

/** As oclif's plugin interface wants it; a class of ours is a subclass of its Command. */
async function loadForOclif(table: CommandTable, id: string): Promise<Command.Class> {
  return (await loadCommand(table, id)) as unknown as Command.Class;
}
