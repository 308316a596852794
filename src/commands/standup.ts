import { BaseCommand, boolean, text } from '../lib/cli/base-command';
import { openReport, reportNow } from '../lib/app/report';
import { blocksOf } from '../lib/report/blocks';
import type { Report } from '../lib/report/model';
import { readPeriod } from '../lib/report/period';
import { reportText } from '../lib/report/view';

export default class Standup extends BaseCommand {
  static override summary = 'Tell what you did since yesterday, as Markdown.';
  static override description =
    'Issues, sessions, commits and time, from what is stored on this machine; the same data gives the same bytes. On a terminal it is laid out, in a pipe it is Markdown. What cannot be known stands at its end.';
  static override flags = {
    since: text({ description: 'From this day on.', default: 'yesterday', helpValue: 'DAY' }),
    until: text({ description: 'Up to this day; today when left out.', helpValue: 'DAY' }),
    repo: text({ description: 'Only this repository, by the name of its folder.', helpValue: 'NAME' }),
    reminders: boolean({ description: 'Include your reminders.', default: false }),
    evidence: boolean({ description: 'Ask the service what was said when issues were closed.' }),
  };
  static override examples = [
    '<%= config.bin %> standup --since friday',
    {
      description: 'To paste into a chat',
      command: '<%= config.bin %> standup --repo website --evidence | pbcopy',
    },
  ];
  static override related = ['week', 'sense today', 'sessions'];

  async run(): Promise<Report> {
    const { flags } = await this.parse(Standup);
    const { since, until, ...options } = flags;
    const now = await reportNow(this.context);
    const period = await readPeriod({ since, ...(until === undefined ? {} : { until }) }, now);
    const report = await openReport(this.context, period, options);
    return this.show(report, () => reportText(blocksOf(report, 'Standup'), this.terminal));
  }
}
