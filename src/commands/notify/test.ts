import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { StewardError } from '../../lib/errors';
import { testChannels, type TestResult } from '../../lib/notify/channels/channel';
import { testText } from '../../lib/notify/view';

export default class NotifyTest extends BaseCommand {
  static override summary = 'Send a test message over each channel, and say what came of it.';
  static override description =
    'Each channel is tried once, now, whatever mute and quiet hours say. What does not work is named with what to do about it.';
  static override flags = {
    strict: boolean({ description: 'Fail when a channel that is set up does not work.' }),
  };
  static override examples = [
    '<%= config.bin %> notify test',
    {
      description: 'The channels that do not work, for a script',
      command: `<%= config.bin %> notify test --json | jq -r '.[] | select(.state == "failed") | .channel'`,
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
    throw new StewardError('unavailable', `Not every channel works: ${failed.join(', ')}.`, {
      hint: 'Run `steward notify test` without --strict: it says what to do.',
    });
  }
}
