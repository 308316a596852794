import { BaseCommand, word } from '../../lib/cli/base-command';
import { openMark } from '../../lib/app/inbox-acts';

export default class InboxDone extends BaseCommand {
  static override summary = 'Remove a row from the inbox';
  static override description =
    'Only for rows whose end you decide: turns and agents that finished, budgets, and notifications that were not delivered. The others disappear when what they wait for has happened.';
  static override args = {
    row: word({ required: true, description: 'Row, by its name or words in it.' }),
  };
  static override examples = ['inbox done shop', 'inbox done notice-3f2a1'];
  static override related = ['inbox', 'inbox snooze ROW WHEN', 'work close NUMBER'];

  async run(): Promise<{ id: string }> {
    const { args } = await this.parse(InboxDone);
    const { row } = await openMark(this.context, args.row);
    return this.show({ id: row.id }, () => `Removed ${row.name}.`);
  }
}
