import { BaseCommand } from '../../../lib/cli/base-command';
import { openInsight } from '../../../lib/app/sense';
import { latestInsight, type Insight } from '../../../lib/sense/insight-reads';
import { insightText } from '../../../lib/sense/view-insight';

export default class SenseInsight extends BaseCommand {
  static override summary = 'Show the latest insight: the kinds of content in your day';
  static override description =
    'Shows today\'s insight or, if there is none yet, the latest earlier one. Sends nothing; only "sense insight build" asks your assistant.';
  static override examples = [
    'sense insight',
    {
      description: 'Print each kind of content with its share, for a script',
      command: `sense insight --json | jq '.contentTypes[] | {label, share}'`,
    },
  ];
  static override related = ['sense insight build --dry-run', 'sense insight build', 'sense today'];

  async run(): Promise<Insight> {
    const { deps } = await openInsight(this.context);
    const insight = latestInsight(deps);
    return this.show(insight, () => insightText(insight, { ...this.terminal, timezone: deps.timezone }));
  }
}
