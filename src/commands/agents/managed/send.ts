import { sendInput, type SendResult } from '../../../lib/agents/managed/send';
import { BaseCommand, boolean, word, repeatable } from '../../../lib/cli/base-command';
import { messageOf, textOrFile } from '../../../lib/agents/input';
import { hostedSession, withManaged } from '../../../lib/cli/managed-client';
import { answerFlags, followHere, hostOf, policyOf } from '../../../lib/cli/managed';

export default class AgentsManagedSend extends BaseCommand {
  static override summary = 'Send a message, tool result or permission decision to a session';
  static override description =
    'Never sends a message twice: after a lost response or a crash, steward checks the session before resending the message.';
  static override args = {
    session: hostedSession,
    message: word({ description: 'Message, @FILE, or @- for stdin.' }),
  };
  static override flags = {
    'tool-result': repeatable('Result of a custom tool, as ID=TEXT or ID=@FILE; repeatable.', 'ID=@FILE'),
    'tool-error': boolean({ description: 'Mark the tool results as errors.', dependsOn: ['tool-result'] }),
    follow: boolean({ description: 'Follow the session until the turn ends.' }),
    ...answerFlags,
  };
  static override examples = [
    'agents managed send sesn_01 "Also look at the tests"',
    'agents managed send sesn_01 --tool-result toolu_01=@answer.json --follow',
  ];
  static override related = ['agents managed wake SESSION', 'agents managed interrupt SESSION'];

  async run(): Promise<SendResult | undefined> {
    const { args, flags } = await this.parse(AgentsManagedSend);
    const message = args.message === undefined ? undefined : await messageOf(args.message);
    const { session } = args;
    const policy = policyOf(flags);
    const toolResults = flags['tool-result'] ?? [];
    const input = { session, message, policy, toolResults, areErrors: flags['tool-error'], read: textOrFile };
    if (flags.follow) {
      const host = hostOf(this.context, this.terminal, this.json);
      await followHere(host, { until: 'turn', policy, session }, async ({ deps }) => {
        const { sent } = await sendInput(deps, input);
        return { session, sent };
      });
      return undefined;
    }
    const result = await withManaged(this.context, ({ deps }) => sendInput(deps, input));
    return this.show(result, () =>
      `Sent ${result.sent.length === 0 ? '' : result.sent.join(', ')}`.trimEnd(),
    );
  }
}
