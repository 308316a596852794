import { parseCount, parseEffort, requestOf } from '../../lib/agents/input';
import { explainRoute, isIdle, type Considered, type Decision } from '../../lib/agents/routing';
import { routeText } from '../../lib/agents/view';
import { agentSettings } from '../../lib/app/agents';
import { BaseCommand, boolean, text, word } from '../../lib/cli/base-command';

export default class AgentsRoute extends BaseCommand {
  static override summary = 'Show which kind of agent should handle a request, and why';
  static override description =
    'The first matching rule decides; no model is called and no agent is launched. Without REQUEST, reads text or hook JSON from stdin. For hook JSON, prints nothing unless the request should be delegated.';
  static override args = {
    request: word({ description: 'The request, in quotes (default: stdin).' }),
  };
  static override flags = {
    effort: text({ description: 'Effort level, E1 to E5.', helpValue: 'E3' }),
    count: text({ description: 'Number of agents, each with its own brief.', helpValue: 'N' }),
    explain: boolean({ description: 'Show the result of each rule.' }),
  };
  static override examples = [
    'agents route "research the history of tea"',
    'agents route "custom agents to review the plan" --count 3 --json',
    'agents route "run it overnight" --explain',
  ];
  static override related = ['agents brief REQUEST', 'agents roster list'];

  async run(): Promise<Decision & { considered?: Considered[] }> {
    const { args, flags } = await this.parse(AgentsRoute);
    const effort = flags.effort === undefined ? undefined : parseEffort(flags.effort);
    const count = flags.count === undefined ? undefined : parseCount(flags.count);
    const settings = await agentSettings(this.context);
    const { request, fromHook } = await requestOf(args.request);
    const { decision, considered } = explainRoute(request, { ...settings, effort, count });
    if (flags.explain || !isIdle(decision, fromHook))
      this.print(() => routeText(decision, this.terminal, flags.explain ? considered : []));
    return flags.explain ? { ...decision, considered } : decision;
  }
}
