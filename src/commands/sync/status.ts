import { status } from '../../lib/setup/sync/change';
import { BaseCommand } from '../../lib/cli/base-command';
import { localTimes } from '../../lib/platform/time/day-words';
import type { SyncStatus } from '../../lib/sync/status';
import { statusText } from '../../lib/sync/view';

export default class SyncStatusCommand extends BaseCommand {
  static override summary = 'Show the machines in the exchange folder';
  static override description =
    'Shows when each machine was last seen and how many days it is behind. Lists conflict copies and unreadable files, which steward ignores. Writes nothing.';
  static override examples = ['sync status', 'sync status --json'];
  static override related = ['sync setup FOLDER', 'sync forget MACHINE', 'doctor sync'];

  async run(): Promise<SyncStatus> {
    const found = await status(this.context, true);
    const { timezone } = (await this.context.loadConfig()).config.user;
    const localTime = localTimes(this.context.clock, timezone);
    return this.show(found, () => statusText(found, localTime, this.terminal));
  }
}
