import { BaseCommand, text, word } from '../../lib/cli/base-command';
import { unlessInterrupted } from '../../lib/cli/interrupt';
import { openWork } from '../../lib/app/work';
import { addInterrupted, createOrQueue, newReminder, type Added, type Queued } from '../../lib/work/add';
import { addedText } from '../../lib/work/view-results';

export default class WorkRemind extends BaseCommand {
  static override summary = 'Add a reminder';
  static override description =
    'Adds it as an issue of your work repository. Parses the time from the text, in your time zone. A day without a time means 09:00; "today" and "eod" mean 18:00; "tonight" means 20:00. Ambiguous words stay in the title. Recurring reminders are not supported.';
  static override args = {
    text: word({ required: true, description: 'The reminder, with or without a time.' }),
  };
  static override flags = {
    at: text({
      description: 'Reminder time; if set, the text is not searched for a time.',
      helpValue: 'WHEN',
    }),
    priority: text({ description: 'Priority.', options: ['P0', 'P1', 'P2', 'P3'] }),
  };
  static override examples = [
    'work remind "call Ann tomorrow at 10"',
    'work remind "renew the certificate" --at "1 December 9:00"',
  ];
  static override related = ['work list --type reminder', 'work close NUMBER'];

  async run(): Promise<Added | Queued> {
    const { args, flags } = await this.parse(WorkRemind);
    const { deps, shown } = await openWork(this.context);
    const { at, priority } = flags;
    const wanted = await newReminder(deps, { text: args.text, at, priority });
    const added = await unlessInterrupted(createOrQueue(deps, wanted), addInterrupted);
    const lines = addedText(added, shown(this.terminal), this.say);
    this.print(() => lines);
    if (!('queued' in added) && added.due === null) {
      this.say(
        `No time found, so you will not be notified. To set a time: steward work snooze ${added.number} "tomorrow 9am"`,
      );
    }
    return added;
  }
}
