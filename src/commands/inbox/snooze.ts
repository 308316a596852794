import { BaseCommand, word } from '../../lib/cli/base-command';
import { openMark } from '../../lib/app/inbox-acts';
import { zonedNow } from '../../lib/app/context';
import { localTimes } from '../../lib/platform/time/day-words';

export default class InboxSnooze extends BaseCommand {
  static override summary = 'Hide a row of the inbox until a time';
  static override description =
    'Takes a future time in natural language, or a duration such as 2h or 1h30m, for 90 days at most; `now` lists the row again. Changes nothing but the list on this machine.';
  static override args = {
    row: word({ required: true, description: 'Row, by its name or words in it.' }),
    when: word({ required: true, description: 'Time, in quotes if it has several words.' }),
  };
  static override examples = [
    'inbox snooze 12 2h',
    'inbox snooze shop "tomorrow 9am"',
    'inbox snooze shop now',
  ];
  static override related = ['inbox --snoozed', 'inbox done ROW', 'work snooze NUMBER WHEN'];

  async run(): Promise<{ id: string; until: string | null }> {
    const { args } = await this.parse(InboxSnooze);
    const { row, until } = await openMark(this.context, args.row, args.when);
    const time =
      until === null ? '' : localTimes(this.context.clock, (await zonedNow(this.context)).zone)(until);
    const done = args.when === 'now' ? `Listed ${row.name} again.` : `Snoozed ${row.name} until ${time}.`;
    return this.show({ id: row.id, until }, () => done);
  }
}
