import { BaseCommand, word } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import type { ChannelId } from '../../lib/notify/events';
import { retry } from '../../lib/notify/history';

export default class NotifyRetry extends BaseCommand {
  static override summary = 'Retry a notification on the channels that did not deliver it';
  static override description =
    'Retries each failed or pending channel now, and skips channels that already delivered the notification.';
  static override args = {
    id: word({ description: 'Notification id from `notify history`', required: true }),
  };
  static override examples = [
    'notify retry 20261120T080000123Z-0123456789ab',
    {
      description: 'Retry the last expired notification',
      command: `<%= config.bin %> notify retry "$(<%= config.bin %> notify history --json | jq -r 'first(.[] | select(.channels[].result == "expired")).id')"`,
    },
  ];
  static override related = ['notify history', 'notify test'];

  async run(): Promise<{ id: string; channels: ChannelId[] }> {
    const { args } = await this.parse(NotifyRetry);
    const { deps, deliverLater } = await openNotify(this.context);
    const channels = retry(deps, args.id).map(({ channel }) => channel);
    deliverLater();
    return this.show({ id: args.id, channels }, () => `Retrying ${args.id} on ${channels.join(', ')}.`);
  }
}
