import { BaseCommand, dryRun } from '../../lib/cli/base-command';
import { evidenceHere } from '../../lib/app/capture';
import { openWork } from '../../lib/app/work';
import { StewardError } from '../../lib/errors';
import { tidy, type Tidied } from '../../lib/work/tidy';
import { tidyText } from '../../lib/work/view-results';

export default class WorkTidy extends BaseCommand {
  static override summary = 'Close done issues with evidence from their sessions';
  static override description =
    "Finds open issues labeled Status:done, and their evidence: the session's commits in repositories that are watched or listed in projects.md, and the checked boxes in its session file. Closes those with evidence and no unchecked boxes, with the evidence as a comment.";
  static override flags = {
    'dry-run': dryRun('Only list the issues, with the evidence found.'),
  };
  static override examples = ['work tidy --dry-run', 'work tidy'];
  static override related = ['work close NUMBER', 'work board'];

  async run(): Promise<Tidied> {
    const { flags } = await this.parse(WorkTidy);
    const work = await openWork(this.context);
    const result = await tidy(work.deps, await evidenceHere(this.context, work), {
      dryRun: flags['dry-run'],
    });
    if (result.staleReason !== null) this.say(result.staleReason);
    this.print(() => tidyText(result, work.shown(this.terminal)));
    for (const { number, message } of result.failed) this.say(`#${number}: ${message}`);
    if (result.failed.length > 0) {
      throw new StewardError('unavailable', `${result.failed.length} issues could not be closed.`, {
        hint: 'Rerun the command to retry. The other issues are closed.',
      });
    }
    return result;
  }
}
