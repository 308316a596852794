import { BaseCommand } from '../../lib/cli/base-command';
import { table } from '../../lib/platform/terminal/format';
import { configPlaces, type ConfigPlaces } from '../../lib/config/set';

export default class ConfigPath extends BaseCommand {
  static override summary = 'Print where the configuration is, and which of its files exist.';
  static override description =
    'The folder is $STEWARD_HOME, ~/.steward where that is not set. Each key lives in one file; a file that does not exist means defaults.';
  static override examples = [
    '<%= config.bin %> config path',
    { description: 'The folder alone', command: '<%= config.bin %> config path | head -n 1' },
  ];
  static override related = ['config show', 'config set'];

  async run(): Promise<ConfigPlaces> {
    await this.parse(ConfigPath);
    const places = configPlaces(this.context.area);
    this.print(() => {
      const rows = places.files.map((file) => [file.path, file.exists ? 'exists' : 'not there: defaults']);
      return `${places.userArea}\n${table(rows)}`;
    });
    return places;
  }
}
