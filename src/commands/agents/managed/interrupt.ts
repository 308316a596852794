import { sendInterrupt } from '../../../lib/agents/managed/send';
import { BaseCommand } from '../../../lib/cli/base-command';
import { hostedSession, withManaged } from '../../../lib/cli/managed-client';

export default class AgentsManagedInterrupt extends BaseCommand {
  static override summary = "Interrupt a session's agent";
  static override args = { session: hostedSession };
  static override examples = ['agents managed interrupt sesn_01', 'agents managed interrupt sesn_01 --json'];
  static override related = ['agents managed send SESSION MESSAGE', 'agents managed archive SESSION'];

  async run(): Promise<{ session: string; interrupted: true }> {
    const { session } = (await this.parse(AgentsManagedInterrupt)).args;
    await withManaged(this.context, ({ deps }) => sendInterrupt(deps, session));
    return this.show({ session, interrupted: true }, () => `Interrupted the agent in session ${session}.`);
  }
}
