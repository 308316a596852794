import { type Resource, listAll } from '../../../lib/agents/managed/client';
import { limit } from '../../../lib/cli/base-command';
import { ManagedCommand } from '../../../lib/cli/managed-command';
import { withManaged } from '../../../lib/cli/managed-client';

export default class AgentsManagedList extends ManagedCommand {
  static override summary = 'List your hosted agents';
  static override flags = {
    limit: limit('Maximum number of agents.', 100),
  };
  static override examples = ['agents managed list', 'agents managed list --limit 20 --json'];
  static override related = ['agents managed create', 'agents managed run'];

  async run(): Promise<Resource[]> {
    const { flags } = await this.parse(AgentsManagedList);
    const found = await withManaged(this.context, ({ deps }) => listAll(deps, 'agents', [], flags.limit));
    await this.list(found, 'No agents yet. Create one: steward agents managed create');
    return found;
  }
}
