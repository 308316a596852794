import { BaseCommand, boolean, word } from '../../lib/cli/base-command';
import { withSteps } from '../../lib/platform/terminal/progress';
import { openWork } from '../../lib/app/work';
import { setUp, type SetupResult } from '../../lib/work/setup';
import { setupText } from '../../lib/work/view-results';

export default class WorkSetup extends BaseCommand {
  static override summary = 'Set up work tracking in a private repository';
  static override description =
    'Checks that the repository is private, creates the files in the work folder, seeds the labels and fetches the issues. Running it again changes nothing.';
  static override args = {
    repo: word({ required: true, description: 'GitHub repository, as OWNER/REPO.' }),
  };
  static override flags = {
    create: boolean({ description: 'Create the private repository if it does not exist.' }),
  };
  static override examples = ['work setup ann/work --create', 'work setup ann/work --json'];
  static override related = ['work board', 'work verify', 'work labels seed'];

  async run(): Promise<SetupResult> {
    const { args, flags } = await this.parse(WorkSetup);
    const { deps } = await openWork(this.context);
    const result = await withSteps(`Setting up ${args.repo}`, (onStep) =>
      setUp(deps, { repo: args.repo, create: flags.create }, onStep),
    );
    return this.show(result, () => setupText(result));
  }
}
