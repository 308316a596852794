import { boolean } from '@oclif/core/flags';

import { BaseCommand } from '../../../lib/cli/base-command';
import { withSteps } from '../../../lib/cli/progress';
import { openWork } from '../../../lib/cli/work-context';
import { readLabels, seedLabels, type SeedResult } from '../../../lib/work/labels';
import { openForWriting } from '../../../lib/work/privacy';
import { seedText } from '../../../lib/work/view-results';

export default class WorkLabelsSeed extends BaseCommand {
  static override summary = 'Bring the labels of labels.yml to the repository.';
  static override description =
    'Creates those that it lacks, mends the colour and description of those it has, and deletes none.';
  static override flags = {
    'dry-run': boolean({ default: false, description: 'Say what would be done, and do nothing.' }),
  };
  static override examples = [
    '<%= config.bin %> work labels seed --dry-run',
    '<%= config.bin %> work labels seed',
  ];
  static override related = ['work setup OWNER/REPO', 'config path'];

  async run(): Promise<SeedResult> {
    const { flags } = await this.parse(WorkLabelsSeed);
    const dryRun = flags['dry-run'];
    const { deps } = await openWork(this.context);
    const repo = await openForWriting(deps);
    const labels = await readLabels(deps.area.labels);
    const host = await deps.host();
    const result = await withSteps(`Labels of ${repo}`, (onStep) =>
      seedLabels(host, repo, labels, {
        dryRun,
        onLabel: (name, done, of) => onStep(`${name} (${done} of ${of})`),
      }),
    );
    this.print(() => seedText(result));
    return result;
  }
}
