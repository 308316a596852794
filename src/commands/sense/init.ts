import { BaseCommand } from '../../lib/cli/base-command';
import { setUpSense } from '../../lib/app/sense';
import type { InitResult } from '../../lib/sense/store';

export default class SenseInit extends BaseCommand {
  static override hidden = true;
  static override summary = 'Write the default sense configuration';
  static override description = 'Does not overwrite an existing configuration. Captures nothing.';
  static override examples = ['sense init', 'sense init --json'];
  static override related = ['sense capture', 'config add sense.repos PATH', 'sense status'];

  async run(): Promise<InitResult> {
    const result = await setUpSense(this.context);
    return this.show(result, () =>
      result.created
        ? `Set up. The settings are in ${result.config}`
        : `${result.config} already exists and is unchanged.`,
    );
  }
}
