import { BaseCommand } from '../lib/cli/base-command';
import { offerSync } from '../lib/setup/sync/places';
import { EXIT_CODES } from '../lib/errors';
import { overview, overviewText, type Overview } from '../lib/setup/status';

export default class Status extends BaseCommand {
  static override summary = 'Show the state of every part and the next steps';
  static override description =
    'Reads local files and queries the daemon; does not use the network. Exits 3 if the configuration is invalid, otherwise 0.';
  static override examples = [
    'status',
    {
      description: 'List the parts that need attention, for a script',
      command: `status --json | jq -r '.parts[] | select(.state == "warning" or .state == "failed") | .id'`,
    },
  ];
  static override related = ['init', 'sense status', 'work status', 'daemon status', 'hooks status'];

  async run(): Promise<Overview> {
    const result = await overview(this.context);
    if (result.parts.some(({ id }) => id === 'configuration')) process.exitCode = EXIT_CODES.config;
    const offer = this.json ? undefined : await offerSync(this.context);
    return this.show(result, () => overviewText(result, this.terminal, offer));
  }
}
