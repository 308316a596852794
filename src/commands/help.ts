import { string } from '@oclif/core/args';

import { BaseCommand } from '../lib/cli/base-command';
import { resolveCommand } from '../lib/cli/resolve';
import { unknownCommand } from '../lib/cli/suggest';

export default class HelpOfCommand extends BaseCommand {
  static override summary = 'Show what a command does, with its flags and examples.';
  static override args = {
    command: string({ description: 'Words of the command or topic.', ignoreStdin: true }),
  };
  // A command has several words.
  static override strict = false;
  static override examples = ['<%= config.bin %> help', '<%= config.bin %> help sense version'];
  static override related = ['autocomplete'];

  async run(): Promise<unknown> {
    const { argv } = await this.parse(HelpOfCommand);
    const words = argv.map(String);
    const commands = this.config.commands.filter(({ hidden }) => hidden !== true).map(({ id }) => id);
    if (resolveCommand(words, commands).kind === 'unknown') {
      throw unknownCommand(
        words,
        commands.map((id) => id.replaceAll(':', ' ')),
      );
    }
    if (this.json) return this.describe(words);
    const { StewardHelp } = await import('../lib/cli/help');
    await new StewardHelp(this.config).showHelp(words);
    return undefined;
  }

  private describe(words: readonly string[]): unknown {
    const start = words.join(':');
    return this.config.commands
      .filter(({ id, hidden }) => hidden !== true && `${id}:`.startsWith(start === '' ? '' : `${start}:`))
      .map(({ id, summary, flags, args }) => ({
        command: id.replaceAll(':', ' '),
        summary,
        flags: Object.keys(flags),
        args: Object.keys(args),
      }));
  }
}
