import { sendInterrupt } from '../../../lib/agents/managed/send';
import { checkedId } from '../../../lib/agents/managed/event';
import { BaseCommand, word } from '../../../lib/cli/base-command';
import { withManaged } from '../../../lib/cli/managed-client';

export default class AgentsManagedInterrupt extends BaseCommand {
  static override summary = "Interrupt a session's agent";
  static override args = {
    session: word({ required: true, description: 'Session id.' }),
  };
  static override examples = ['agents managed interrupt sesn_01', 'agents managed interrupt sesn_01 --json'];
  static override related = ['agents managed send SESSION MESSAGE', 'agents managed archive SESSION'];

  async run(): Promise<{ session: string; interrupted: true }> {
    const { args } = await this.parse(AgentsManagedInterrupt);
    const session = checkedId(args.session, 'a session');
    await withManaged(this.context, ({ deps }) => sendInterrupt(deps, session));
    this.print(() => `Interrupted the agent in session ${session}.`);
    return { session, interrupted: true };
  }
}
