import { BaseCommand, boolean, dryRun } from '../../../lib/cli/base-command';
import { openInsight } from '../../../lib/app/sense';
import { StewardError } from '../../../lib/errors';
import {
  buildInsight,
  previewInsight,
  type InsightOutcome,
  type InsightPreview,
} from '../../../lib/sense/insight';
import { latestInsight } from '../../../lib/sense/insight-reads';
import { buildText, previewText } from '../../../lib/sense/view-insight';

export default class SenseInsightBuild extends BaseCommand {
  static override summary = "Build today's insight with one call to your assistant";
  static override description =
    "Sends today's 15 most-used applications (names and counts), commit subjects and session names to the model behind sense.insight.command (default: Claude Code's fast model). Sends nothing if there are no new events. Runs that command without API keys in its environment, so that it uses your login.";
  static override flags = {
    'dry-run': dryRun('Print exactly what would be sent, and send nothing.'),
    force: boolean({ description: 'Send even if there are no new events.' }),
    sites: boolean({ description: 'Send the names of your 15 most frequent ticked sites too.' }),
  };
  static override examples = [
    'sense insight build --dry-run',
    'sense insight build',
    {
      description: 'Use another program, from text on stdin to JSON on stdout',
      command: 'config set sense.insight.command llm,--model,small',
    },
  ];
  static override related = ['sense insight', 'sense purge', 'config set sense.insight.command PROGRAM'];

  async run(): Promise<InsightOutcome | InsightPreview> {
    const { flags } = await this.parse(SenseInsightBuild);
    const { deps } = await openInsight(this.context);
    if (flags['dry-run']) return this.preview(await previewInsight(deps, flags));
    if (this.terminal.isTTY && !this.json) this.say('Asking the assistant. This may take a minute.');
    const outcome = await buildInsight(deps, flags);
    if (outcome.status === 'failed') {
      throw new StewardError('unavailable', `No insight was built: ${outcome.reason}.`, {
        hint: outcome.hint,
      });
    }
    return this.show(outcome, () =>
      buildText(outcome, latestInsight(deps), { ...this.terminal, timezone: deps.timezone }),
    );
  }

  /** Prints the text to stdout, and the name of the receiving program to stderr. */
  private preview(preview: InsightPreview): InsightPreview {
    if (preview.prompt !== null) this.printUnfolded(() => preview.prompt ?? '');
    if (!this.json) this.say(previewText(preview));
    return preview;
  }
}
