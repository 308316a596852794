import { uninstallAllHooks, type HooksUninstalled } from '../../lib/assistant/uninstall';
import { uninstallText } from '../../lib/assistant/install-view';
import { throwAll } from '../../lib/errors';
import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { ASSISTANT_IDS } from '../../lib/sessions/session-key';
import { openRegistered } from '../../lib/app/hooks';

export default class HooksUninstall extends BaseCommand {
  static override summary = "Remove steward's hooks from your AI assistants' settings";
  static override description =
    "Removes only steward's entries, even if you edited the file, and restores your status line. Does not delete recorded sessions.";
  static override flags = {
    assistant: text({
      description: `One or more of ${ASSISTANT_IDS.join(', ')} (default: all).`,
      helpValue: 'NAMES',
    }),
    'dry-run': boolean({ description: 'Only show what would be removed.' }),
  };
  static override examples = [
    '<%= config.bin %> hooks uninstall --dry-run',
    '<%= config.bin %> hooks uninstall',
  ];
  static override related = ['hooks status', 'hooks install'];

  async run(): Promise<HooksUninstalled> {
    const { flags } = await this.parse(HooksUninstall);
    const { deps, assistants } = openRegistered(this.context, flags.assistant);
    const dryRun = flags['dry-run'] === true;
    const { result, failures } = await uninstallAllHooks(deps, { assistants, dryRun });
    const text = uninstallText(result);
    if (failures.length === 0) this.print(() => text ?? 'No steward hooks installed');
    else if (text !== undefined) this.print(() => text);
    throwAll(failures);
    return result;
  }
}
