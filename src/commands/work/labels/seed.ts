import { BaseCommand, boolean, text } from '../../../lib/cli/base-command';
import { withSteps } from '../../../lib/platform/terminal/progress';
import { openWork } from '../../../lib/app/work';
import { LABEL_SETS, seedLabels, wantedLabels, type SeedResult } from '../../../lib/work/labels';
import { openForWriting } from '../../../lib/work/privacy';
import { seedText } from '../../../lib/work/view-results';

export default class WorkLabelsSeed extends BaseCommand {
  static override summary = 'Add the labels that the repository lacks.';
  static override description =
    'Those of labels.yml, an Agent: label for the DA, you and each agent, and what the DA can take. It changes and deletes none.';
  static override flags = {
    set: text({
      description: 'Add the labels of this shipped set, too.',
      options: Object.keys(LABEL_SETS),
    }),
    'dry-run': boolean({ default: false, description: 'Say what would be done, and do nothing.' }),
  };
  static override examples = [
    '<%= config.bin %> work labels seed --dry-run',
    '<%= config.bin %> work labels seed --set original',
  ];
  static override related = ['work setup OWNER/REPO', 'config path'];

  async run(): Promise<SeedResult> {
    const { flags } = await this.parse(WorkLabelsSeed);
    const dryRun = flags['dry-run'];
    const { deps } = await openWork(this.context);
    const { host, repo } = await openForWriting(deps);
    const labels = await wantedLabels(deps, flags.set as keyof typeof LABEL_SETS | undefined);
    const result = await withSteps(`Labels of ${repo}`, (onStep) =>
      seedLabels(host, repo, labels, {
        dryRun,
        onLabel: (name, done, of) => onStep(`${name} (${done} of ${of})`),
      }),
    );
    return this.show(result, () => seedText(result));
  }
}
