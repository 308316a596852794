import { installHooks, type InstallResult } from '../../lib/assistant/install';
import { installText } from '../../lib/assistant/install-view';
import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { askForSkill, openHooks } from '../../lib/app/hooks';

export default class HooksInstall extends BaseCommand {
  static override summary = "Register steward's hooks with your AI assistant.";
  static override description =
    "An entry for each event is added to the assistant's settings file ($CLAUDE_CONFIG_DIR or ~/.claude, settings.json); everything else in it stays as it is, and a copy is kept beside it. Installing twice changes nothing.";
  static override flags = {
    assistant: text({
      description: 'The assistant.',
      default: 'claude-code',
      options: ['claude-code'],
    }),
    skill: boolean({
      description:
        'Also give it the work skill: four workflows over your issues. Without either, you are asked.',
      allowNo: true,
    }),
    'dry-run': boolean({ description: 'Say what would be written, and write nothing.' }),
  };
  static override examples = [
    '<%= config.bin %> hooks install --dry-run',
    '<%= config.bin %> hooks install --skill',
  ];
  static override related = ['hooks status', 'hooks uninstall'];

  async run(): Promise<InstallResult> {
    const { flags } = await this.parse(HooksInstall);
    const { deps, assistant } = openHooks(this.context, flags.assistant);
    const dryRun = flags['dry-run'] === true;
    const skill = flags.skill ?? (!dryRun && !this.json && (await askForSkill(deps, assistant)));
    const result = await installHooks(deps, { assistant, dryRun, skill });
    this.print(() => installText(result));
    for (const warning of result.warnings) this.say(warning);
    return result;
  }
}
