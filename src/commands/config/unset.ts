import { ConfigEdit, keyArg } from '../../lib/cli/config-edit';
import { unsetConfig, type SetResult } from '../../lib/config/set';

export default class ConfigUnset extends ConfigEdit {
  static override summary = 'Reset a key to its default';
  static override description = 'Removes the key from its file, preserving comments.';
  static override args = { key: keyArg };
  static override examples = [
    'config unset sense.pollIntervalSec',
    'config unset notify.quietHours --dry-run',
  ];
  static override related = ['config set', 'config show'];

  async run(): Promise<SetResult> {
    const { args, flags } = await this.parse(ConfigUnset);
    const result = await unsetConfig(this.context, { ...args, dryRun: flags['dry-run'] });
    return this.report(result, 'already has its default,');
  }
}
