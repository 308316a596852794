import type { Resource } from '../../../lib/agents/managed/client';
import { limit, text } from '../../../lib/cli/base-command';
import { ManagedCommand } from '../../../lib/cli/managed-command';

export default class AgentsManagedSessions extends ManagedCommand {
  static override summary = 'List hosted sessions, newest first';
  static override flags = {
    agent: text({ description: "Only this agent's sessions.", helpValue: 'ID' }),
    status: text({
      description: 'Only sessions with this status.',
      options: ['idle', 'running', 'rescheduling', 'terminated'],
      multiple: true,
    }),
    limit: limit('Maximum number of sessions.', 20),
  };
  static override examples = [
    'agents managed sessions --status running',
    'agents managed sessions --agent agent_01 --json',
  ];
  static override related = ['agents managed show SESSION', 'agents managed wake SESSION'];

  async run(): Promise<Resource[]> {
    const { flags } = await this.parse(AgentsManagedSessions);
    const query: [string, string][] = [
      ['order', 'desc'],
      ...(flags.agent === undefined ? [] : [['agent_id', flags.agent] as [string, string]]),
      ...(flags.status ?? []).map((status): [string, string] => ['statuses[]', status]),
    ];
    return this.listFirst('sessions', { query, limit: flags.limit, none: 'No sessions.' });
  }
}
