import type { Resource } from '../../../../lib/agents/managed/client';
import { environmentBody } from '../../../../lib/agents/managed/definition';
import { text, repeatable } from '../../../../lib/cli/base-command';
import { ManagedCommand } from '../../../../lib/cli/managed-command';
import { definitionFile } from '../../../../lib/agents/input';
import { createEnvironment, withManaged } from '../../../../lib/cli/managed-client';

export default class AgentsManagedEnvCreate extends ManagedCommand {
  static override summary = 'Create an environment: packages, networking and secrets for a cloud container';
  static override description =
    "The file uses the API's keys (name, config). Flags override the file. Pass secrets as references; steward sends their values but never prints them.";
  static override flags = {
    file: text({ char: 'f', description: 'YAML or JSON file, or "-" for stdin.', helpValue: 'FILE' }),
    name: text({ description: 'Environment name.', helpValue: 'NAME' }),
    description: text({ description: 'Environment description.', helpValue: 'TEXT' }),
    networking: text({
      helpGroup: 'CONFIG',
      description: 'Network access (default: unrestricted).',
      options: ['unrestricted', 'limited'],
    }),
    host: repeatable('Host to allow; repeatable. All other hosts are blocked.', 'HOST', 'CONFIG'),
    package: repeatable(
      'Package to install, as MANAGER:NAME (apt, cargo, gem, go, npm, pip); repeatable.',
      'MANAGER:NAME',
      'CONFIG',
    ),
    secret: repeatable('Secret, as NAME=env:VARIABLE or NAME=file:PATH; repeatable.', 'NAME=REF', 'CONFIG'),
  };
  static override examples = [
    'agents managed env create --name py --package pip:pandas --host pypi.org',
    'agents managed env create --file env.yaml --secret TOKEN=file:~/.secrets/token',
  ];
  static override related = ['agents managed env list', 'agents managed run'];

  async run(): Promise<Resource> {
    const { flags } = await this.parse(AgentsManagedEnvCreate);
    const { host: hosts, package: packages, secret: secrets } = flags;
    const wanted = { ...flags, hosts, packages, secrets };
    const environment = environmentBody(await definitionFile(flags.file), wanted);
    const created = await withManaged(this.context, (managed) => createEnvironment(managed, environment));
    await this.list([created]);
    return created;
  }
}
