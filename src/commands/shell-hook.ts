import { BaseCommand, word } from '../lib/cli/base-command';
import { HOOK_SHELLS, shellHook, type HookShell, type ShellHook } from '../lib/shell/hook';

export default class ShellHookCommand extends BaseCommand {
  static override summary = 'Print what makes your shell announce commands that took long.';
  static override description =
    'When a command took longer than notifications.thresholds.longTaskMinutes, its end is announced by `notify send`, in the background, with the name of the program and nothing else of the command. One that failed is announced as an error, with its exit code. Programs that you sit before (editors, pagers, ssh) are left out, and so is what you end with Ctrl-C. STEWARD_LONG_COMMAND_SEC sets another time for a shell, STEWARD_LONG_COMMAND_IGNORE names further programs. Short commands start no process.';
  static override args = {
    shell: word({
      description: 'The shell.',
      options: [...HOOK_SHELLS],
      required: true,
    }),
  };
  static override examples = [
    { description: 'At the end of ~/.bashrc', command: 'eval "$(<%= config.bin %> shell-hook bash)"' },
    { description: 'In ~/.config/fish/config.fish', command: '<%= config.bin %> shell-hook fish | source' },
  ];
  static override related = ['notify routes', 'autocomplete', 'doctor'];

  async run(): Promise<ShellHook> {
    const { args } = await this.parse(ShellHookCommand);
    const { config } = await this.context.loadConfig();
    const longSec = config.settings.notifications.thresholds.longTaskMinutes * 60;
    const hook = shellHook(this.config.root, args.shell as HookShell, longSec);
    this.printUnfolded(() => hook.script);
    return hook;
  }
}
