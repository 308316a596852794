import { allKeys } from '../../lib/config/files';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { COMPLETION_SCRIPTS, SHELLS, completionPlaces, type Shell } from '../../lib/shell/completion';
import { installCompletion, ownShell, type CompletionInstall } from '../../lib/shell/completion-install';
import { StewardError } from '../../lib/errors';

export default class AutocompleteInstall extends BaseCommand {
  static override knowsAll = true;
  static override summary = 'Install shell completion';
  static override description =
    'Writes a script to the shell\'s completion folder. Reinstall after updating steward. "steward uninstall" removes the script.';
  static override args = {
    shell: word({ description: 'Shell (default: your login shell).', options: [...SHELLS] }),
  };
  static override examples = [
    '<%= config.bin %> autocomplete install',
    '<%= config.bin %> autocomplete install fish',
  ];
  static override related = ['autocomplete', 'autocomplete script SHELL', 'uninstall'];

  async run(): Promise<CompletionInstall> {
    const { args } = await this.parse(AutocompleteInstall);
    const shell = (args.shell as Shell | undefined) ?? ownShell();
    if (shell === undefined) {
      throw new StewardError('usage', 'steward has no completion for your shell ($SHELL).', {
        hint: `Use a supported shell: ${SHELLS.join(', ')}.`,
      });
    }
    const script = COMPLETION_SCRIPTS[shell](
      completionPlaces(this.config.commands, this.config.topics, allKeys()),
    );
    const result = await installCompletion(this.context, shell, script);
    this.print(() =>
      [
        `${result.changed ? 'Wrote' : 'Up to date:'} ${result.path}`,
        ...(result.note === null ? ['Open a new shell to use completion.'] : [result.note]),
      ].join('\n'),
    );
    return result;
  }
}
