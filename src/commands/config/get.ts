import { BaseCommand } from '../../lib/cli/base-command';
import { keyArg } from '../../lib/cli/config-edit';
import { plainValue, shownKey, type ShownValue } from '../../lib/config/set';

export default class ConfigGet extends BaseCommand {
  static override summary = 'Print the value of one key, for scripts';
  static override description =
    'Prints the items of a list one per line, and nothing if the key is not set. For a secret, prints only whether it is set. --json adds the source of the value.';
  static override args = { key: keyArg };
  static override examples = [
    'config get timezone',
    { description: 'Print the tracked repositories', command: 'config get sense.repos' },
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
