import type { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';

import { StewardError } from '../errors';
import { exitAtOnce, exitOnInterrupt, exitWhenReaderLeaves, writeErr } from '../platform/terminal/stdio';
import { reportError } from '../platform/terminal/error-report';
import { EXIT_CODES } from '../platform/terminal/exit-codes';
import { loadCommand, loadOclif, type CommandGroup, type Product } from './oclif';
import { fromOclif } from './oclif-errors';
import { flagsOf, resolveCommand } from './resolve';
import { unknownCommand } from './suggest';

/**
 * Runs one command line and sets the exit code of the process. This takes the place of oclif's own
 * `execute`: its errors, its exit codes and its guesses at a misspelt command are not those of
 * decisions.md 2.
 */
export async function runCli(product: Product, argv: readonly string[]): Promise<void> {
  const report = (error: unknown): number => {
    const flags = flagsOf(argv);
    const told = reportError(error, { json: flags.includes('--json'), debug: flags.includes('--debug') });
    writeErr(told.text);
    return told.exitCode;
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
  const asked = resolveCommand(argv, Object.keys(product.ids));
  if (asked.kind === 'unknown') throw unknownCommand(asked.words, visibleCommands(product));
  if (asked.kind === 'topic' && flagsOf(argv).includes('--json')) throw incomplete(asked.words);
  const group = product.load(asked.kind === 'command' ? asked.id.split(':') : asked.words);
  const config = await loadOclif(product, group);
  if (asked.kind === 'command') {
    await runCommand(group, config, asked.id, asked.argv);
    return;
  }
  const { StewardHelp } = await import('./help');
  await new StewardHelp(config).showHelp(asked.words);
}

async function runCommand(group: CommandGroup, config: Config, id: string, argv: string[]): Promise<void> {
  const CommandToRun = await loadCommand(group.table, id);
  try {
    await new CommandToRun(argv, config).execute();
  } catch (error) {
    throw fromOclif(error, spaced(id), visibleFlags(config.findCommand(id, { must: true })));
  }
}

function incomplete(words: readonly string[]): StewardError {
  const shown = ['steward', ...words].join(' ');
  return new StewardError('usage', `"${shown}" is not a whole command.`, { hint: `See "${shown} --help".` });
}

function visibleCommands({ ids }: Product): string[] {
  return Object.keys(ids)
    .filter((id) => ids[id]?.hidden === false)
    .map(spaced);
}

function visibleFlags(command: Command.Loadable): string[] {
  return Object.entries(command.flags)
    .filter(([, flag]) => flag.hidden !== true)
    .map(([name]) => name);
}

function spaced(id: string): string {
  return id.replaceAll(':', ' ');
}
