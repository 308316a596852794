import type { Command } from '@oclif/core/command';
import { Config } from '@oclif/core/config';
import type * as Interfaces from '@oclif/core/interfaces';

import { StewardError, EXIT_CODES } from '../errors';
import { exitAtOnce, exitOnInterrupt, exitWhenReaderLeaves, writeErr } from '../platform/terminal/stdio';
import { reportError } from '../platform/terminal/error-report';
import type { BaseCommand } from './base-command';
import { flagsOf, resolveCommand } from './resolve';
import { fromOclif, unknownCommand } from './usage-errors';

export interface CommandClass {
  id: string;
  flags: Record<string, { hidden?: boolean }>;
  baseFlags: Record<string, { hidden?: boolean }>;
  knowsAll: boolean;
  new (argv: string[], config: Config): BaseCommand;
}

/** Commands by id, such as `sense:today`. Each command is loaded when it runs. */
export type CommandTable = Readonly<Record<string, () => Promise<{ default: CommandClass }>>>;

export interface Manifest {
  version: string;
  commands: Record<string, Command.Cached>;
}

interface Product {
  /** The folder with package.json. */
  root: string;
  pjson: Interfaces.PJSON;
  table: CommandTable;
  manifest: () => Manifest | Promise<Manifest>;
}

/**
 * Runs a command line and sets the exit code. Replaces oclif's `execute`, whose errors, exit codes and
 * suggestions differ.
 */
export async function runCli(product: Product, argv: readonly string[]): Promise<void> {
  const report = (error: unknown): number => {
    const flags = flagsOf(argv);
    const failure = reportError(error, { json: flags.includes('--json'), debug: flags.includes('--debug') });
    writeErr(failure.text);
    return failure.exitCode;
  };
  exitWhenReaderLeaves(report);
  exitOnInterrupt(EXIT_CODES.canceled);
  try {
    await dispatch(product, argv);
  } catch (error) {
    process.exitCode = report(error);
  }
  await exitAtOnce();
}

async function dispatch(product: Product, argv: readonly string[]): Promise<void> {
  const target = resolveCommand(argv, Object.keys(product.table));
  if (target.kind === 'command') return runCommand(product, target.id, target.argv);
  const { commands } = await product.manifest();
  if (target.kind === 'unknown') throw unknownCommand(target.words, Object.values(commands));
  if (target.kind === 'topic' && flagsOf(argv).includes('--json')) throw incomplete(target.words);
  const { StewardHelp } = await import('./help');
  await new StewardHelp(await loadOclif(product, commands)).showHelp(target.words);
}

async function runCommand(product: Product, id: string, argv: string[]): Promise<void> {
  const load = product.table[id];
  if (load === undefined) throw new Error(`Command ${id} is missing from the command table.`);
  const { default: CommandToRun } = await load();
  CommandToRun.id = id;
  const config = await loadOclif(product, CommandToRun.knowsAll ? (await product.manifest()).commands : {});
  try {
    await new CommandToRun(argv, config).execute();
  } catch (error) {
    const flags = Object.entries({ ...CommandToRun.baseFlags, ...CommandToRun.flags });
    const visible = flags.filter(([, flag]) => flag.hidden !== true).map(([name]) => name);
    throw fromOclif(error, id.replaceAll(':', ' '), visible);
  }
}

/** Returns oclif's configuration with a predefined plugin, so that oclif doesn't search for plugins. */
async function loadOclif({ root, pjson, table }: Product, commands: Manifest['commands']): Promise<Config> {
  const { name, version } = pjson;
  // CommandClass extends oclif's Command, but oclif's types can't express that.
  const find = async (id: string): Promise<Command.Class> =>
    (await table[id]?.())?.default as unknown as Command.Class;
  const plugin: Interfaces.Plugin = {
    _base: '',
    alias: name,
    commandIDs: Object.keys(commands),
    commands: Object.values(commands).map((command) => ({ ...command, load: () => find(command.id) })),
    commandsDir: undefined,
    findCommand: find,
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
    version,
  };
  const plugins = new Map([[name, plugin]]);
  const config = new Config({ root, pjson, plugins, userPlugins: false, devPlugins: false });
  // Without this setting, oclif would search for a theme file.
  Reflect.set(config, 'loadTheme', () => Promise.resolve(undefined));
  await config.load();
  return config;
}

function incomplete(words: readonly string[]): StewardError {
  const topic = ['steward', ...words].join(' ');
  return new StewardError('usage', `"${topic}" needs a subcommand.`, {
    hint: `Run "${topic} --help" for its commands.`,
  });
}
