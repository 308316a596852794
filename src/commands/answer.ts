import { BaseCommand, boolean, word } from '../lib/cli/base-command';
import { openInbox } from '../lib/app/inbox';
import { askOf, askText, giveAnswer, rowToAnswer } from '../lib/inbox/answer';

export default class Answer extends BaseCommand {
  static override summary = 'Answer what a row of the inbox asks';
  static override description =
    "Takes the number or text of the answer; --allow or --deny for a tool. Without an answer, shows the whole question or the tool's whole input. The first answer counts.";
  static override args = {
    row: word({ required: true, description: 'Row, by its name or words in it; to allow, by the id shown.' }),
    answer: word({ description: 'Number or text of the answer, in quotes if it has several words.' }),
  };
  static override flags = {
    allow: boolean({ description: 'Allow the tool or the plan.', exclusive: ['deny'] }),
    deny: boolean({ description: 'Refuse; a text tells the agent why.' }),
    session: boolean({
      description: 'With --allow, also for the rest of the session.',
      dependsOn: ['allow'],
    }),
  };
  static override examples = ['answer shop', 'answer shop 2', 'answer shop --deny'];
  static override related = ['inbox', 'go', 'answers setup'];

  async run(): Promise<object> {
    const { args, flags } = await this.parse(Answer);
    const behavior = flags.allow ? 'allow' : flags.deny ? 'deny' : undefined;
    const row = rowToAnswer((await openInbox(this.context, 'all')).rows, args.row, behavior);
    if (behavior === undefined && args.answer === undefined)
      return this.show(askOf(row), () => askText(askOf(row)));
    const given = { answer: args.answer, behavior, forSession: flags.session } as const;
    await giveAnswer(this.context, row, given, 'the terminal');
    return this.show({ id: row.id }, () => `Answered ${row.name}.`);
  }
}
