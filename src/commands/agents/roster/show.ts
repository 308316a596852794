import { rosterEntry, type RosterEntry } from '../../../lib/agents/roster';
import { agentText } from '../../../lib/agents/view';
import { BaseCommand, word } from '../../../lib/cli/base-command';

export default class AgentsRosterShow extends BaseCommand {
  static override summary = "Show a named agent's role, traits and persona";
  static override args = {
    name: word({ required: true, description: "The agent's name or file name." }),
  };
  static override examples = ['agents roster show ada', 'agents roster show ada --json'];
  static override related = ['agents roster list', 'agents route REQUEST'];

  async run(): Promise<RosterEntry> {
    const { args } = await this.parse(AgentsRosterShow);
    const agent = await rosterEntry(this.context.area.agents, args.name);
    return this.show(agent, () => agentText(agent, this.terminal));
  }
}
