import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { StewardError } from '../../lib/errors';
import { testChannels, type TestResult } from '../../lib/notify/channels/channel';
import { testText } from '../../lib/notify/view';

export default class NotifyTest extends BaseCommand {
  static override summary = 'Send a test message through each channel';
  static override description =
    'Tries each channel once, ignoring mute and quiet hours, and shows how to fix those that fail.';
  static override flags = {
    strict: boolean({ description: 'Fail if a configured channel does not work' }),
  };
  static override examples = [
    'notify test',
    {
      description: 'List the failed channels',
      command: `notify test --json | jq -r '.[] | select(.state == "failed") | .channel'`,
    },
  ];
  static override related = ['notify routes', 'notify send', 'config set KEY VALUE'];

  async run(): Promise<TestResult[]> {
    const { flags } = await this.parse(NotifyTest);
    const { deps } = await openNotify(this.context);
    const results = await testChannels(deps);
    this.print(() =>
      testText(results, { ...this.terminal, zone: deps.settings().zone, nowMs: deps.clock.now() }),
    );
    const failed = results.filter(({ state }) => state === 'failed').map(({ channel }) => channel);
    if (!flags.strict || failed.length === 0) return results;
    throw new StewardError('unavailable', `Channels failed: ${failed.join(', ')}.`, {
      hint: 'Run `steward notify test` without --strict to see the fix.',
    });
  }
}
