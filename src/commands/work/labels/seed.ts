import { BaseCommand, dryRun as previews, text } from '../../../lib/cli/base-command';
import { withSteps } from '../../../lib/platform/terminal/progress';
import { openWork } from '../../../lib/app/work';
import { LABEL_SETS, labelNames, seedLabels, wantedLabels, type SeedResult } from '../../../lib/work/labels';
import { openForWriting } from '../../../lib/work/privacy';
import { seedText } from '../../../lib/work/view-results';

export default class WorkLabelsSeed extends BaseCommand {
  static override summary = 'Create the missing labels in the repository';
  static override description =
    'Creates the labels in labels.yml, an "Agent:" label for you, your assistant and each agent, and a label for issues that your assistant can take. Existing labels are unchanged.';
  static override flags = {
    set: text({
      description: 'Also create the labels in this built-in set.',
      options: Object.keys(LABEL_SETS),
    }),
    'dry-run': previews('Show the plan without writing anything.'),
  };
  static override examples = ['work labels seed --dry-run', 'work labels seed --set original'];
  static override related = ['work setup OWNER/REPO', 'config path'];

  async run(): Promise<SeedResult> {
    const { flags } = await this.parse(WorkLabelsSeed);
    const dryRun = flags['dry-run'];
    const { deps } = await openWork(this.context);
    const open = await openForWriting(deps);
    const { host, repo } = open;
    const labels = await wantedLabels(deps, flags.set as keyof typeof LABEL_SETS | undefined);
    const result = await withSteps(`Seeding labels in ${repo}`, (onStep) =>
      seedLabels(host, repo, labels, {
        dryRun,
        onLabel: (name, done, total) => onStep(`${name} (${done} of ${total})`),
      }),
    );
    // Later checks read the stored names.
    if (!dryRun) await labelNames(open);
    return this.show(result, () => seedText(result));
  }
}
