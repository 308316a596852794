import type { Resource } from '../../../lib/agents/managed/client';
import { limit } from '../../../lib/cli/base-command';
import { ManagedCommand } from '../../../lib/cli/managed-command';

export default class AgentsManagedList extends ManagedCommand {
  static override summary = 'List your hosted agents';
  static override flags = {
    limit: limit('Maximum number of agents.', 100),
  };
  static override examples = ['agents managed list', 'agents managed list --limit 20 --json'];
  static override related = ['agents managed create', 'agents managed run'];

  async run(): Promise<Resource[]> {
    const { flags } = await this.parse(AgentsManagedList);
    const none = 'No agents yet. Create one: steward agents managed create';
    return this.listFirst('agents', { ...flags, none });
  }
}
