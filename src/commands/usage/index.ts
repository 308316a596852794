import { BaseCommand, boolean, machine, ofOr, text } from '../../lib/cli/base-command';
import { openUsage } from '../../lib/app/usage';
import { openUsageReport } from '../../lib/app/yield';
import { EXIT_CODES } from '../../lib/errors';
import { collectUsage } from '../../lib/usage/collect';
import { budgetStates, budgetTexts, denial, limiting, type BudgetState } from '../../lib/usage/budgets';
import { GROUPINGS, type Grouping, type Usage } from '../../lib/usage/rollup';
import { readPipedStdin } from '../../lib/platform/process/stdin';
import { writeStdout } from '../../lib/platform/terminal/stdio';
import { usageCsv, usageText } from '../../lib/usage/view';
import type { Yield } from '../../lib/usage/yield';

/** Delay before the progress message, in ms. */
const SLOW_MS = 1000;
/** A hook's call may contain what an agent is to do. */
const MAX_CALL_BYTES = 16 * 1024 * 1024;

export default class UsageCommand extends BaseCommand {
  static override summary = "Show your assistants' token usage, cost and limits";
  static override description =
    "Reads your assistants' local logs and fetches nothing. Stores only numbers, ids, models, repositories and times. Unknown prices are never 0.";
  static override flags = {
    by: text({ description: 'How to group the rows.', options: [...GROUPINGS, 'commit'], default: 'day' }),
    of: ofOr('last 7 days', 'Days'),
    csv: boolean({ description: 'Print the rows as CSV.', exclusive: ['json'] }),
    machine,
    check: boolean({
      description: 'Exit with 6 if a budget is used up; show the budgets.',
      exclusive: ['by', 'of', 'csv', 'machine'],
    }),
    hook: boolean({ description: 'With --check, print a denial for a hook.', dependsOn: ['check'] }),
  };
  static override examples = ['usage --by repo --of "last month"', 'usage --by model --csv > usage.csv'];
  static override related = ['week', 'sessions', 'statusline'];

  async run(): Promise<Usage | Yield | BudgetState[] | undefined> {
    const { flags } = await this.parse(UsageCommand);
    if (flags.check) return this.check(flags.hook);
    const slow = setTimeout(() => this.say("Reading your assistants' logs…"), SLOW_MS);
    const period = await this.period(flags.of);
    const words = { by: flags.by as Grouping | 'commit', period, machine: flags.machine };
    const report = await openUsageReport(this.context, words).finally(() => clearTimeout(slow));
    const shown = report.made ?? report.usage;
    if (flags.csv) {
      this.printUnfolded(() => usageCsv(report));
      for (const note of shown.notes ?? []) this.say(note);
    } else this.print(() => usageText(report, this.terminal));
    return shown;
  }

  private async check(isHook: boolean): Promise<BudgetState[] | undefined> {
    const { deps } = await openUsage(this.context);
    if (deps.enabled) await collectUsage(deps);
    const states = await budgetStates(deps);
    const over = states.filter(({ percent }) => percent >= 100);
    if (isHook) {
      const call = await readPipedStdin(MAX_CALL_BYTES);
      const limits = await limiting(over, call?.bytes.toString() ?? '', deps);
      // A hook gets its answer also with --json.
      if (limits.length > 0) writeStdout(`${denial(limits)}\n`);
      return undefined;
    }
    if (over.length > 0) process.exitCode = EXIT_CODES.conflict;
    return this.show(states, () => budgetTexts(states).join('\n') || 'No budget is set (usage.budgets).');
  }
}
