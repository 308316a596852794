import { word } from '../../lib/cli/base-command';

import { ConfigEdit, dryRunFlag, keyArg } from '../../lib/cli/config-edit';
import { setConfig, type SetResult } from '../../lib/config/set';

export default class ConfigSet extends ConfigEdit {
  static override summary = 'Set a configuration key';
  static override description =
    'Checks the value and writes it to the file that owns the key; comments are kept. A list is replaced as a whole; to change one item, use `config add` or `config remove`. Set secrets as env:NAME or file:PATH to keep them out of your shell history.';
  static override args = {
    key: keyArg,
    value: word({
      required: true,
      description: 'New value; write a list as a,b or JSON.',
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
