import { BaseCommand, boolean, text } from '../lib/cli/base-command';
import { allKeys } from '../lib/config/files';
import type { ErrorKind } from '../lib/errors';
import { EXIT_CODES } from '../lib/platform/terminal/error-report';
import { asking } from '../lib/setup/init/step';
import { askChoice, choiceOf, installAll, type Installed } from '../lib/setup/install/install';
import { installedText } from '../lib/setup/install/view';
import { SHELLS, completionPlaces } from '../lib/shell/completion';

export default class Install extends BaseCommand {
  static override knowsAll = true;
  static override summary = 'Install hooks, scheduled jobs and completion';
  static override description =
    'Asks about each part. --yes installs the defaults: the hooks and the daemon, which captures, delivers and sweeps. "--jobs tick" schedules the same work without a daemon. "steward uninstall" removes everything.';
  static override flags = {
    yes: boolean({ char: 'y', description: 'Install the defaults without asking.' }),
    hooks: boolean({ description: "Register steward's hooks with your assistant.", allowNo: true }),
    skill: boolean({
      description: 'Also install the work skill, which has four workflows for your issues.',
      allowNo: true,
    }),
    jobs: text({
      description: 'Job to schedule: daemon, tick or none.',
      helpValue: 'LIST',
    }),
    completion: text({ description: 'Install completion for this shell.', options: [...SHELLS] }),
    'dry-run': boolean({ description: 'Only show what would be installed.' }),
  };
  static override examples = [
    '<%= config.bin %> install',
    '<%= config.bin %> install --yes --dry-run',
    '<%= config.bin %> install --jobs daemon --completion bash',
  ];
  static override related = ['uninstall', 'init', 'status', 'hooks install', 'sense install'];

  async run(): Promise<Installed> {
    const { flags } = await this.parse(Install);
    const hint = 'Use --hooks, --jobs LIST and --completion SHELL, or --yes for the defaults.';
    const say = (text: string): void => this.say(text);
    const choice = choiceOf(flags) ?? (await asking(hint, (questions) => askChoice(questions, say)));
    const places = completionPlaces(this.config.commands, this.config.topics, allKeys());
    const result = await installAll(this.context, { choice, places, dryRun: flags['dry-run'] });
    for (const warning of result.warnings) this.say(warning);
    const [failure] = result.failed;
    if (failure !== undefined) process.exitCode = EXIT_CODES[failure.kind as ErrorKind];
    this.print(() => installedText(result));
    return result;
  }
}
