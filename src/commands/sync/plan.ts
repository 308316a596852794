import { plan } from '../../lib/setup/sync/change';
import { BaseCommand, text } from '../../lib/cli/base-command';
import { planText, type SyncPlan } from '../../lib/sync/view';

export default class SyncPlanCommand extends BaseCommand {
  static override summary = 'List exactly what would be published';
  static override description =
    'Lists the files that the next run will write or remove, with their sizes. --show prints one file exactly as it would be published. Writes nothing.';
  static override flags = {
    show: text({ description: 'Print this file, such as daily/2026-11-20.json.', helpValue: 'PATH' }),
  };
  static override examples = [
    '<%= config.bin %> sync plan',
    '<%= config.bin %> sync plan --show machine.json',
  ];
  static override related = ['sync set FOLDER', 'sync details off', 'sync status'];

  async run(): Promise<SyncPlan | { path: string; text: string }> {
    const { flags } = await this.parse(SyncPlanCommand);
    const { plan: planned, text: shown } = await plan(this.context, flags.show);
    if (shown === undefined || flags.show === undefined)
      return this.show(planned, () => planText(planned, this.terminal));
    this.printUnfolded(() => shown);
    return { path: flags.show, text: shown };
  }
}
