import { relative } from 'node:path';

import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { palette, table } from '../../lib/platform/terminal/format';
import { shownConfig, valueWords, type ShownValue } from '../../lib/config/set';
import { clean } from '../../lib/platform/terminal/terminal';

export default class ConfigShow extends BaseCommand {
  static override summary = 'Show the settings that differ from the defaults, and where they come from';
  static override description =
    'Files override defaults, and the environment overrides files. For secrets, shows only whether they are set. If a file is invalid, lists its problems and exits 3.';
  static override flags = { all: boolean({ description: 'Also show the keys that have their default.' }) };
  static override examples = [
    'config show',
    {
      description: 'List the names of all keys',
      command: "config show --all --json | jq '.values[].key'",
    },
  ];
  static override related = ['config set', 'config path'];

  async run(): Promise<{ userArea: string; values: ShownValue[]; warnings: string[] }> {
    const { flags } = await this.parse(ConfigShow);
    const loaded = await this.context.loadConfig();
    const values = shownConfig(loaded).filter(({ source }) => flags.all || source !== 'default');
    const { neutral } = palette(this.terminal);
    this.print(() =>
      table(
        values.map(({ key, value, source, from }) => [
          key,
          neutral(source === 'file' ? relative(this.context.area.root, from ?? '') : (from ?? source)),
          clean(valueWords(value)),
        ]),
      ),
    );
    if (!flags.all) this.say('All other keys have their defaults; --all shows them.');
    for (const warning of loaded.warnings) this.say(`warning: ${clean(warning)}`);
    return { userArea: this.context.area.root, values, warnings: loaded.warnings };
  }
}
