import { BaseCommand, word } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { mute, type MuteState } from '../../lib/notify/routing';
import { untilText } from '../../lib/notify/view';
import { parseDuration } from '../../lib/platform/time/day-words';

export default class NotifyMute extends BaseCommand {
  static override summary = 'Mute the voice and banner sounds';
  static override description = 'Messages appear as silent banners. Push and chat are not affected.';
  static override args = {
    duration: word({
      description: 'Duration, such as 1h (default: until `notify unmute`)',
    }),
  };
  static override examples = ['notify mute 1h', 'notify mute'];
  static override related = ['notify unmute', 'notify routes'];

  async run(): Promise<MuteState> {
    const { args } = await this.parse(NotifyMute);
    const forMs = args.duration === undefined ? undefined : parseDuration(args.duration);
    const { deps } = await openNotify(this.context);
    const state = mute(deps, forMs);
    const moment = { zone: deps.settings().zone, nowMs: deps.clock.now() };
    const end = state.until === null ? '`steward notify unmute`' : untilText(state.until, moment);
    this.print(() => `Muted until ${end}. Messages appear as silent banners.`);
    return state;
  }
}
