import { word } from '../../lib/cli/base-command';

import { ConfigEdit, dryRunFlag, keyArg } from '../../lib/cli/config-edit';
import { setConfig, type SetResult } from '../../lib/config/set';

export default class ConfigSet extends ConfigEdit {
  static override summary = 'Set one key, in the file that owns it.';
  static override description =
    'The value is checked first; a list is replaced as a whole (`config add` and `config remove` change one item). Comments and other values of the file stay. Secrets may be given as env:NAME or file:PATH, so that they are in no file of steward and in no shell history.';
  static override args = {
    key: keyArg,
    value: word({
      required: true,
      description: 'The value; a list as a,b or as JSON.',
    }),
  };
  static override flags = { 'dry-run': dryRunFlag };
  static override examples = [
    '<%= config.bin %> config set sense.pollIntervalSec 60',
    '<%= config.bin %> config set notifications.push.topic file:~/.secrets/topic',
  ];
  static override related = ['config add', 'config unset', 'config show'];

  async run(): Promise<SetResult> {
    const { args, flags } = await this.parse(ConfigSet);
    return this.report(await setConfig(this.context, { ...args, dryRun: flags['dry-run'] }));
  }
}
