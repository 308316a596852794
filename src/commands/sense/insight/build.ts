import { BaseCommand, boolean } from '../../../lib/cli/base-command';
import { openInsight } from '../../../lib/app/sense';
import { StewardError } from '../../../lib/errors';
import { buildInsight, type InsightOutcome } from '../../../lib/sense/insight';
import { latestInsight } from '../../../lib/sense/insight-reads';
import { buildText } from '../../../lib/sense/view-insight';

export default class SenseInsightBuild extends BaseCommand {
  static override summary = 'Make the content-type read of today by one call of your assistant.';
  static override description =
    "This sends something off the machine: how often the 15 applications seen most were in front, subjects of commits, and slugs of assistant sessions (they name the task or the repository), of today, to the model behind sense.insight.command (Claude Code's fast tier when not set). Nothing is sent when nothing came since the last read. Keys and tokens in the environment are taken away from it, so that your login with the assistant is used.";
  static override flags = {
    force: boolean({ description: 'Also when nothing came since the last read.' }),
  };
  static override examples = [
    '<%= config.bin %> sense insight preview',
    '<%= config.bin %> sense insight build',
    {
      description: 'With another program: it gets the text on stdin and writes the JSON to stdout',
      command: '<%= config.bin %> config set sense.insight.command llm,--model,small',
    },
  ];
  static override related = [
    'sense insight',
    'sense insight preview',
    'config set sense.insight.command PROGRAM',
  ];

  async run(): Promise<InsightOutcome> {
    const { flags } = await this.parse(SenseInsightBuild);
    const { deps } = await openInsight(this.context);
    if (this.terminal.isTTY && !this.json) this.say('Asking the assistant; it may take a minute.');
    const outcome = await buildInsight(deps, flags);
    if (outcome.status === 'failed') {
      throw new StewardError('unavailable', `No read was made: ${outcome.reason}.`, { hint: outcome.hint });
    }
    return this.show(outcome, () =>
      buildText(outcome, latestInsight(deps), { ...this.terminal, timezone: deps.timezone }),
    );
  }
}
