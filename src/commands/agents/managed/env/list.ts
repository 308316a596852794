import type { Resource } from '../../../../lib/agents/managed/client';
import { limit } from '../../../../lib/cli/base-command';
import { ManagedCommand } from '../../../../lib/cli/managed-command';

export default class AgentsManagedEnvList extends ManagedCommand {
  static override summary = "List your hosted agents' environments";
  static override flags = {
    limit: limit('Maximum number of environments.', 100),
  };
  static override examples = ['agents managed env list', 'agents managed env list --limit 20 --json'];
  static override related = ['agents managed env create', 'agents managed run'];

  async run(): Promise<Resource[]> {
    const { flags } = await this.parse(AgentsManagedEnvList);
    const none = 'No environments yet. Create one: steward agents managed env create';
    return this.listFirst('environments', { ...flags, none });
  }
}
