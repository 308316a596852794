import { BaseCommand } from '../../lib/cli/base-command';
import { table } from '../../lib/platform/terminal/format';
import { CONFIG, CONFIG_FILES } from '../../lib/config/files';
import { exists } from '../../lib/platform/files/folder';

export default class ConfigPath extends BaseCommand {
  static override summary = 'Print the path of the configuration file';
  static override description =
    'Settings are in config.yaml in $STEWARD_HOME (default: ~/.steward). Also lists the other files that are read: state, and settings of earlier versions.';
  static override examples = [
    'config path',
    { description: 'Print only the folder', command: 'config path | head -n 1' },
  ];
  static override related = ['config show', 'config set'];

  async run(): Promise<{ userArea: string; exists: boolean; files: { path: string; exists: boolean }[] }> {
    const { area } = this.context;
    const files = CONFIG_FILES.map((file) => {
      const path = file.path(area);
      return { name: file.name, path, exists: exists(path) };
    }).filter(({ name, exists }) => exists || name === CONFIG.name);
    const rows = files.map((file) => [file.path, file.exists ? 'exists' : 'missing: defaults']);
    return this.show(
      { userArea: area.root, exists: exists(area.root), files },
      () => `${area.root}\n${table(rows)}`,
    );
  }
}
