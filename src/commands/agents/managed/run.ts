import { BaseCommand, text, word, repeatable } from '../../../lib/cli/base-command';
import { messageOf } from '../../../lib/agents/input';
import { answerFlags, costFlag, given, hostOf, parseCost, policyOf, runHere } from '../../../lib/cli/managed';

export default class AgentsManagedRun extends BaseCommand {
  static override summary = 'Start a hosted session and follow it until the turn ends';
  static override description =
    'Ctrl-C detaches, but the session continues; reattach with "agents managed wake". A second Ctrl-C interrupts the agent. Exit codes: 0 turn ended; 6 waiting for an answer, refused or over budget; 8 failed; 130 interrupted. --json prints each event as a line of JSON.';
  static override args = {
    message: word({
      required: true,
      description: 'Message, @FILE, or @- for stdin.',
    }),
  };
  static override flags = {
    agent: text({ required: true, description: 'Agent id.', helpValue: 'ID' }),
    environment: text({ required: true, description: 'Environment id.', helpValue: 'ID' }),
    title: text({ description: 'Session title.', helpValue: 'TEXT' }),
    vault: repeatable('Id of a vault with credentials; repeatable.', 'ID'),
    'max-cost': costFlag,
    ...answerFlags,
  };
  static override examples = [
    'agents managed run --agent agent_01 --environment env_01 "Update the changelog"',
    'agents managed run --agent agent_01 --environment env_01 --max-cost 2 --allow all --json @task.md',
  ];
  static override related = ['agents managed wake', 'agents managed send', 'agents managed show'];

  async run(): Promise<undefined> {
    const { args, flags } = await this.parse(AgentsManagedRun);
    const { title, vault = [] } = flags;
    const [agent, environment] = [given('agent', flags.agent), given('environment', flags.environment)];
    const budget = parseCost(flags['max-cost']);
    const message = await messageOf(args.message);
    const input = { agent, environment, message, vaults: vault, title, budget };
    await runHere(hostOf(this.context, this.terminal, this.json), input, policyOf(flags));
    return undefined;
  }
}
