import { allKeys } from '../lib/config/files';
import { BaseCommand, boolean, text } from '../lib/cli/base-command';
import { SHELLS, completionPlaces } from '../lib/shell/completion';
import {
  askChoice,
  choiceOf,
  type InstallFlags,
  installAll,
  type Installed,
  type InstallChoice,
} from '../lib/setup/install/install';
import { installedText } from '../lib/setup/install/view';
import { EXIT_CODES } from '../lib/platform/terminal/exit-codes';
import { folded } from '../lib/platform/terminal/format';
import { StewardError, type ErrorKind } from '../lib/errors';
import { canAsk, openQuestions } from '../lib/platform/terminal/ask';

export default class Install extends BaseCommand {
  static override knowsAll = true;
  static override summary = 'Install hooks, scheduled jobs and completion, all together.';
  static override description =
    'Asks for each part; flags answer, and --yes takes the usual: hooks, the jobs sense and daemon, and work where a repository is set up. The insight job, which asks a model, is installed only when it is named. What is there already stays; "steward uninstall" takes all of it back.';
  static override flags = {
    yes: boolean({ char: 'y', description: 'Ask nothing, and take the usual.' }),
    hooks: boolean({ description: "Register steward's hooks with your assistant.", allowNo: true }),
    skill: boolean({
      description: 'Also give the assistant the work skill: four workflows over your issues.',
      allowNo: true,
    }),
    jobs: text({ description: 'all, none, or some of sense,insight,work,daemon.', helpValue: 'LIST' }),
    completion: text({ description: 'Complete commands in this shell.', options: [...SHELLS] }),
    'dry-run': boolean({ description: 'Say what would be installed, and write nothing.' }),
  };
  static override examples = [
    '<%= config.bin %> install',
    '<%= config.bin %> install --yes --dry-run',
    '<%= config.bin %> install --jobs sense,daemon --completion bash',
  ];
  static override related = ['uninstall', 'init', 'status', 'hooks install', 'sense install'];

  async run(): Promise<Installed> {
    const { flags } = await this.parse(Install);
    const choice = await this.choice(flags);
    const places = completionPlaces(this.config.commands, this.config.topics, allKeys());
    const dryRun = flags['dry-run'];
    const result = await installAll(this.context, { root: this.config.root, choice, places, dryRun });
    for (const warning of result.warnings) this.say(warning);
    const [failure] = result.failed;
    if (failure !== undefined) process.exitCode = EXIT_CODES[failure.kind as ErrorKind];
    return this.show(result, () => installedText(result));
  }

  private async choice(flags: InstallFlags): Promise<InstallChoice> {
    const isNamed =
      flags.yes ||
      [flags.hooks, flags.skill, flags.jobs, flags.completion].some((flag) => flag !== undefined);
    if (isNamed) return choiceOf(this.context, flags);
    if (!canAsk()) {
      throw new StewardError('usage', 'There is no terminal to ask on.', {
        hint: 'Choose with --hooks, --jobs LIST and --completion SHELL, or take the usual with --yes.',
      });
    }
    const questions = openQuestions();
    try {
      return await askChoice(this.context, questions, (text) => this.say(folded(text)));
    } finally {
      questions.close();
    }
  }
}
