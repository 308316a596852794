import { BaseCommand, text, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import type { Item } from '../../lib/work/board';
import { moveIssue } from '../../lib/work/edit';
import { issueText } from '../../lib/work/view-results';

export default class WorkBlock extends BaseCommand {
  static override summary = 'Mark an issue as blocked';
  static override description = 'Replaces the Status label and adds the reason as a comment.';
  static override args = { number: issueNumber() };
  static override flags = {
    reason: text({ description: 'What the issue is waiting for.', helpValue: 'TEXT' }),
  };
  static override examples = ['work block 12', 'work block 12 --reason "Waiting for the API key"'];
  static override related = ['work start NUMBER', 'work list --status blocked'];

  async run(): Promise<Item> {
    const { args, flags } = await this.parse(WorkBlock);
    const { deps, shown } = await openWork(this.context);
    const item = await moveIssue(deps, { number: args.number, status: 'blocked', reason: flags.reason });
    return this.show(item, () => issueText(item, shown(this.terminal), 'status'));
  }
}
