import type { Channel } from './channel';
import { chatChannel, type ChatDeps } from './chat';
import { desktopChannel, type DesktopDeps } from './desktop';
import { pushChannel, type PushDeps } from './push';
import { smsChannel, type SmsDeps } from './sms';
import { voiceChannel, type VoiceDeps } from './voice';

export interface ChannelsDeps {
  voice: VoiceDeps;
  desktop: DesktopDeps;
  push: PushDeps;
  chat: ChatDeps;
  sms: SmsDeps;
}

/** Every channel, in the order in which they are shown. */
export function allChannels(deps: ChannelsDeps): Channel[] {
  return [
    voiceChannel(deps.voice),
    desktopChannel(deps.desktop),
    pushChannel(deps.push),
    chatChannel(deps.chat),
    smsChannel(deps.sms),
  ];
}
