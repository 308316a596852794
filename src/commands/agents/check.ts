import { checkInvocations, type CheckReport } from '../../lib/agents/check';
import { checkText } from '../../lib/agents/view';
import { plannedInvocations } from '../../lib/agents/input';
import { agentSettings } from '../../lib/app/agents';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { EXIT_CODES } from '../../lib/errors';

export default class AgentsCheck extends BaseCommand {
  static override summary = 'Check planned agent invocations against the routing rules';
  static override description =
    'Lists each violation (such as a retired agent type or a missing model tier) and its fix. Exits 2 if a rule is broken. As a PreToolUse hook, blocks the call and shows the assistant the reason.';
  static override args = {
    file: word({ required: true, description: 'JSON or JSON Lines file, or "-" for stdin.' }),
  };
  static override examples = [
    'agents check planned.json',
    {
      description: 'Check the output of another program',
      command: 'agents check - --json < planned.jsonl',
    },
  ];
  static override related = ['agents route REQUEST', 'agents brief REQUEST'];

  async run(): Promise<CheckReport> {
    const { args } = await this.parse(AgentsCheck);
    const { types, named } = await agentSettings(this.context);
    const invocations = await plannedInvocations(args.file);
    const report = checkInvocations(
      invocations,
      types,
      named.map(({ slug }) => slug),
    );
    const fromHook = invocations.some(({ isCall }) => isCall);
    if (!report.ok || !fromHook) this.print(() => checkText(report, this.terminal));
    if (!report.ok) {
      // The assistant reads the reason for a blocked call from the hook's stderr.
      if (fromHook) this.say(checkText(report, { columns: 80, color: false }));
      process.exitCode = EXIT_CODES.usage;
    }
    return report;
  }
}
