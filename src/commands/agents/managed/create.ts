import { agentBody } from '../../../lib/agents/managed/definition';
import type { Resource } from '../../../lib/agents/managed/client';
import { boolean, text } from '../../../lib/cli/base-command';
import { ManagedCommand } from '../../../lib/cli/managed-command';
import { definitionFile, textOrFile } from '../../../lib/agents/input';
import { withManaged } from '../../../lib/cli/managed-client';

export default class AgentsManagedCreate extends ManagedCommand {
  static override summary = 'Create a hosted agent from flags or a YAML file';
  static override description =
    "The file uses the API's keys (name, model, system, tools, …). Flags override the file. If no tools are listed, the agent gets the standard toolset.";
  static override flags = {
    file: text({ char: 'f', description: 'YAML or JSON file, or "-" for stdin.', helpValue: 'FILE' }),
    name: text({ description: 'Agent name.', helpValue: 'NAME' }),
    model: text({ description: 'Model id.', helpValue: 'MODEL' }),
    system: text({ description: 'System prompt, or @FILE.', helpValue: 'TEXT' }),
    description: text({ description: 'Agent description.', helpValue: 'TEXT' }),
    'no-tools': boolean({ description: 'Create the agent without tools.' }),
  };
  static override examples = [
    'agents managed create --name reviewer --model claude-sonnet-4-5 --system @reviewer.md',
    'agents managed create --file agent.yaml --json',
  ];
  static override related = ['agents managed list', 'agents managed env create', 'agents managed run'];

  async run(): Promise<Resource> {
    const { flags } = await this.parse(AgentsManagedCreate);
    const { name, model, description } = flags;
    const system = flags.system === undefined ? undefined : await textOrFile(flags.system);
    const texts = { name, model, description, system, noTools: flags['no-tools'] };
    const body = agentBody(await definitionFile(flags.file), texts);
    const agent = await withManaged(this.context, ({ client }) => client.create('agents', body));
    await this.list([agent]);
    return agent;
  }
}
