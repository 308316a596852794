import { string as textArg } from '@oclif/core/args';
import { string } from '@oclif/core/flags';

import { pruneSessions } from '../../../lib/agents/managed/retention';
import { startSession } from '../../../lib/agents/managed/start';
import { BaseCommand } from '../../../lib/cli/base-command';
import { messageOf } from '../../../lib/cli/managed-context';
import {
  answerFlags,
  costFlag,
  given,
  hostOf,
  parseCost,
  policyOf,
  tellOfPrices,
} from '../../../lib/cli/managed-flags';
import { followHere } from '../../../lib/cli/managed-follow';

export default class AgentsManagedRun extends BaseCommand {
  static override summary = 'Start a hosted session with a message, and follow it to the end of the turn.';
  static override description =
    'With --json each event is printed as a line of JSON, once, in the order of the log. Exit code: 0 the turn ended, 6 it waits for an answer, was refused or is out of budget, 8 it failed, 130 interrupted. Ctrl-C detaches and the session goes on ("agents managed wake" goes on showing it); a second one interrupts the agent.';
  static override args = {
    message: textArg({
      required: true,
      ignoreStdin: true,
      description: 'The message, @FILE, or @- for stdin.',
    }),
  };
  static override flags = {
    agent: string({ required: true, description: 'The id of the agent.', helpValue: 'ID' }),
    environment: string({ required: true, description: 'The id of the environment.', helpValue: 'ID' }),
    title: string({ description: 'A title for the session.', helpValue: 'TEXT' }),
    vault: string({
      description: 'The id of a vault with credentials.',
      helpValue: 'ID',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'max-cost': costFlag,
    ...answerFlags,
  };
  static override examples = [
    '<%= config.bin %> agents managed run --agent agent_01 --environment env_01 "Update the changelog"',
    '<%= config.bin %> agents managed run --agent agent_01 --environment env_01 --max-cost 2 --allow all --json @task.md',
  ];
  static override related = ['agents managed wake', 'agents managed send', 'agents managed show'];

  async run(): Promise<undefined> {
    const { args, flags } = await this.parse(AgentsManagedRun);
    const { title, vault = [] } = flags;
    const [agent, environment] = [given('agent', flags.agent), given('environment', flags.environment)];
    const maxCost = parseCost(flags['max-cost']);
    const message = await messageOf(args.message);
    const budget = maxCost === undefined ? {} : { maxCost };
    const options = { until: 'turn' as const, policy: policyOf(flags), ...budget };
    const host = hostOf(this.context, this.terminal, this.json);
    await followHere(host, options, async (managed) => {
      tellOfPrices(host, managed, maxCost);
      pruneSessions(managed.folder, managed.retentionDays, this.context.clock.now());
      const named = title === undefined ? {} : { title };
      const limit = maxCost === undefined ? {} : { budget: maxCost };
      const input = { agent, environment, message, vaults: vault, ...named, ...limit };
      const session = await startSession(managed.deps, input);
      host.say(`Session ${session}`);
      return { session };
    });
    return undefined;
  }
}
