import type { Resource } from '../../../lib/agents/managed/client';
import { checkedId } from '../../../lib/agents/managed/event';
import { archiveSession } from '../../../lib/agents/managed/sessions';
import { BaseCommand, word } from '../../../lib/cli/base-command';
import { withManaged } from '../../../lib/cli/managed-client';

export default class AgentsManagedArchive extends BaseCommand {
  static override summary = 'Archive a session without deleting its logs';
  static override args = {
    session: word({ required: true, description: 'Session id.' }),
  };
  static override examples = ['agents managed archive sesn_01', 'agents managed archive sesn_01 --json'];
  static override related = ['agents managed interrupt SESSION', 'agents managed sessions'];

  async run(): Promise<Resource> {
    const { args } = await this.parse(AgentsManagedArchive);
    const session = checkedId(args.session, 'a session');
    const archived = await withManaged(this.context, ({ deps }) => archiveSession(deps, session));
    this.print(() => `Archived ${session}.`);
    return archived;
  }
}
