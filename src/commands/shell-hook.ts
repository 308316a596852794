import { BaseCommand, word } from '../lib/cli/base-command';
import { SHELLS, type Shell } from '../lib/shell/completion';
import { shellHook, type ShellHook } from '../lib/shell/hook';

export default class ShellHookCommand extends BaseCommand {
  static override summary = 'Print the shell snippet that notifies you about long-running commands';
  static override description =
    "Notifies you when a command finishes after running longer than notifications.thresholds.longTaskMinutes. Sends only the program's name. Skips interactive programs (editors, pagers, ssh) and commands stopped by Ctrl-C. STEWARD_LONG_COMMAND_SEC overrides the threshold in a shell; STEWARD_LONG_COMMAND_IGNORE skips more programs.";
  static override args = {
    shell: word({
      description: 'Shell.',
      options: [...SHELLS],
      required: true,
    }),
  };
  static override examples = [
    { description: 'Add to the end of ~/.bashrc', command: 'eval "$(<%= config.bin %> shell-hook bash)"' },
    {
      description: 'Add to ~/.config/fish/config.fish',
      command: 'shell-hook fish | source',
    },
  ];
  static override related = ['notify routes', 'completion', 'doctor'];

  async run(): Promise<ShellHook> {
    const { args } = await this.parse(ShellHookCommand);
    const { config } = await this.context.loadConfig();
    const longSec = config.settings.notifications.thresholds.longTaskMinutes * 60;
    const hook = shellHook(this.config.root, args.shell as Shell, longSec);
    this.printUnfolded(() => hook.script);
    return hook;
  }
}
