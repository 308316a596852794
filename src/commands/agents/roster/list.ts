import { readRoster, type Roster } from '../../../lib/agents/roster';
import { rosterText } from '../../../lib/agents/view';
import { BaseCommand } from '../../../lib/cli/base-command';
import { EXIT_CODES } from '../../../lib/errors';

export default class AgentsRosterList extends BaseCommand {
  static override summary = 'List the named agents in your roster, and the problems of their files';
  static override description = 'Exits 3 if an agent cannot be used.';
  static override examples = ['agents roster list', `agents roster list --json | jq '.agents[].slug'`];
  static override related = ['agents roster show NAME', 'agents roster add NAME', 'agents roster traits'];

  async run(): Promise<Roster> {
    const folder = this.context.area.agents;
    const { agents, problems } = await readRoster(folder);
    this.print(() => rosterText({ agents, problems }, folder, this.terminal));
    if (problems.some(({ level }) => level === 'error')) process.exitCode = EXIT_CODES.config;
    return { agents, problems };
  }
}
