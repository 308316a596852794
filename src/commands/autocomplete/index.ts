import { BaseCommand, word } from '../../lib/cli/base-command';
import { COMPLETION_SWITCH, SHELLS, type Shell } from '../../lib/shell/completion';

export default class Autocomplete extends BaseCommand {
  static override summary = 'Show how to enable completion in bash, zsh or fish';
  static override args = {
    shell: word({ description: 'Show instructions for this shell only.', options: [...SHELLS] }),
  };
  static override examples = ['<%= config.bin %> autocomplete', '<%= config.bin %> autocomplete fish'];
  static override related = ['autocomplete install', 'autocomplete script SHELL'];

  async run(): Promise<{ shell: Shell; command: string }[]> {
    const { args } = await this.parse(Autocomplete);
    const steps = SHELLS.filter((shell) => args.shell === undefined || shell === args.shell).map((shell) => ({
      shell,
      command: COMPLETION_SWITCH[shell],
    }));
    this.print(() =>
      [
        'Run the command for your shell, then open a new shell. Repeat after updating steward.',
        '',
        ...steps.map(({ shell, command }) => `  ${shell.padEnd(5)} ${command}`),
      ].join('\n'),
    );
    return steps;
  }
}
