import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { evidenceHere } from '../../lib/app/capture';
import { openWork } from '../../lib/app/work';
import { StewardError } from '../../lib/errors';
import { tidy, type Tidied } from '../../lib/work/tidy';
import { tidyText } from '../../lib/work/view-results';

export default class WorkTidy extends BaseCommand {
  static override summary = 'Close done issues with evidence from their sessions';
  static override description =
    "Lists open issues labeled Status:done with their evidence: the session's commits in repositories that are watched or listed in projects.md, and the checked boxes in its session file. --apply closes the issues that have evidence and no unchecked boxes.";
  static override flags = {
    apply: boolean({ default: false, description: 'Close the issues, with the evidence as a comment.' }),
  };
  static override examples = ['<%= config.bin %> work tidy', '<%= config.bin %> work tidy --apply'];
  static override related = ['work close NUMBER', 'work board'];

  async run(): Promise<Tidied> {
    const { flags } = await this.parse(WorkTidy);
    const work = await openWork(this.context);
    const result = await tidy(work.deps, await evidenceHere(this.context, work), flags);
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
