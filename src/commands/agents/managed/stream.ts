import { BaseCommand, boolean } from '../../../lib/cli/base-command';
import { hostOf, followHere } from '../../../lib/cli/managed';
import { hostedSession } from '../../../lib/cli/managed-client';

export default class AgentsManagedStream extends BaseCommand {
  static override summary = "Show a session's events until the session ends";
  static override description =
    'Shows missed events, then new ones. Also sends messages that an interrupted run left unsent, but does not answer questions. Ctrl-C stops the command, not the session.';
  static override args = { session: hostedSession };
  static override flags = {
    all: boolean({ description: 'Show all events from the beginning.' }),
  };
  static override examples = [
    'agents managed stream sesn_01 --all',
    'agents managed stream sesn_01 --json | jq .type',
  ];
  static override related = ['agents managed wake SESSION', 'agents managed send SESSION MESSAGE'];

  async run(): Promise<undefined> {
    const { args, flags } = await this.parse(AgentsManagedStream);
    const host = hostOf(this.context, this.terminal, this.json);
    const options = { until: 'session' as const, policy: undefined, fromStart: flags.all, ...args };
    await followHere(host, options, () => Promise.resolve(args));
    return undefined;
  }
}
