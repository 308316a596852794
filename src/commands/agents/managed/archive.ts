import type { Resource } from '../../../lib/agents/managed/client';
import { archiveSession } from '../../../lib/agents/managed/sessions';
import { BaseCommand } from '../../../lib/cli/base-command';
import { hostedSession, withManaged } from '../../../lib/cli/managed-client';

export default class AgentsManagedArchive extends BaseCommand {
  static override summary = 'Archive a session without deleting its logs';
  static override args = { session: hostedSession };
  static override examples = ['agents managed archive sesn_01', 'agents managed archive sesn_01 --json'];
  static override related = ['agents managed interrupt SESSION', 'agents managed sessions'];

  async run(): Promise<Resource> {
    const { args } = await this.parse(AgentsManagedArchive);
    const archived = await withManaged(this.context, ({ deps }) => archiveSession(deps, args.session));
    return this.show(archived, () => `Archived ${args.session}.`);
  }
}
