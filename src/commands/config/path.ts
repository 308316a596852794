import { BaseCommand } from '../../lib/cli/base-command';
import { table } from '../../lib/platform/terminal/format';
import { configPlaces, type ConfigPlaces } from '../../lib/config/set';

export default class ConfigPath extends BaseCommand {
  static override summary = 'Print the paths of the configuration files';
  static override description =
    'The folder is $STEWARD_HOME (default: ~/.steward). Each key belongs to one file. If a file is missing, its keys use their defaults.';
  static override examples = [
    'config path',
    { description: 'Print only the folder', command: 'config path | head -n 1' },
  ];
  static override related = ['config show', 'config set'];

  async run(): Promise<ConfigPlaces> {
    const places = configPlaces(this.context.area);
    this.print(() => {
      const rows = places.files.map((file) => [file.path, file.exists ? 'exists' : 'missing: defaults']);
      return `${places.userArea}\n${table(rows)}`;
    });
    return places;
  }
}
