import { readRoster, type Roster } from '../../../lib/agents/roster';
import { rosterText } from '../../../lib/agents/view';
import { openRoster } from '../../../lib/app/agents';
import { BaseCommand } from '../../../lib/cli/base-command';

export default class AgentsRosterList extends BaseCommand {
  static override summary = 'List the named agents in your roster';
  static override examples = ['agents roster list', `agents roster list --json | jq '.agents[].slug'`];
  static override related = ['agents roster show NAME', 'agents roster add NAME', 'agents roster check'];

  async run(): Promise<Roster> {
    const deps = openRoster(this.context);
    const { agents, problems } = await readRoster(deps);
    this.print(() => rosterText({ agents, problems }, deps.folder, this.terminal));
    return { agents, problems };
  }
}
