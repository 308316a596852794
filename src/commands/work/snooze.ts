import { BaseCommand, word, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { snooze, type Snoozed } from '../../lib/work/actions';
import { issueText } from '../../lib/work/view-results';

export default class WorkSnooze extends BaseCommand {
  static override summary = 'Give a reminder another time.';
  static override description =
    'You are reminded again then. Times are read in natural words, in your time zone, and lie ahead; a duration such as 2h or 1h30m counts from now.';
  static override args = {
    number: issueNumber(),
    when: word({ required: true, description: 'When; quote more than one word.' }),
  };
  static override examples = [
    '<%= config.bin %> work snooze 12 2h',
    '<%= config.bin %> work snooze 12 "tomorrow 9am"',
  ];
  static override related = ['work remind TEXT', 'work list --type reminder', 'work close NUMBER'];

  async run(): Promise<Snoozed> {
    const { args } = await this.parse(WorkSnooze);
    const { deps, shown } = await openWork(this.context);
    const snoozed = await snooze(deps, args);
    return this.show(snoozed, () => issueText(snoozed, shown(this.terminal), 'due'));
  }
}
