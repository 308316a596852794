import { BaseCommand, text, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import type { Item } from '../../lib/work/board';
import { editIssue } from '../../lib/work/edit';
import { issueText } from '../../lib/work/view-results';

export default class WorkEdit extends BaseCommand {
  static override summary = 'Edit the title, body or labels of an issue';
  static override description =
    "Preserves the title's prefix and id, and the body's hidden marker. Labels must already exist in the repository.";
  static override args = { number: issueNumber() };
  static override flags = {
    title: text({ description: 'New title, without the prefix.', helpValue: 'TEXT' }),
    body: text({ description: 'New body; @FILE reads it from a file.', helpValue: 'TEXT|@FILE' }),
    'add-label': text({ description: 'Add a label; repeatable.', multiple: true, helpValue: 'NAME' }),
    'remove-label': text({ description: 'Remove a label; repeatable.', multiple: true, helpValue: 'NAME' }),
  };
  static override examples = [
    'work edit 12 --title "Make search fast"',
    'work edit 12 --add-label Priority:P1 --remove-label Priority:P2',
  ];
  static override related = ['work show NUMBER', 'work start NUMBER', 'work snooze NUMBER WHEN'];

  async run(): Promise<Item> {
    const { args, flags } = await this.parse(WorkEdit);
    const { deps, shown } = await openWork(this.context);
    const { title, body } = flags;
    const item = await editIssue(deps, {
      number: args.number,
      title,
      body,
      addLabels: flags['add-label'],
      removeLabels: flags['remove-label'],
    });
    return this.show(item, () => issueText(item, shown(this.terminal), 'status'));
  }
}
