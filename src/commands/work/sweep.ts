import { BaseCommand, boolean, integer, text } from '../../lib/cli/base-command';
import { fromOclif } from '../../lib/cli/usage-errors';
import { flagsOf } from '../../lib/cli/resolve';
import { withSteps } from '../../lib/platform/terminal/progress';
import { noSweep, runSweep } from '../../lib/app/sweep';
import { parseDuration } from '../../lib/platform/time/day-words';
import type { SweepResult } from '../../lib/work/sweep';
import { sweepText } from '../../lib/work/view-results';

export default class WorkSweep extends BaseCommand {
  static override summary = 'Catch up with what the hooks have missed, and flag what stands still.';
  static override description =
    'Sessions without an issue, issues in progress that nobody touched for seven days, projects without a commit in 14 days, active goals without an issue; then the task list. It exits 0 whatever happens, and says what failed; --strict gives the real code.';
  static override flags = {
    since: text({
      description: 'How far back sessions are looked for.',
      default: '24h',
      helpValue: '24h|7d',
    }),
    'max-create': integer({
      helpValue: 'N',
      description: 'Create so many issues at most.',
      default: 50,
      min: 0,
      max: 500,
    }),
    'dry-run': boolean({
      default: false,
      description: 'Print what would be done, and send nothing that writes.',
    }),
    strict: boolean({ description: 'Give the real exit code when something failed.' }),
  };
  static override examples = [
    '<%= config.bin %> work sweep --dry-run',
    '<%= config.bin %> work sweep --since 30d --max-create 50',
  ];
  static override related = ['work tasks regenerate', 'work status'];

  /** Also a mistake in the flags is said and exits 0: a scheduler is not to give up what the next run may do. */
  override async execute(): Promise<void> {
    try {
      await super.execute();
    } catch (error) {
      const known = fromOclif(error, 'work sweep', Object.keys(WorkSweep.flags));
      const { said, result } = noSweep(this.context, flagsOf(this.argv), known);
      this.say(said);
      this.printDocument(result);
    }
  }

  async run(): Promise<SweepResult> {
    const { flags } = await this.parse(WorkSweep);
    const options = {
      sinceMs: parseDuration(flags.since),
      maxCreate: flags['max-create'],
      dryRun: flags['dry-run'],
    };
    const { result, trouble } = await withSteps('Sweep', (onStep) =>
      runSweep(this.context, { ...options, onStep }),
    );
    for (const { step, message } of result.errors) this.say(`${step}: ${message}`);
    this.print(() => sweepText(result, flags.since, flags['max-create']));
    if (flags.strict && trouble !== undefined) throw trouble;
    return result;
  }
}
