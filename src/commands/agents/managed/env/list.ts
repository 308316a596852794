import { type Resource, listAll } from '../../../../lib/agents/managed/client';
import { resourcesText } from '../../../../lib/agents/managed/view';
import { BaseCommand, integer } from '../../../../lib/cli/base-command';
import { withManaged } from '../../../../lib/app/managed';

export default class AgentsManagedEnvList extends BaseCommand {
  static override summary = "List your hosted agents' environments";
  static override flags = {
    limit: integer({
      description: 'Maximum number of environments.',
      default: 100,
      min: 1,
      max: 10_000,
      helpValue: 'N',
    }),
  };
  static override examples = [
    '<%= config.bin %> agents managed env list',
    '<%= config.bin %> agents managed env list --limit 20 --json',
  ];
  static override related = ['agents managed env create', 'agents managed run'];

  async run(): Promise<Resource[]> {
    const { flags } = await this.parse(AgentsManagedEnvList);
    const found = await withManaged(this.context, ({ deps }) =>
      listAll(deps, 'environments', [], flags.limit),
    );
    const { config } = await this.context.loadConfig();
    return this.show(found, () =>
      resourcesText(found, 'No environments yet. Create one: steward agents managed env create', {
        ...this.terminal,
        zone: config.user.timezone,
      }),
    );
  }
}
