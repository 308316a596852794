import { word } from '../../lib/cli/base-command';

import { ConfigEdit, keyArg } from '../../lib/cli/config-edit';
import { addToConfig, type SetResult } from '../../lib/config/set';

export default class ConfigAdd extends ConfigEdit {
  static override summary = 'Add an item to a list in the configuration';
  static override description =
    'Preserves other items and comments. Adding an existing item changes nothing. Repositories must exist; their absolute paths are stored.';
  static override args = {
    key: keyArg,
    value: word({
      required: true,
      description: 'Item to add, such as the path of a repository.',
    }),
  };
  static override examples = [
    'config add sense.repos ~/src/site',
    'config add notifications.routing.error desktop',
  ];
  static override related = ['config remove', 'config get', 'config set'];

  async run(): Promise<SetResult> {
    const { args, flags } = await this.parse(ConfigAdd);
    const result = await addToConfig(this.context, { ...args, dryRun: flags['dry-run'] });
    return this.report(result, 'already has this item:');
  }
}
