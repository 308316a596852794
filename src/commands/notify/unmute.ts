import { BaseCommand } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { unmute } from '../../lib/notify/routing';

export default class NotifyUnmute extends BaseCommand {
  static override summary = 'Unmute the voice and banner sounds';
  static override description = 'Ends `notify mute`. Messages from the muted period are not spoken later.';
  static override examples = ['notify unmute', 'notify unmute --json'];
  static override related = ['notify mute', 'notify routes'];

  async run(): Promise<{ muted: false; was: boolean }> {
    const { deps } = await openNotify(this.context);
    const was = unmute(deps).muted;
    return this.show({ muted: false, was }, () => (was ? 'Unmuted.' : 'The voice was not muted.'));
  }
}
