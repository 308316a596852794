import { sessionReport } from '../../../lib/agents/managed/sessions';
import { sessionText, type SessionReport } from '../../../lib/agents/managed/view';
import { BaseCommand } from '../../../lib/cli/base-command';
import { hostedSession, withManaged } from '../../../lib/cli/managed-client';

export default class AgentsManagedShow extends BaseCommand {
  static override summary = "Show a session's status, cost and pending questions";
  static override args = { session: hostedSession };
  static override examples = [
    'agents managed show sesn_01',
    'agents managed show sesn_01 --json | jq .cost.totalUsd',
  ];
  static override related = ['agents managed wake SESSION', 'agents managed sessions'];

  async run(): Promise<SessionReport> {
    const { args } = await this.parse(AgentsManagedShow);
    const report = await withManaged(this.context, (managed) => sessionReport(managed, args.session));
    return this.show(report, () => sessionText(report));
  }
}
