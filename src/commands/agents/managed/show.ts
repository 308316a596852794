import { checkedId } from '../../../lib/agents/managed/event';
import { sessionReport } from '../../../lib/agents/managed/sessions';
import { sessionText, type SessionReport } from '../../../lib/agents/managed/view';
import { BaseCommand, word } from '../../../lib/cli/base-command';
import { withManaged } from '../../../lib/cli/managed-client';

export default class AgentsManagedShow extends BaseCommand {
  static override summary = "Show a session's status, cost and pending questions";
  static override args = {
    session: word({ required: true, description: 'Session id.' }),
  };
  static override examples = [
    'agents managed show sesn_01',
    'agents managed show sesn_01 --json | jq .cost.totalUsd',
  ];
  static override related = ['agents managed wake SESSION', 'agents managed sessions'];

  async run(): Promise<SessionReport> {
    const { args } = await this.parse(AgentsManagedShow);
    const session = checkedId(args.session, 'a session');
    const report = await withManaged(this.context, (managed) => sessionReport(managed, session));
    return this.show(report, () => sessionText(report));
  }
}
