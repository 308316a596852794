import { installHooks, type InstallResult } from '../../lib/assistant/install';
import { installText } from '../../lib/assistant/install-view';
import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { askForSkill, openHooks } from '../../lib/app/hooks';

export default class HooksInstall extends BaseCommand {
  static override summary = "Register steward's hooks with your AI assistant";
  static override description =
    "Adds an entry for each event to the assistant's settings.json (in $CLAUDE_CONFIG_DIR or ~/.claude) and keeps a backup beside it. The rest of the file does not change, and neither does a second install.";
  static override flags = {
    assistant: text({
      description: 'The assistant.',
      default: 'claude-code',
      options: ['claude-code'],
    }),
    skill: boolean({
      description: 'Also install the work skill: four workflows for your issues. The default is to ask.',
      allowNo: true,
    }),
    statusline: boolean({
      description: "Also register steward's status line, below the one you have.",
    }),
    'dry-run': boolean({ description: 'Show what would be written, without writing it.' }),
  };
  static override examples = [
    '<%= config.bin %> hooks install --dry-run',
    '<%= config.bin %> hooks install --skill',
    '<%= config.bin %> hooks install --statusline',
  ];
  static override related = ['hooks status', 'hooks uninstall'];

  async run(): Promise<InstallResult> {
    const { flags } = await this.parse(HooksInstall);
    const { deps, assistant } = openHooks(this.context, flags.assistant);
    const dryRun = flags['dry-run'] === true;
    const skill = flags.skill ?? (!dryRun && !this.json && (await askForSkill(deps, assistant)));
    const result = await installHooks(deps, {
      assistant,
      dryRun,
      skill,
      statusLine: flags.statusline === true,
    });
    this.print(() => installText(result));
    for (const warning of result.warnings) this.say(warning);
    return result;
  }
}
