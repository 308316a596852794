import { BaseCommand } from '../../lib/cli/base-command';
import { captureNow } from '../../lib/app/sense';
import type { CaptureResult } from '../../lib/sense/capture';
import { captureText } from '../../lib/sense/view-status';

export default class SenseCapture extends BaseCommand {
  static override summary = 'Capture the frontmost application, new commits and assistant sessions now';
  static override description =
    'Stores only names and times, never titles or content. Also builds missing records for past days, and creates the configuration if it does not exist.';
  static override examples = ['sense capture', 'sense capture --json'];
  static override related = ['sense today', 'sense status', 'config set sense.enabled false'];

  async run(): Promise<CaptureResult> {
    const { deps, warnings, result, isEnabled } = await captureNow(this.context);
    if (isEnabled) await this.publish(result);
    for (const problem of [...warnings, ...result.problems]) this.say(problem);
    return this.show(result, () =>
      captureText(result, { timezone: deps.timezone, columns: this.terminal.columns }),
    );
  }

  private async publish({ problems }: CaptureResult): Promise<void> {
    const { publishAfter } = await import('../../lib/app/sync');
    const problem = await publishAfter(this.context);
    if (problem !== undefined) problems.push(problem);
  }
}
