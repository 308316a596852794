import { BaseCommand, ofOr, reportFlags } from '../lib/cli/base-command';
import { openReport } from '../lib/app/report';
import { blocksOf } from '../lib/report/blocks';
import type { Report } from '../lib/report/model';
import { reportText } from '../lib/report/view';

export default class Standup extends BaseCommand {
  static override summary = 'Summarize what you did since yesterday, as Markdown';
  static override description =
    'Lists issues, sessions, commits and time from local data, then any gaps in the data. Prints formatted text to a terminal and Markdown to a pipe. The same data always produces the same output.';
  static override flags = {
    of: ofOr('since yesterday', 'Days to summarize'),
    ...reportFlags,
  };
  static override examples = [
    'standup --of "since friday"',
    {
      description: 'Copy the standup to the clipboard',
      command: 'standup --repo website --evidence | pbcopy',
    },
  ];
  static override related = ['week', 'sense today', 'sessions'];

  async run(): Promise<Report> {
    const { flags } = await this.parse(Standup);
    const { of: words, ...options } = flags;
    const report = await openReport(this.context, await this.period(words), options);
    return this.show(report, () => reportText(blocksOf(report, 'Standup'), this.terminal));
  }
}
