import { BaseCommand } from '../../lib/cli/base-command';
import { captureDeps } from '../../lib/app/capture';
import { retryCaptures, type RetryResult } from '../../lib/work/capture/deliver';
import { retryText } from '../../lib/work/view-results';

export default class WorkRetry extends BaseCommand {
  static override summary = 'Retry failed captures';
  static override description =
    'Resends every capture in state/spool/dead, including those from other machines. Resending never creates a duplicate issue.';
  static override examples = ['work retry', 'work retry --json'];
  static override related = ['status', 'work undo', 'notify retry ID'];

  async run(): Promise<RetryResult> {
    const result = await retryCaptures(await captureDeps(this.context));
    return this.show(result, () => retryText(result));
  }
}
