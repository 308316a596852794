import { BaseCommand } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { deliverWaiting } from '../../lib/notify/deliver';
import { outboxStatus, type OutboxStatus } from '../../lib/notify/outbox';

export default class NotifyDeliver extends BaseCommand {
  static override hidden = true;
  static override summary = 'Deliver the notifications in the outbox';
  static override description =
    '`notify send` starts this command if the daemon is not running. Exits when no delivery is due within a minute. Only one process delivers at a time.';
  static override examples = ['notify deliver', 'notify deliver --json'];
  static override related = ['notify send', 'notify history'];

  async run(): Promise<OutboxStatus & { busy: boolean }> {
    const { deps } = await openNotify(this.context);
    const delivered = await deliverWaiting(deps, { patienceMs: 60_000, longestMs: 600_000 });
    const status = outboxStatus(deps);
    return this.show({ ...status, busy: !delivered }, () =>
      delivered ? `${status.waiting} waiting in the outbox` : 'Another process is delivering the outbox.',
    );
  }
}
