import { BaseCommand } from '../../lib/cli/base-command';
import { keyArg } from '../../lib/cli/config-edit';
import { plainValue, shownKey, type ShownValue } from '../../lib/config/set';

export default class ConfigGet extends BaseCommand {
  static override summary = 'Print the value of one key, for scripts.';
  static override description =
    'A list is printed one item a line, and a key that is not set as nothing. A secret only says whether it is set. With --json also where the value comes from.';
  static override args = { key: keyArg };
  static override examples = [
    '<%= config.bin %> config get timezone',
    { description: 'Each repository that is watched', command: '<%= config.bin %> config get sense.repos' },
  ];
  static override related = ['config show', 'config set'];

  async run(): Promise<ShownValue> {
    const { args } = await this.parse(ConfigGet);
    const shown = await shownKey(await this.context.loadConfig(), args.key);
    const text = plainValue(shown.value);
    if (text !== '') this.printUnfolded(() => text);
    return shown;
  }
}
