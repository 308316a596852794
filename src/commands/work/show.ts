import { BaseCommand, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { showIssue, type ShownItem } from '../../lib/work/actions';
import { showText } from '../../lib/work/view';

export default class WorkShow extends BaseCommand {
  static override summary = 'Show an issue with its text and comments';
  static override args = { number: issueNumber() };
  static override examples = ['work show 12', 'work show 12 --json'];
  static override related = [
    'work board',
    'work claim NUMBER --agent NAME',
    'work close NUMBER --evidence TEXT',
  ];

  async run(): Promise<ShownItem> {
    const { args } = await this.parse(WorkShow);
    const { deps, shown } = await openWork(this.context);
    const issue = await showIssue(deps, args.number);
    return this.show(issue, () => showText(issue, shown(this.terminal)));
  }
}
