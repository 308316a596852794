import { uninstallHooks, type UninstallResult } from '../../lib/assistant/uninstall';
import { uninstallText } from '../../lib/assistant/install-view';
import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openHooks } from '../../lib/app/hooks';

export default class HooksUninstall extends BaseCommand {
  static override summary = "Take steward's hooks out of your AI assistant's settings.";
  static override description =
    'Exactly what was added is removed, also when the file was edited since. What sessions have stored stays.';
  static override flags = {
    assistant: text({
      description: 'The assistant.',
      default: 'claude-code',
      options: ['claude-code'],
    }),
    'dry-run': boolean({ description: 'Say what would be removed, and remove nothing.' }),
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
