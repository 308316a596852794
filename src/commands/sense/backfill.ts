import { openBackfill, openSense, setUpSense } from '../../lib/app/sense';
import { BaseCommand, dryRun, of } from '../../lib/cli/base-command';
import { withSteps } from '../../lib/platform/terminal/progress';
import { backfill, backfillText, type BackfillResult } from '../../lib/sense/backfill';
import { daysOf } from '../../lib/platform/time/period';

export default class SenseBackfill extends BaseCommand {
  static override summary = 'Add your commits and assistant sessions from past days';
  static override description =
    'Reads your own commits in the watched repositories, and session times (never text) from assistant transcripts. Preserves recorded application time. Running it again adds nothing.';
  static override flags = {
    of: of('Days to read, ending today (default: the last sense.git.backfillDays)'),
    'dry-run': dryRun('Only show what would be added.'),
  };
  static override examples = ['sense backfill', 'sense backfill --of "last 90 days" --dry-run'];
  static override related = ['sense recent', 'week', 'config add'];

  async run(): Promise<BackfillResult> {
    const { flags } = await this.parse(SenseBackfill);
    const { config } = await this.context.loadConfig();
    const period = flags.of === undefined ? undefined : await this.latest(flags.of);
    const days = period === undefined ? config.sense.git.backfillDays : daysOf(period).length - 1;
    if (!flags['dry-run'] && config.sense.enabled) await setUpSense(this.context);
    const sense = await openSense(this.context);
    const result = await withSteps('Reading commits and sessions', (onStep) =>
      sense.locked(async () =>
        backfill(
          await openBackfill(this.context, sense, (done, total) =>
            onStep(`${done} of ${total} repositories`),
          ),
          { days, dryRun: flags['dry-run'] },
        ),
      ),
    );
    for (const problem of result.problems) this.say(problem);
    return this.show(result, () => backfillText(result));
  }
}
