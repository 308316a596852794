import { BaseCommand } from '../../lib/cli/base-command';
import { retryCaptures } from '../../lib/app/capture';
import type { DrainResult } from '../../lib/sessions/spool';

export default class WorkRetry extends BaseCommand {
  static override summary = 'Send captures again that were given up.';
  static override description =
    'Takes every entry of state/spool/dead back into the queue, also those of another machine, and sends it. A capture becomes one issue, however often it is sent.';
  static override examples = ['<%= config.bin %> work retry', '<%= config.bin %> work retry --json'];
  static override related = ['status', 'work undo', 'notify retry ID'];

  async run(): Promise<DrainResult & { retried: number }> {
    await this.parse(WorkRetry);
    const result = await retryCaptures(this.context);
    const { retried, done, later, failed, dead } = result;
    this.print(() =>
      retried === 0
        ? 'Nothing to retry.'
        : `${retried} retried: ${done} sent, ${later + failed} waiting, ${dead} given up again`,
    );
    return result;
  }
}
