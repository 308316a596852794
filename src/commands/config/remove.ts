import { word } from '../../lib/cli/base-command';

import { ConfigEdit, keyArg } from '../../lib/cli/config-edit';
import { removeFromConfig, type SetResult } from '../../lib/config/set';

export default class ConfigRemove extends ConfigEdit {
  static override summary = 'Remove an item from a list in the configuration';
  static override description = 'Preserves other items and comments.';
  static override args = {
    key: keyArg,
    value: word({ required: true, description: 'Item to remove.' }),
  };
  static override examples = [
    'config remove sense.repos ~/src/site',
    'config remove sense.exclude Slack --dry-run',
  ];
  static override related = ['config add', 'config get', 'config set'];

  async run(): Promise<SetResult> {
    const { args, flags } = await this.parse(ConfigRemove);
    return this.report(await removeFromConfig(this.context, { ...args, dryRun: flags['dry-run'] }));
  }
}
