import { BaseCommand } from '../../lib/cli/base-command';

export default class ConfigPath extends BaseCommand {
  static override summary = 'Print where the configuration files are.';
  static override description =
    'Each key lives in one of them. The folder is $STEWARD_HOME, ~/.steward where that is not set.';
  static override examples = [
    '<%= config.bin %> config path',
    { description: 'Open the main one', command: '$EDITOR "$(<%= config.bin %> config path | head -n 1)"' },
  ];
  static override related = ['config show', 'config set'];

  async run(): Promise<{ config: string; settings: string; sense: string; classify: string }> {
    await this.parse(ConfigPath);
    const { area } = this.context;
    const paths = {
      config: area.config,
      settings: area.settings,
      sense: area.sense.config,
      classify: area.sense.classify,
    };
    this.print(() => Object.values(paths).join('\n'));
    return paths;
  }
}
