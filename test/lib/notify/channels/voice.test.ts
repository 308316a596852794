import { expect } from 'chai';

import { voiceChannel } from '../../../../src/lib/notify/channels/voice';
import type { Utterance } from '../../../../src/lib/notify/speech/queue';
import { MINUTE, NINE, parcel } from '../../../helpers/notify';
import { voiceThat } from '../../../helpers/speech';

describe('notify: the voice as a channel', () => {
  let said: Utterance[];
  let muted: boolean;
  let nowMs: number;
  beforeEach(() => {
    said = [];
    muted = false;
    nowMs = NINE;
  });

  const channel = voiceChannel({
    clock: { now: () => nowMs, monotonic: () => 0 },
    voice: voiceThat((utterance) => {
      said.push(utterance);
      return Promise.resolve({ spoken: true, engine: 'test' });
    }),
    muted: () => muted,
  });
  const send = (more: Parameters<typeof parcel>[0] = {}) => channel.send(parcel(more), () => undefined);

  it('speaks the message with the requested voice', async () => {
    expect(await send({ title: 'Build', voiceId: 'v-1' })).to.deep.equal({ outcome: 'delivered' });
    await send();
    expect(said).to.deep.equal([
      { text: 'The build is done.', voiceId: 'v-1' },
      { text: 'The build is done.' },
    ]);
  });

  it('shows a banner if it was muted since', async () => {
    muted = true;
    expect(await send()).to.deep.equal({ outcome: 'show', reason: 'muted' });
    expect(said).to.deep.equal([]);
  });

  it('shows a banner if the message is older than a minute', async () => {
    nowMs = NINE + MINUTE;
    expect(await send()).to.include({ outcome: 'delivered' });
    for (const ms of [MINUTE + 1, -MINUTE - 1]) {
      nowMs = NINE + ms;
      expect(await send()).to.include({ outcome: 'show' });
    }
    expect(said).to.have.length(1);
  });
});
