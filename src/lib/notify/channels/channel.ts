import { toStewardError } from '../../errors';
import type { ChannelId, EventName } from '../events';

/** What a channel is given: one notification, or several in one. Every text is free of controls. */
export interface Parcel {
  /** Of the notification (of several: the first one's). */
  id: string;
  /** Wall-clock ms at which it was accepted. */
  acceptedMs: number;
  event: EventName;
  priority: number;
  message: string;
  title?: string;
  voiceId?: string;
  url?: string;
  /** Messages of one key are one message that changes. */
  dedupe?: string;
  tags: readonly string[];
  silent: boolean;
  /** How many notifications it stands for. */
  count: number;
  /** Of a message in several parts, how many the channel took in an attempt before. */
  sentParts: number;
}

/** What came of an attempt. `reason` and `hint` are for people and hold no secret. */
export type Outcome =
  | { outcome: 'delivered' }
  /** Not spoken, and to be shown instead. */
  | { outcome: 'show'; reason: string }
  /** No attempt will succeed. */
  | { outcome: 'failed'; reason: string; hint: string }
  /** To be tried again, not before `afterMs`; with `all`, nothing else on this channel before that either. */
  | { outcome: 'again'; reason: string; hint: string; afterMs?: number; all?: boolean };

/**
 * A way to reach the principal. A new one is a file with such an object and a line in index.ts; the contract
 * suite (test/contracts/channel.ts) runs on it.
 */
export interface Channel {
  readonly id: ChannelId;
  /** Why it takes nothing, and what to do, while it is not set up; undefined when it is. Never throws. */
  off: () => { reason: string; hint: string } | undefined;
  /** What keeps it from sending here, as far as that is known without starting or asking anything; undefined: nothing. */
  trouble?: () => { reason: string; hint: string } | undefined;
  /** Loads what it needs before there is an attempt, so that the attempt is short. May throw. */
  prepare: () => Promise<void>;
  /**
   * One attempt, bounded in time. Never throws. After each part of a message that goes out in several, `onPart`
   * is called with how many are out.
   */
  send: (parcel: Parcel, onPart: (sent: number) => void) => Promise<Outcome>;
}

/** Makes a channel ready; where that fails, the outcome of what was to go out through it. */
export async function prepared(channel: Channel): Promise<Outcome | undefined> {
  try {
    await channel.prepare();
    return undefined;
  } catch (error) {
    return fault(error);
  }
}

/** A channel never throws; should one, its fault is its own and stops no other. */
export async function attempt(
  channel: Channel,
  parcel: Parameters<Channel['send']>[0],
  onPart: (sent: number) => void,
): Promise<Outcome> {
  try {
    return await channel.send(parcel, onPart);
  } catch (error) {
    return fault(error);
  }
}

function fault(error: unknown): Outcome {
  const { message, hint = 'Try again.' } = toStewardError(error);
  return { outcome: 'again', reason: message, hint };
}
