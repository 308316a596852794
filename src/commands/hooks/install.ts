import { installEach, type HooksInstalled } from '../../lib/assistant/install';
import { installText } from '../../lib/assistant/install-view';
import { throwAll } from '../../lib/errors';
import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { ASSISTANT_IDS, CLAUDE_CODE } from '../../lib/sessions/session-key';
import { installerDeps } from '../../lib/app/context';
import { openHooks } from '../../lib/app/hooks';
import {
  askForSkill,
  chosenAssistants,
  othersText,
  unregisteredAssistants,
} from '../../lib/assistant/registered';

export default class HooksInstall extends BaseCommand {
  static override summary = "Register steward's hooks with your AI assistants";
  static override description =
    "Adds entries to the assistant's settings and saves a backup next to them. For Copilot and OpenCode, writes a separate file. Other settings stay unchanged. Installing again changes nothing.";
  static override flags = {
    assistant: text({
      description: `One or more of ${ASSISTANT_IDS.join(', ')}, or all (including assistants that are not installed). Default: Claude Code if installed; on a terminal, steward asks about other assistants.`,
      helpValue: 'NAMES',
    }),
    skill: boolean({
      description: 'Also install the work skill, which has four workflows for your issues (default: ask).',
      allowNo: true,
    }),
    statusline: boolean({
      description: "Also show steward's status line below your current one.",
    }),
    'dry-run': boolean({ description: 'Only show what would be written.' }),
  };
  static override examples = [
    '<%= config.bin %> hooks install --dry-run',
    '<%= config.bin %> hooks install --assistant codex,copilot',
    '<%= config.bin %> hooks install --skill',
    '<%= config.bin %> hooks install --statusline',
  ];
  static override related = ['hooks status', 'hooks uninstall'];

  async run(): Promise<HooksInstalled & { more: HooksInstalled[] }> {
    const { flags } = await this.parse(HooksInstall);
    const dryRun = flags['dry-run'] === true;
    const mayAsk = !dryRun && !this.json;
    const { deps, assistants } = openHooks(
      this.context,
      flags.assistant ?? (await chosenAssistants(installerDeps(this.context), mayAsk)),
    );
    const hasClaude = assistants.some(({ id }) => id === CLAUDE_CODE);
    const skill = flags.skill ?? (hasClaude && mayAsk && (await askForSkill(deps)));
    const statusLine = flags.statusline === true;
    const { results, failures } = await installEach(deps, assistants, { dryRun, skill, statusLine });
    if (!this.json || failures.length === 0) {
      if (results.length > 0) this.print(() => installText(results));
      for (const warning of new Set(results.flatMap(({ warnings }) => warnings))) this.say(warning);
    }
    throwAll(failures);
    const unregistered = flags.assistant === undefined ? unregisteredAssistants(deps) : [];
    const remaining = unregistered.filter((assistant) => !assistants.includes(assistant));
    if (remaining.length > 0) this.say(othersText(remaining));
    const [first, ...more] = results as [HooksInstalled, ...HooksInstalled[]];
    return { ...first, more };
  }
}
