import { checkedId } from '../../../lib/agents/managed/event';
import { BaseCommand, boolean, word } from '../../../lib/cli/base-command';
import { hostOf, followHere } from '../../../lib/cli/managed';

export default class AgentsManagedStream extends BaseCommand {
  static override summary = "Show a session's events as they come, turn after turn, until it is over.";
  static override description =
    'Shows what was not shown yet, then what comes; it answers nothing. Ctrl-C ends it, and the session goes on. What a killed run had still to send is sent.';
  static override args = {
    session: word({ required: true, description: 'The id of the session.' }),
  };
  static override flags = {
    all: boolean({ description: 'From the first event on.' }),
  };
  static override examples = [
    '<%= config.bin %> agents managed stream sesn_01 --all',
    '<%= config.bin %> agents managed stream sesn_01 --json | jq .type',
  ];
  static override related = ['agents managed wake SESSION', 'agents managed send SESSION MESSAGE'];

  async run(): Promise<undefined> {
    const { args, flags } = await this.parse(AgentsManagedStream);
    const session = checkedId(args.session, 'a session');
    const host = hostOf(this.context, this.terminal, this.json);
    const options = { until: 'session' as const, policy: undefined, fromStart: flags.all, session };
    await followHere(host, options, () => Promise.resolve({ session }));
    return undefined;
  }
}
