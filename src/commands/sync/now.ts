import { publishNow } from '../../lib/app/sync';
import { exchangeNow } from '../../lib/app/sync-git';
import { BaseCommand } from '../../lib/cli/base-command';
import { localTimes } from '../../lib/platform/time/day-words';
import { status } from '../../lib/setup/sync/change';
import { noFolder } from '../../lib/sync/folder';
import { newsOf, newsText } from '../../lib/sync/view';

export default class SyncNow extends BaseCommand {
  static override summary = "Publish this machine's news and read the others' at once";
  static override description =
    'With git, fetches first. Then takes over shared settings, publishes, and with git pushes. Says what was published and what came since the last time.';
  static override examples = ['sync now', 'sync now --json'];
  static override related = ['sync status', 'sync connect ENGINE'];

  async run() {
    const changed: string[] = [];
    const wasSent = await exchangeNow(this.context);
    const done = await publishNow(this.context, (paths) => changed.push(...paths));
    if (done === undefined) throw noFolder();
    const isSent = done.files > 0 && (await exchangeNow(this.context));
    const { machines } = await status(this.context, false);
    const { timezone } = (await this.context.loadConfig()).config.user;
    const localTime = localTimes(this.context.clock, timezone);
    const news = machines.map((machine) => newsOf(machine, changed));
    const result = {
      /** Number of files written or removed in the exchange folder. */
      published: done.files,
      /** With git, whether anything was pushed. */
      pushed: wasSent || isSent,
      machines: news.filter(({ isThis }) => !isThis),
    };
    return this.show(result, () => newsText(news, result.pushed, localTime));
  }
}
