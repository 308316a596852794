import { BaseCommand } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { EXIT_CODES } from '../../lib/errors';
import { isInteractive, confirm } from '../../lib/platform/terminal/ask';
import { maySpeak, storeMaySpeak } from '../../lib/notify/consent';
import { testChannels, type TestResult } from '../../lib/notify/channels/channel';
import { testText } from '../../lib/notify/view';

export default class NotifyTest extends BaseCommand {
  static override summary = 'Send a test message through each channel';
  static override description =
    'Tries each channel once, ignoring mute and quiet hours, and shows how to fix those that fail. Exits with 8 if a configured channel fails. Then asks once whether steward may speak when something happens.';
  static override examples = [
    'notify test',
    {
      description: 'List the failed channels',
      command: `notify test --json | jq -r '.[] | select(.state == "failed") | .channel'`,
    },
  ];
  static override related = ['notify routes', 'notify send', 'config set KEY VALUE'];

  async run(): Promise<TestResult[]> {
    const { deps } = await openNotify(this.context);
    const results = await testChannels(deps);
    this.print(() =>
      testText(results, { ...this.terminal, zone: deps.settings().zone, nowMs: deps.clock.now() }),
    );
    if (results.some(({ channel, state }) => channel === 'voice' && state === 'ok')) await this.askToSpeak();
    if (results.some(({ state }) => state === 'failed')) process.exitCode = EXIT_CODES.unavailable;
    return results;
  }

  private async askToSpeak(): Promise<void> {
    const path = this.context.area.maySpeak;
    if (this.json || !isInteractive() || maySpeak(path) !== undefined) return;
    storeMaySpeak(path, await confirm('May steward speak when something happens?'));
  }
}
