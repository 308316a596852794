import { BaseCommand, machine, boolean, text } from '../lib/cli/base-command';
import { openReport } from '../lib/app/report';
import { blocksOf } from '../lib/report/blocks';
import type { Report } from '../lib/report/model';
import { reportText } from '../lib/report/view';

export default class Standup extends BaseCommand {
  static override summary = 'Summarize what you did since yesterday, as Markdown';
  static override description =
    'Lists issues, sessions, commits and time from local data, then any gaps in the data. Prints formatted text to a terminal and Markdown to a pipe. The same data always produces the same output.';
  static override flags = {
    since: text({ description: 'First day.', default: 'yesterday', helpValue: 'DAY' }),
    until: text({ description: 'Last day (default: today).', helpValue: 'DAY' }),
    repo: text({ description: 'Only this repository (folder name).', helpValue: 'NAME' }),
    reminders: boolean({ description: 'Include your reminders.', default: false }),
    evidence: boolean({ description: 'Fetch the closing comments of issues.' }),
    machine,
  };
  static override examples = [
    '<%= config.bin %> standup --since friday',
    {
      description: 'Copy the standup to the clipboard',
      command: '<%= config.bin %> standup --repo website --evidence | pbcopy',
    },
  ];
  static override related = ['week', 'sense today', 'sessions'];

  async run(): Promise<Report> {
    const { flags } = await this.parse(Standup);
    const { since, until, ...options } = flags;
    const days = { since, ...(until === undefined ? {} : { until }) };
    const report = await openReport(this.context, days, options);
    return this.show(report, () => reportText(blocksOf(report, 'Standup'), this.terminal));
  }
}
