import { BaseCommand } from '../../lib/cli/base-command';
import { SENSE_VERSION } from '../../lib/time/event';

export default class SenseVersion extends BaseCommand {
  static override hidden = true;
  static override summary = 'Print the version of the sense component';
  static override description =
    'The version changes when an adapter or the format of events or records changes. Each stored record contains the version.';
  static override examples = ['sense version', 'sense version --json'];
  static override related = ['sense status', '--version'];

  async run(): Promise<{ version: string }> {
    return this.show({ version: SENSE_VERSION }, () => SENSE_VERSION);
  }
}
