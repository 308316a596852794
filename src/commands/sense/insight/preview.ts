import { BaseCommand } from '../../../lib/cli/base-command';
import { openInsight } from '../../../lib/app/sense';
import { previewInsight, type InsightPreview } from '../../../lib/sense/insight';
import { previewText } from '../../../lib/sense/view-insight';

export default class SenseInsightPreview extends BaseCommand {
  static override summary = 'Print exactly what "sense insight build" would send';
  static override description =
    'Prints the text to stdout, and the name of the receiving program to stderr. Sends nothing.';
  static override examples = [
    '<%= config.bin %> sense insight preview',
    '<%= config.bin %> sense insight preview --json | jq .command',
  ];
  static override related = ['sense insight build', 'config set sense.exclude A,B', 'sense purge'];

  async run(): Promise<InsightPreview> {
    await this.parse(SenseInsightPreview);
    const { deps } = await openInsight(this.context);
    const preview = await previewInsight(deps);
    if (preview.prompt !== null) this.printUnfolded(() => preview.prompt ?? '');
    if (!this.json) this.say(previewText(preview));
    return preview;
  }
}
