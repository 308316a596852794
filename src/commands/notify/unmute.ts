import { BaseCommand } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { unmute } from '../../lib/notify/routing';

export default class NotifyUnmute extends BaseCommand {
  static override summary = 'Let the voice be heard again.';
  static override description = 'Takes back `notify mute`. What was shown meanwhile is not spoken later.';
  static override examples = ['<%= config.bin %> notify unmute', '<%= config.bin %> notify unmute --json'];
  static override related = ['notify mute', 'notify routes'];

  async run(): Promise<{ muted: false; was: boolean }> {
    await this.parse(NotifyUnmute);
    const { deps } = await openNotify(this.context);
    const was = unmute(deps).muted;
    this.print(() => (was ? 'The voice is heard again.' : 'It was not muted.'));
    return { muted: false, was };
  }
}
