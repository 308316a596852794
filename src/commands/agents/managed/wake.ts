import { checkedId } from '../../../lib/agents/managed/event';
import { wakeSession } from '../../../lib/agents/managed/sessions';
import { BaseCommand, word } from '../../../lib/cli/base-command';
import { messageOf } from '../../../lib/agents/input';
import {
  answerFlags,
  costFlag,
  hostOf,
  parseCost,
  policyOf,
  tellOfPrices,
  followHere,
} from '../../../lib/cli/managed';

export default class AgentsManagedWake extends BaseCommand {
  static override summary = 'Go on with a session where its reader stopped, to the end of the turn.';
  static override description =
    'After a crash, a lost connection or Ctrl-C: shows each event that was not shown yet, once, in order, sends what was not sent yet, and answers what the agent waits for (on a terminal it asks). Without SESSION it is the one that was used last here, or a run that was killed before it knew its session.';
  static override args = {
    session: word({ description: 'The id of the session.' }),
    message: word({
      description: 'A message to send then: text, @FILE, or @- for stdin.',
    }),
  };
  static override flags = { 'max-cost': costFlag, ...answerFlags };
  static override examples = [
    '<%= config.bin %> agents managed wake',
    '<%= config.bin %> agents managed wake sesn_01 --allow bash',
  ];
  static override related = [
    'agents managed stream SESSION',
    'agents managed show SESSION',
    'agents managed sessions',
  ];

  async run(): Promise<undefined> {
    const { args, flags } = await this.parse(AgentsManagedWake);
    const session = args.session === undefined ? undefined : checkedId(args.session, 'a session');
    const message = args.message === undefined ? undefined : await messageOf(args.message);
    const maxCost = parseCost(flags['max-cost']);
    const host = hostOf(this.context, this.terminal, this.json);
    const options = {
      until: 'turn' as const,
      policy: policyOf(flags),
      session,
      ...(maxCost === undefined ? {} : { maxCost }),
    };
    await followHere(host, options, async (managed) => {
      tellOfPrices(host, managed, maxCost);
      const woken = await wakeSession(managed.deps, session, message);
      if (session === undefined) host.say(`Session ${woken.session}`);
      return woken;
    });
    return undefined;
  }
}
