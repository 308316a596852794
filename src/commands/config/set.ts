import { word } from '../../lib/cli/base-command';

import { ConfigEdit, keyArg } from '../../lib/cli/config-edit';
import { setConfig, type SetResult } from '../../lib/config/set';

export default class ConfigSet extends ConfigEdit {
  static override summary = 'Set a configuration key';
  static override description =
    'Validates the value and writes it to config.yaml, preserving comments. To change one item of a list, use `config add` or `config remove`. To keep a secret out of your shell history, set it as env:NAME or file:PATH.';
  static override args = {
    key: keyArg,
    value: word({
      required: true,
      description: 'New value; separate list items with commas, or use JSON.',
    }),
  };
  static override examples = [
    'config set sense.pollIntervalSec 60',
    'config set notifications.push.topic file:~/.secrets/topic',
  ];
  static override related = ['config add', 'config unset', 'config show'];

  async run(): Promise<SetResult> {
    const { args, flags } = await this.parse(ConfigSet);
    return this.report(await setConfig(this.context, { ...args, dryRun: flags['dry-run'] }));
  }
}
