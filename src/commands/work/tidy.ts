import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { evidenceHere } from '../../lib/app/capture';
import { openWork } from '../../lib/app/work';
import { StewardError } from '../../lib/errors';
import { tidy, type Tidied } from '../../lib/work/tidy';
import { tidyText } from '../../lib/work/view-results';

export default class WorkTidy extends BaseCommand {
  static override summary = 'Propose to close what is done, with what shows it.';
  static override description =
    'Looks at the open issues at Status:done: the commits of the session in its repository (watched by sense, or in projects.md), and the ticked boxes of its artifact. Nothing is closed without --apply; what has no evidence, or open boxes, is left alone.';
  static override flags = {
    apply: boolean({ default: false, description: 'Close them, each with its evidence as comment.' }),
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
      throw new StewardError('unavailable', `${result.failed.length} could not be closed.`, {
        hint: 'Run it again; what was closed stays closed.',
      });
    }
    return result;
  }
}
