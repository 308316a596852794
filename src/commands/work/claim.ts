import { BaseCommand, text, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { agentName } from '../../lib/work/label';
import { claimIssue, type ClaimResult } from '../../lib/work/claim';
import { claimText } from '../../lib/work/view-results';

export default class WorkClaim extends BaseCommand {
  static override summary = 'Take an issue, for yourself or an agent; of two at once exactly one gets it.';
  static override description =
    'Sets Agent:NAME and Status:in-progress, looks who was first, and takes Status:ready and Status:queued off. When somebody else holds it, the exit code is 6 and the error names them.';
  static override args = { number: issueNumber() };
  static override flags = {
    agent: text({
      description: 'The agent, as in its Agent: label; you when left out.',
      helpValue: 'NAME',
    }),
  };
  static override examples = [
    '<%= config.bin %> work claim 12',
    '<%= config.bin %> work claim 12 --agent kai',
    '<%= config.bin %> work claim 12 --agent kai --json',
  ];
  static override related = ['work ready', 'work close NUMBER --evidence TEXT'];

  async run(): Promise<ClaimResult> {
    const { args, flags } = await this.parse(WorkClaim);
    const { deps, user } = await openWork(this.context);
    const agent = flags.agent ?? agentName(user.principal.name ?? user.da.name);
    const result = await claimIssue(deps, { number: args.number, agent });
    return this.show(result, () => claimText(result));
  }
}
