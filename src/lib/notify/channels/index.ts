import type { Check } from '../../platform/check';
import type { NotifyChecked } from './channel';
import type { Channel, ChannelDeps } from './channel';
import { chatChannel, chatCheck } from './chat';
import { desktopChannel, desktopCheck } from './desktop';
import { pushChannel, pushCheck } from './push';
import { smsChannel } from './sms';
import { terminalChannel, terminalCheck } from './terminal';
import { telegramChannel, telegramCheck } from './telegram';
import { voiceChannel, voiceCheck } from './voice';

/** All channels and their doctor checks, in display order. */
const CHANNELS: readonly { make: (deps: ChannelDeps) => Channel; check?: Check<NotifyChecked> }[] = [
  { make: voiceChannel, check: voiceCheck },
  { make: desktopChannel, check: desktopCheck },
  { make: terminalChannel, check: terminalCheck },
  { make: pushChannel, check: pushCheck },
  { make: chatChannel, check: chatCheck },
  { make: telegramChannel, check: telegramCheck },
  { make: smsChannel },
];

export const CHANNEL_CHECKS = CHANNELS.flatMap(({ check }) => check ?? []);

export function allChannels(deps: ChannelDeps): Channel[] {
  return CHANNELS.map(({ make }) => make(deps));
}
