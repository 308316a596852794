import { BaseCommand, limit } from '../../lib/cli/base-command';
import { deadFolder } from '../../lib/notify/outbox';
import { deadReport, deadText } from '../../lib/platform/files/dead-letters';
import { openNotify } from '../../lib/app/notify';
import { readEntries, type HistoryEntry } from '../../lib/notify/history';
import { historyText } from '../../lib/notify/view';

export default class NotifyHistory extends BaseCommand {
  static override summary = 'Show recent notifications and their results';
  static override description =
    'Lists each notification, newest first, with its id, time, text and the channels that delivered it. Also shows why other channels did not deliver it.';
  static override flags = {
    limit: limit('Maximum number of notifications.', 20, 1000),
  };
  static override examples = [
    'notify history',
    {
      description: 'List the ids of expired notifications',
      command: `notify history --json | jq '.[] | select(.channels[].result == "expired").id'`,
    },
  ];
  static override related = ['notify retry ID', 'notify test'];

  async run(): Promise<HistoryEntry[]> {
    const { flags } = await this.parse(NotifyHistory);
    const { deps } = await openNotify(this.context);
    const found = readEntries(deps, flags.limit + 1);
    const entries = found.slice(0, flags.limit);
    this.print(() =>
      historyText(entries, {
        ...this.terminal,
        zone: deps.settings().zone,
        nowMs: deps.clock.now(),
        dead: deadText(deadReport(deadFolder(deps))),
      }),
    );
    this.sayIfCut(found, flags.limit);
    return entries;
  }
}
