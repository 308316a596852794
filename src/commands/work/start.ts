import { BaseCommand, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import type { Item } from '../../lib/work/board';
import { moveIssue } from '../../lib/work/edit';
import { issueText } from '../../lib/work/view-results';

export default class WorkStart extends BaseCommand {
  static override summary = 'Mark an issue as in progress';
  static override description = 'Replaces the Status label. To also assign the issue, use `work claim`.';
  static override args = { number: issueNumber() };
  static override examples = ['work start 12', 'work start 12 --json'];
  static override related = ['work claim NUMBER', 'work block NUMBER', 'work close NUMBER --evidence TEXT'];

  async run(): Promise<Item> {
    const { args } = await this.parse(WorkStart);
    const { deps, shown } = await openWork(this.context);
    const item = await moveIssue(deps, { number: args.number, status: 'in-progress' });
    return this.show(item, () => issueText(item, shown(this.terminal), 'status'));
  }
}
