import { BaseCommand } from '../../../lib/cli/base-command';
import { openInsight } from '../../../lib/app/sense';
import { latestInsight, type Insight } from '../../../lib/sense/insight-reads';
import { insightText } from '../../../lib/sense/view-insight';

export default class SenseInsight extends BaseCommand {
  static override summary = 'Show the latest content-type read: what kinds of content the day was made of.';
  static override description =
    'Of today, or of the latest earlier day that has one. A read is a description by your assistant\'s model, made by "sense insight build" only; showing it sends nothing and starts no process.';
  static override examples = [
    '<%= config.bin %> sense insight',
    {
      description: 'The kinds and their shares, for a script',
      command: `<%= config.bin %> sense insight --json | jq '.contentTypes[] | {label, share}'`,
    },
  ];
  static override related = ['sense insight preview', 'sense insight build', 'sense today'];

  async run(): Promise<Insight> {
    await this.parse(SenseInsight);
    const { deps } = await openInsight(this.context);
    const insight = latestInsight(deps);
    return this.show(insight, () => insightText(insight, { ...this.terminal, timezone: deps.timezone }));
  }
}
