import { forget } from '../../lib/setup/sync/change';
import { BaseCommand, boolean, word } from '../../lib/cli/base-command';

export default class SyncForget extends BaseCommand {
  static override summary = 'Delete what another machine has published';
  static override description =
    'Use this command for a machine that you no longer have. Without --yes, only shows what would be deleted. A machine that is still publishing reappears on its next run.';
  static override args = {
    machine: word({ required: true, description: 'Machine id or name, from `sync status`.' }),
  };
  static override flags = { yes: boolean({ char: 'y', description: 'Delete the files.' }) };
  static override examples = ['sync forget old-laptop', 'sync forget 0123456789ab --yes'];
  static override related = ['sync status', 'sync leave --remove'];

  async run() {
    const { args, flags } = await this.parse(SyncForget);
    const result = await forget(this.context, args.machine, !flags.yes);
    this.print(
      () =>
        `${result.dryRun ? 'Would remove' : 'Removed'} ${result.path}${result.name === null ? '' : ` (${result.name})`}`,
    );
    if (result.dryRun) this.say('Nothing was removed. Add --yes to remove the files.');
    return result;
  }
}
