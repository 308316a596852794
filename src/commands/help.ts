import { commands as plugin } from '@oclif/plugin-help';

import { BaseCommand, boolean, word } from '../lib/cli/base-command';
import { resolveCommand } from '../lib/cli/resolve';
import { unknownCommand } from '../lib/cli/usage-errors';

const words = { command: word({ description: 'Command or topic.' }) };

/** oclif's help command, modified so that it doesn't read an argument from stdin. */
class PluginHelp extends plugin.help {
  // Redeclared here, because oclif's parser ignores inherited `args`.
  static override args = words;
  static override flags = plugin.help.flags;
  static override strict = false;

  protected override parse(): Promise<never> {
    return super.parse(PluginHelp) as Promise<never>;
  }
}

export default class HelpOfCommand extends BaseCommand {
  static override knowsAll = true;
  static override summary = 'Show what a command does, with its flags and examples';
  static override args = words;
  static override flags = { all: boolean({ description: 'List every command.' }) };
  // Allows multi-word command names.
  static override strict = false;
  static override examples = ['help', 'help --all', 'help sense today'];
  static override related = ['completion'];

  async run(): Promise<unknown> {
    const { argv, flags: asking } = await this.parse(HelpOfCommand);
    const asked = argv.map(String);
    const visible = this.config.commands.filter(({ hidden }) => hidden !== true);
    const ids = visible.map(({ id }) => id);
    const target = resolveCommand(asked, ids);
    if (target.kind === 'unknown') throw unknownCommand(asked, visible);
    const words = target.kind === 'command' ? target.id.split(':') : target.words;
    if (!this.json) {
      const nested = asking.all ? ['--nested-commands'] : [];
      return new PluginHelp([...words, ...nested], this.config).run();
    }
    return visible
      .filter(({ id }) => words.length === 0 || `${id}:`.startsWith(`${words.join(':')}:`))
      .map(({ id, summary, flags, args }) => ({
        command: id.replaceAll(':', ' '),
        summary,
        flags: Object.keys(flags),
        args: Object.keys(args),
      }));
  }
}
