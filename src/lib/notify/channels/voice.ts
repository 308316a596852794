import type { Clock } from '../../platform/time/clock';
import type { Voice } from '../speech/voice';
import type { Channel } from './channel';

export interface VoiceDeps {
  clock: Clock;
  voice: Pick<Voice, 'isOff' | 'status'> & { speech: Pick<Voice['speech'], 'say'> };
  /** Is the voice muted now? What was accepted before the mute is shown, too. */
  muted: () => boolean;
}

/** What waited longer is no news that anybody wants to hear (decisions.md 5). */
const STALE_MS = 60_000;

/** The voice: a text that cannot be spoken, whatever the reason, is shown. */
export function voiceChannel(deps: VoiceDeps): Channel {
  return {
    id: 'voice',
    off() {
      if (!deps.voice.isOff()) return undefined;
      return { reason: 'switched off', hint: deps.voice.status().hint ?? '' };
    },
    trouble() {
      const { reason, hint } = deps.voice.status();
      return reason === undefined ? undefined : { reason: `${reason}.`, hint: hint ?? '' };
    },
    prepare: () => Promise.resolve(),
    async send(parcel) {
      if (deps.muted()) return { outcome: 'show', reason: 'muted' };
      // A time from the future was written by a clock that was put back since: it has waited, too.
      if (Math.abs(deps.clock.now() - parcel.acceptedMs) > STALE_MS) {
        return { outcome: 'show', reason: 'it waited for longer than a minute' };
      }
      const { message: text, voiceId } = parcel;
      const spoken = await deps.voice.speech.say(voiceId === undefined ? { text } : { text, voiceId });
      return spoken.spoken
        ? { outcome: 'delivered' }
        : { outcome: 'show', reason: spoken.reason ?? 'it could not be spoken' };
    },
  };
}
