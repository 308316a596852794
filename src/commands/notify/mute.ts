import { BaseCommand, word } from '../../lib/cli/base-command';
import { zonedNow } from '../../lib/app/context';
import { openMute } from '../../lib/app/notify';
import type { MuteState } from '../../lib/notify/routing';
import { untilText } from '../../lib/notify/view';

export default class NotifyMute extends BaseCommand {
  static override summary = 'Mute the voice and banner sounds';
  static override description =
    'Messages appear as silent banners. Push and chat are not affected. To be quiet every night, run `config set notify.quietHours 22:00-7:00`.';
  static override strict = false;
  static override args = {
    when: word({
      description: 'Time or duration, such as 1h or 14:00 (default: until `notify unmute`)',
    }),
  };
  static override examples = ['notify mute 1h', 'notify mute until 14:00', 'notify mute'];
  static override related = ['notify unmute', 'notify routes'];

  async run(): Promise<MuteState> {
    const { argv } = await this.parse(NotifyMute);
    const state = await openMute(this.context, argv.join(' '));
    const end =
      state.until === null ? '`steward notify unmute`' : untilText(state.until, await zonedNow(this.context));
    return this.show(state, () => `Muted until ${end}. Messages appear as silent banners.`);
  }
}
