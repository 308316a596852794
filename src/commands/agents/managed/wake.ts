import { wakeSession } from '../../../lib/agents/managed/sessions';
import { BaseCommand, word } from '../../../lib/cli/base-command';
import { messageOf } from '../../../lib/agents/input';
import {
  answerFlags,
  costFlag,
  hostOf,
  parseCost,
  policyOf,
  warnOfUncountedTokens,
  followHere,
} from '../../../lib/cli/managed';
import { sessionArg } from '../../../lib/cli/managed-client';

export default class AgentsManagedWake extends BaseCommand {
  static override summary = 'Resume a session and follow it until the turn ends';
  static override description =
    'Use this command after a crash, a lost connection or Ctrl-C. Shows missed events and sends unsent messages. To answer permission requests, use --allow or --deny, or answer on a terminal.';
  static override args = {
    session: sessionArg({ description: 'Session id (default: the last session used on this machine).' }),
    message: word({
      description: 'Message, @FILE, or @- for stdin.',
    }),
  };
  static override flags = { 'max-cost': costFlag, ...answerFlags };
  static override examples = ['agents managed wake', 'agents managed wake sesn_01 --allow bash'];
  static override related = [
    'agents managed stream SESSION',
    'agents managed show SESSION',
    'agents managed sessions',
  ];

  async run(): Promise<undefined> {
    const { args, flags } = await this.parse(AgentsManagedWake);
    const message = args.message === undefined ? undefined : await messageOf(args.message);
    const maxCost = parseCost(flags['max-cost']);
    const host = hostOf(this.context, this.terminal, this.json);
    const options = { until: 'turn' as const, policy: policyOf(flags), session: args.session, maxCost };
    await followHere(host, options, async (managed) => {
      warnOfUncountedTokens(host, maxCost);
      const resumed = await wakeSession(managed.deps, args.session, message);
      if (args.session === undefined) host.say(`Session ${resumed.session}`);
      return resumed;
    });
    return undefined;
  }
}
