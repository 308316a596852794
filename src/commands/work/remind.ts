import { BaseCommand, text, word } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { createOrQueue, newReminder, type Added, type Queued } from '../../lib/work/add';
import { issueText, missingText, queuedText } from '../../lib/work/view-results';

export default class WorkRemind extends BaseCommand {
  static override summary = 'Add a reminder; its time may stand in the text.';
  static override description =
    'Times are read in natural words, in your time zone, and lie ahead. A day without a time is its morning, 09:00; today and eod are 18:00, tonight is 20:00. Words that may mean something else stay in the title. Recurring reminders are not supported.';
  static override args = {
    text: word({ required: true, description: 'What to be reminded of.' }),
  };
  static override flags = {
    at: text({ description: 'When; then the text is taken as it is.', helpValue: 'WHEN' }),
    priority: text({ description: 'Its Priority.', options: ['P0', 'P1', 'P2', 'P3'] }),
  };
  static override examples = [
    '<%= config.bin %> work remind "call Ann tomorrow at 10"',
    '<%= config.bin %> work remind "renew the certificate" --at "1 December 9:00"',
  ];
  static override related = ['work add TITLE', 'work list --type reminder'];

  async run(): Promise<Added | Queued> {
    const { args, flags } = await this.parse(WorkRemind);
    const { deps, shown } = await openWork(this.context);
    const { at, priority } = flags;
    const added = await createOrQueue(deps, await newReminder(deps, { text: args.text, at, priority }));
    if ('queued' in added) return this.show(added, () => queuedText(added, shown(this.terminal)));
    if (added.missingLabels.length > 0) this.say(missingText(added.missingLabels));
    this.print(() => issueText(added, shown(this.terminal), 'due'));
    if (added.due === null) {
      this.say(
        `It names no time, so nothing reminds you by itself. To give it one: steward work snooze ${added.number} "tomorrow 9am"`,
      );
    }
    return added;
  }
}
