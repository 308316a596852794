import { BaseCommand, boolean, dryRun, text, word } from '../lib/cli/base-command';
import { allKeys } from '../lib/config/files';
import { type ErrorKind, EXIT_CODES } from '../lib/errors';
import { ASSISTANT_IDS } from '../lib/sessions/session-key';
import { asking } from '../lib/setup/init/step';
import {
  askChoice,
  defaultParts,
  installAll,
  jobState,
  refuseOtherFlags,
} from '../lib/setup/install/install';
import { PART_IDS, SCHEDULERS, type InstallOptions, type PartId } from '../lib/setup/install/parts';
import { installedText } from '../lib/setup/install/view';
import { SHELLS, completionPlaces, type Shell } from '../lib/shell/completion';

export default class Install extends BaseCommand {
  static override knowsAll = true;
  static override summary = 'Install hooks, scheduled jobs and completion';
  static override description =
    'Without a part, asks about each. Installing again changes nothing. Parts: hooks (your assistants report their sessions), daemon (captures, delivers, sweeps and serves the pages), jobs (the same without a daemon and pages), completion.';
  static override args = { part: word({ description: 'Part.', options: [...PART_IDS] }) };
  static override flags = {
    yes: boolean({ char: 'y', description: 'Install the hooks and the daemon without asking.' }),
    'dry-run': dryRun('Only show what would be installed.'),
    assistant: text({
      description: `One or more of ${ASSISTANT_IDS.join(', ')}, or all (default: the installed ones; asks).`,
      helpValue: 'NAMES',
      helpGroup: 'HOOKS',
    }),
    skill: boolean({
      description: 'Also the work skill, with four workflows for your issues.',
      allowNo: true,
      helpGroup: 'HOOKS',
    }),
    statusline: boolean({ description: "Also steward's status line.", helpGroup: 'HOOKS' }),
    scheduler: text({
      description: 'Scheduler (default: detected).',
      options: [...SCHEDULERS],
      helpValue: 'KIND',
      helpGroup: 'JOBS',
      exclusive: ['status'],
    }),
    insight: boolean({ description: 'Also the hourly insight by your assistant.', helpGroup: 'JOBS' }),
    status: boolean({ description: 'Show the state of the job.', hidden: true }),
    shell: text({
      description: 'Shell (default: your login shell).',
      options: [...SHELLS],
      helpValue: 'NAME',
      helpGroup: 'COMPLETION',
    }),
  };
  static override examples = [
    'install --yes',
    'install hooks --assistant codex,copilot',
    'install completion --shell fish',
  ];
  static override related = ['uninstall', 'status', 'hooks status'];

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(Install);
    const part = args.part as PartId | undefined;
    if (flags.status) {
      const { status, text } = await jobState(this.context, part === 'daemon' ? part : 'jobs');
      return this.show(status, () => text);
    }
    const { yes, 'dry-run': dryRun, assistant, skill, statusline, insight } = flags;
    const options = {
      dryRun,
      mayAsk: !dryRun && !this.json && !yes,
      assistant,
      skill: skill as boolean | undefined,
      statusline,
      insight,
      scheduler: flags.scheduler as InstallOptions['scheduler'],
      shell: flags.shell as Shell | undefined,
    };
    const parts = part === undefined ? (yes ? defaultParts() : undefined) : [part];
    if (parts !== undefined) refuseOtherFlags(parts, options);
    const hint = `Name a part (${PART_IDS.join(', ')}), or use --yes for the defaults.`;
    const choice =
      parts === undefined
        ? await asking(hint, (questions) => askChoice(questions, options, this.say))
        : { parts, options };
    const places = completionPlaces(this.config.commands, this.config.topics, allKeys());
    const print = (text: string): void => this.print(() => text);
    const result = await installAll(this.context, choice, { places, print });
    for (const warning of result.warnings) this.say(warning);
    const [failure] = result.failed;
    if (failure !== undefined) process.exitCode = EXIT_CODES[failure.kind as ErrorKind];
    if (part === undefined || dryRun) this.print(() => installedText(result));
    return result;
  }
}
