import { uninstallHooks, type UninstallResult } from '../../lib/assistant/uninstall';
import { uninstallText } from '../../lib/assistant/install-view';
import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openHooks } from '../../lib/app/hooks';

export default class HooksUninstall extends BaseCommand {
  static override summary = "Remove steward's hooks from your AI assistant's settings";
  static override description =
    'Removes exactly what was added, even if you edited the file since, and restores your status line. Recorded sessions stay.';
  static override flags = {
    assistant: text({
      description: 'The assistant.',
      default: 'claude-code',
      options: ['claude-code'],
    }),
    'dry-run': boolean({ description: 'Show what would be removed, without removing it.' }),
  };
  static override examples = [
    '<%= config.bin %> hooks uninstall --dry-run',
    '<%= config.bin %> hooks uninstall',
  ];
  static override related = ['hooks status', 'hooks install'];

  async run(): Promise<UninstallResult> {
    const { flags } = await this.parse(HooksUninstall);
    const { deps, assistant } = openHooks(this.context, flags.assistant);
    const result = await uninstallHooks(deps, { assistant, dryRun: flags['dry-run'] === true });
    return this.show(result, () => uninstallText(result));
  }
}
