import { BaseCommand, ofOr, reportFlags } from '../lib/cli/base-command';
import { openReport } from '../lib/app/report';
import { blocksOf } from '../lib/report/blocks';
import type { Report } from '../lib/report/model';
import { reportText } from '../lib/report/view';
import { zonedNow } from '../lib/app/context';
import { wholeWeeks } from '../lib/platform/time/period';

export default class Week extends BaseCommand {
  static override summary = 'Summarize a week, Monday to Sunday, as Markdown';
  static override description =
    "Prints the `standup` report for a week (default: this week up to today), with your assistants' token usage.";
  static override flags = {
    of: ofOr('this week', 'Weeks that contain these days'),
    ...reportFlags,
  };
  static override examples = ['week', 'week --of "last week" > week.md'];
  static override related = ['standup', 'sense recent', 'work list --state closed'];

  async run(): Promise<Report> {
    const { flags } = await this.parse(Week);
    const { of: words, ...options } = flags;
    const weeks = wholeWeeks(await this.period(words), await zonedNow(this.context));
    const report = await openReport(this.context, weeks, { ...options, usage: true });
    return this.show(report, () => reportText(blocksOf(report, 'Week'), this.terminal));
  }
}
