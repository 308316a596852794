import { BaseCommand, word, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { snooze } from '../../lib/work/actions';
import { issueText } from '../../lib/work/view-results';

export default class WorkSnooze extends BaseCommand {
  static override summary = 'Change the time of a reminder';
  static override description =
    'Takes a future time in natural language (in your time zone), or a duration such as 2h or 1h30m.';
  static override args = {
    number: issueNumber(),
    when: word({ required: true, description: 'New time, in quotes if it has several words.' }),
  };
  static override examples = ['work snooze 12 2h', 'work snooze 12 "tomorrow 9am"'];
  static override related = ['work remind TEXT', 'work list --type reminder', 'work close NUMBER'];

  async run() {
    const { args } = await this.parse(WorkSnooze);
    const { deps, shown } = await openWork(this.context);
    const snoozed = await snooze(deps, args);
    return this.show(snoozed, () => issueText(snoozed, shown(this.terminal), 'due'));
  }
}
