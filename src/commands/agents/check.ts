import { checkInvocations, type CheckReport } from '../../lib/agents/check';
import { checkText } from '../../lib/agents/view';
import { plannedInvocations } from '../../lib/agents/input';
import { agentSettings } from '../../lib/app/agents';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { EXIT_CODES } from '../../lib/platform/terminal/error-report';

export default class AgentsCheck extends BaseCommand {
  static override summary = 'Check planned agent invocations against the routing rules.';
  static override description =
    'Names each rule they break: a bare type for a custom agent, a retired or unknown type, no model tier, a subagent that speaks, a managed agent for short, interactive or local work, the same brief twice, parallel work without a spotcheck. Exits 2 when a rule is broken: as the hook before a tool call that stops the call, and the assistant reads why.';
  static override args = {
    file: word({ required: true, description: 'JSON or JSON lines; - for stdin.' }),
  };
  static override examples = [
    '<%= config.bin %> agents check planned.json',
    {
      description: 'From another program',
      command: '<%= config.bin %> agents check - --json < planned.jsonl',
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
    // That a call is sound is nothing to tell an assistant at each of them.
    if (!report.ok || !fromHook) this.print(() => checkText(report, this.terminal));
    if (!report.ok) {
      // What a hook gives an assistant to read is its stderr.
      if (fromHook) this.say(checkText(report, { columns: 80, color: false }));
      process.exitCode = EXIT_CODES.usage;
    }
    return report;
  }
}
