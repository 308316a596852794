import { publishNow } from '../../lib/app/sync';
import { exchangeNow } from '../../lib/app/sync-git';
import { BaseCommand } from '../../lib/cli/base-command';
import { plural } from '../../lib/platform/terminal/format';
import { localTimes } from '../../lib/platform/time/day-words';
import { status } from '../../lib/setup/sync/change';
import { noFolder } from '../../lib/sync/folder';

export default class SyncNow extends BaseCommand {
  static override summary = "Publish this machine's news and read the others' at once";
  static override description =
    'Publishes to the exchange folder. With git, also fetches and pushes. Then shows when the news of each other machine was written.';
  static override examples = ['sync now', 'sync now --json'];
  static override related = ['sync status', 'sync connect ENGINE'];

  async run() {
    const done = await publishNow(this.context);
    if (done === undefined) throw noFolder();
    const received = await exchangeNow(this.context);
    const { machines } = await status(this.context, false);
    const { timezone } = (await this.context.loadConfig()).config.user;
    const localTime = localTimes(this.context.clock, timezone);
    const others = machines.filter(({ isThis }) => !isThis);
    const result = {
      /** Number of files written or removed in the exchange folder. */
      published: done.files,
      machines: others.map(({ id, name, lastSeen }) => ({ id, name, lastSeen })),
    };
    return this.show(result, () =>
      [
        `Published ${plural(done.files, 'changed file')}.`,
        ...others.map(
          ({ id, name, lastSeen }) =>
            `${name}: ${received.includes(id) ? 'new, ' : ''}written ${localTime(lastSeen)}`,
        ),
      ].join('\n'),
    );
  }
}
