import { randomBytes } from 'node:crypto';

import { toStewardError } from '../errors';
import { toIso, type Clock } from '../platform/time/clock';
import type { Channel, Outcome } from './channels/channel';
import type { ChannelId } from './events';

export interface TestResult {
  channel: ChannelId;
  /** `off`: it is not set up, and that may be meant. */
  state: 'ok' | 'off' | 'failed';
  reason: string | null;
  /** What to do. */
  hint: string | null;
}

/** Sends a test message over each channel, all at once, past outbox, mute and quiet hours. */
export function testChannels(deps: { clock: Clock; channels: readonly Channel[] }): Promise<TestResult[]> {
  return Promise.all(deps.channels.map((channel) => testChannel(deps.clock, channel)));
}

/** Sends a test message over one channel. */
export async function testChannel(clock: Clock, channel: Channel): Promise<TestResult> {
  const off = channel.off();
  if (off !== undefined) return { channel: channel.id, state: 'off', ...off };
  const outcome = await tried(clock, channel);
  if (outcome.outcome === 'delivered') return { channel: channel.id, state: 'ok', reason: null, hint: null };
  if (outcome.outcome === 'show') {
    const hint = 'What is to be spoken is shown instead.';
    const reason = `Nothing was spoken: ${outcome.reason.replace(/\.$/, '')}.`;
    return { channel: channel.id, state: 'failed', reason, hint };
  }
  return { channel: channel.id, state: 'failed', reason: outcome.reason, hint: outcome.hint };
}

async function tried(clock: Clock, channel: Channel): Promise<Outcome> {
  try {
    await channel.prepare();
    const nowMs = clock.now();
    return await channel.send(
      {
        id: `${toIso(nowMs).replace(/[-:.]/g, '')}-${randomBytes(6).toString('hex')}`,
        acceptedMs: nowMs,
        event: 'taskComplete',
        priority: 3,
        title: 'steward',
        message: 'This is a test.',
        tags: [],
        silent: false,
        count: 1,
        sentParts: 0,
      },
      () => undefined,
    );
  } catch (error) {
    const { message, hint = 'Try again.' } = toStewardError(error);
    return { outcome: 'failed', reason: message, hint };
  }
}
