import { allKeys } from '../../lib/config/files';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { SHELLS, completionPlaces, completionScript, type Shell } from '../../lib/shell/completion';
import { ownShellOrThrow } from '../../lib/shell/completion-install';

export default class Completion extends BaseCommand {
  static override knowsAll = true;
  static override summary = 'Print the completion script for bash, zsh or fish';
  static override description =
    'To install the script in its folder, run "steward install completion". Install it again after updating steward.';
  static override args = {
    shell: word({ description: 'Shell (default: your login shell).', options: [...SHELLS] }),
  };
  static override examples = [
    {
      description: 'Enable completion in the current shell only',
      command: 'source <(<%= config.bin %> completion bash)',
    },
    'completion fish > ~/.config/fish/completions/steward.fish',
  ];
  static override related = ['install completion', 'shell-hook SHELL'];

  async run(): Promise<{ shell: Shell; script: string }> {
    const { args } = await this.parse(Completion);
    const shell = (args.shell as Shell | undefined) ?? ownShellOrThrow();
    const places = completionPlaces(this.config.commands, this.config.topics, allKeys());
    const script = completionScript(this.config.root, shell, places);
    this.printUnfolded(() => script);
    return { shell, script };
  }
}
