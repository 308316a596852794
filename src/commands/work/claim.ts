import { BaseCommand, text, issueNumber } from '../../lib/cli/base-command';
import { openWork, yourName } from '../../lib/app/work';
import { claimIssue, type ClaimResult } from '../../lib/work/claim';
import { claimText } from '../../lib/work/view-results';

export default class WorkClaim extends BaseCommand {
  static override summary = 'Claim an issue for yourself or an agent';
  static override description =
    'Adds Agent:NAME and Status:in-progress, and removes Status:ready and Status:queued. Of two simultaneous claims, exactly one succeeds; the other exits 6 and shows who claimed the issue.';
  static override args = { number: issueNumber() };
  static override flags = {
    agent: text({
      description: 'Agent name for the "Agent:" label (default: principal.name, or your GitHub login).',
      helpValue: 'NAME',
    }),
  };
  static override examples = [
    'work claim 12',
    'work claim 12 --agent kai',
    'work claim 12 --agent kai --json',
  ];
  static override related = ['work ready', 'work close NUMBER --evidence TEXT'];

  async run(): Promise<ClaimResult> {
    const { args, flags } = await this.parse(WorkClaim);
    const work = await openWork(this.context);
    const agent = flags.agent ?? (await yourName(work));
    const result = await claimIssue(work.deps, { number: args.number, agent });
    return this.show(result, () => claimText(result));
  }
}
