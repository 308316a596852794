import { BaseCommand, boolean, dryRun, integer, of, text } from '../../lib/cli/base-command';
import { fromOclif } from '../../lib/cli/usage-errors';
import { flagsOf } from '../../lib/cli/resolve';
import { withSteps } from '../../lib/platform/terminal/progress';
import { runSweep } from '../../lib/app/sweep';
import { noSweep, type SweepResult } from '../../lib/work/sweep-log';
import { parseDuration } from '../../lib/platform/time/day-words';
import { sweepText } from '../../lib/work/view-results';

export default class WorkSweep extends BaseCommand {
  static override summary = 'Create missed issues and flag stale ones';
  static override description =
    'Creates missing issues for sessions, active goals, and projects without commits in 14 days. Flags issues in progress as stale after 7 days without activity. Updates the task list. Exits 0 even after failures, unless --strict is set.';
  static override flags = {
    of: of('Days in which to search for sessions, ending today (default: the last 24 hours)'),
    since: text({ description: 'The same as a duration.', hidden: true, exclusive: ['of'] }),
    'max-create': integer({
      helpValue: 'N',
      description: 'Maximum number of issues to create.',
      default: 50,
      min: 0,
      max: 500,
    }),
    'dry-run': dryRun('Show the plan without writing anything.'),
    strict: boolean({ description: 'Exit with an error code if something failed.' }),
  };
  static override examples = ['work sweep --dry-run', 'work sweep --of 30d --max-create 50'];
  static override related = ['work tasks regenerate', 'work status'];

  /** Exits 0 even for invalid flags, so that a scheduler doesn't disable the job. */
  override async execute(): Promise<void> {
    try {
      await super.execute();
    } catch (error) {
      const known = fromOclif(error, 'work sweep', Object.keys(WorkSweep.flags));
      const { message, result } = noSweep(this.context, flagsOf(this.argv), known);
      this.say(message);
      this.printDocument(result);
    }
  }

  async run(): Promise<SweepResult> {
    const { flags } = await this.parse(WorkSweep);
    const options = {
      sinceMs:
        flags.of === undefined
          ? parseDuration(flags.since ?? '24h')
          : this.context.clock.now() - (await this.latest(flags.of)).startMs,
      maxCreate: flags['max-create'],
      dryRun: flags['dry-run'],
    };
    const { result, trouble } = await withSteps('Sweeping', (onStep) =>
      runSweep(this.context, { ...options, onStep }),
    );
    for (const { step, message } of result.errors) this.say(`${step}: ${message}`);
    this.print(() => sweepText(result, flags['max-create']));
    if (flags.strict && trouble !== undefined) throw trouble;
    return result;
  }
}
