import { parseCount, parseEffort, requestOf } from '../../lib/agents/input';
import { explainRoute, isIdle, type Considered, type Decision } from '../../lib/agents/routing';
import { routeText } from '../../lib/agents/view';
import { agentSettings } from '../../lib/app/agents';
import { BaseCommand, boolean, text, word } from '../../lib/cli/base-command';

export default class AgentsRoute extends BaseCommand {
  static override summary = 'Decide which kind of worker a request goes to, and say why.';
  static override description =
    'A table of rules decides, in order; nothing is launched and no model is asked. Without REQUEST it reads stdin: a text, or the hook JSON of an assistant, whose prompt it takes; then it says nothing where nothing is to be delegated. The type names are those of agents.types; named agents are those of the roster.';
  static override args = {
    request: word({ description: 'What is to be done, in quotes.' }),
  };
  static override flags = {
    effort: text({ description: 'How much it is worth: E1 to E5.', helpValue: 'E3' }),
    count: text({ description: 'So many agents, each with its own brief.', helpValue: 'N' }),
    explain: boolean({ description: 'Show what each rule said.' }),
  };
  static override examples = [
    '<%= config.bin %> agents route "research the history of tea"',
    '<%= config.bin %> agents route "custom agents to review the plan" --count 3 --json',
    {
      description: 'Why, rule by rule',
      command: '<%= config.bin %> agents route "run it overnight" --explain',
    },
  ];
  static override related = ['agents brief REQUEST', 'agents check FILE', 'agents roster list'];

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
