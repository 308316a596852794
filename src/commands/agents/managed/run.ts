import { BaseCommand, text, word } from '../../../lib/cli/base-command';
import { messageOf } from '../../../lib/agents/input';
import { answerFlags, costFlag, given, hostOf, parseCost, policyOf, runHere } from '../../../lib/cli/managed';

export default class AgentsManagedRun extends BaseCommand {
  static override summary = 'Start a hosted session with a message, and follow it to the end of the turn.';
  static override description =
    'With --json each event is printed as a line of JSON, once, in the order of the log. Exit code: 0 the turn ended, 6 it waits for an answer, was refused or is out of budget, 8 it failed, 130 interrupted. Ctrl-C detaches and the session goes on ("agents managed wake" goes on showing it); a second one interrupts the agent.';
  static override args = {
    message: word({
      required: true,
      description: 'The message, @FILE, or @- for stdin.',
    }),
  };
  static override flags = {
    agent: text({ required: true, description: 'The id of the agent.', helpValue: 'ID' }),
    environment: text({ required: true, description: 'The id of the environment.', helpValue: 'ID' }),
    title: text({ description: 'A title for the session.', helpValue: 'TEXT' }),
    vault: text({
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
    const budget = parseCost(flags['max-cost']);
    const message = await messageOf(args.message);
    const named = { ...(title === undefined ? {} : { title }), ...(budget === undefined ? {} : { budget }) };
    const input = { agent, environment, message, vaults: vault, ...named };
    await runHere(hostOf(this.context, this.terminal, this.json), input, policyOf(flags));
    return undefined;
  }
}
