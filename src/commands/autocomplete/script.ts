import { allKeys } from '../../lib/config/files';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { COMPLETION_SCRIPTS, SHELLS, completionPlaces, type Shell } from '../../lib/shell/completion';

export default class AutocompleteScript extends BaseCommand {
  static override knowsAll = true;
  static override summary = 'Print the completion script for a shell';
  static override args = {
    shell: word({ description: 'Shell.', options: [...SHELLS], required: true }),
  };
  static override examples = [
    {
      description: 'Enable completion in the current shell only',
      command: 'source <(<%= config.bin %> autocomplete script bash)',
    },
    '<%= config.bin %> autocomplete script fish > ~/.config/fish/completions/steward.fish',
  ];
  static override related = ['autocomplete'];

  async run(): Promise<{ shell: Shell; script: string }> {
    const { args } = await this.parse(AutocompleteScript);
    const shell = args.shell as Shell;
    const script = COMPLETION_SCRIPTS[shell](
      completionPlaces(this.config.commands, this.config.topics, allKeys()),
    );
    this.printUnfolded(() => script);
    return { shell, script };
  }
}
