import type { SettingsConfig } from '../../config/schema';
import type { Secret } from '../../config/secret';
import { toStewardError } from '../../errors';
import type { HttpLibrary } from '../../platform/net/origin-client';
import type { Run } from '../../platform/process/process';
import type { Clock } from '../../platform/time/clock';
import type { ChannelId } from '../events';
import { newId, type Delivery } from '../outbox';
import type { Voice } from '../speech/voice';

type Sent =
  'id' | 'event' | 'priority' | 'message' | 'title' | 'voiceId' | 'url' | 'dedupe' | 'tags' | 'silent';

/** One or more notifications, as passed to a channel. Texts contain no control characters. */
export interface Parcel extends Pick<Delivery, Sent | 'sentParts'> {
  acceptedMs: number;
  /** Number of notifications combined in the parcel. */
  count: number;
}

/** The outcome of an attempt. `reason` and `hint` are shown to users and must not contain secrets. */
export type Outcome =
  | { outcome: 'delivered' }
  /** The voice failed; the message is shown on the desktop instead. */
  | { outcome: 'show'; reason: string }
  /** Failed for good: a retry would fail too. */
  | { outcome: 'failed'; reason: string; hint: string }
  /** Retry after at least `afterMs`. `all` pauses the whole channel until then. */
  | { outcome: 'again'; reason: string; hint: string; afterMs?: number; all?: boolean };

/** A problem and its fix. */
export interface Trouble {
  reason: string;
  hint: string;
}

/**
 * A way to send notifications. To add one, write a factory in its own file and a line in index.ts; the
 * contract suite (test/contracts/channel.ts) covers it.
 */
export interface Channel {
  readonly id: ChannelId;
  /** How long to keep retrying a delivery, in ms. Default: one day. */
  readonly keepMs?: number;
  /** Whether deliveries are held until quiet hours end, and then combined into one. */
  readonly isHeld?: true;
  /** If at least this many deliveries are pending, they are combined into one. */
  readonly joinsFrom?: number;
  /** Returns why the channel is off or not set up; undefined if it is on. Never throws. */
  off: () => Trouble | undefined;
  /** Returns why the channel can't send, without starting a program or sending a request. */
  trouble?: () => Trouble | undefined;
  /** Loads the channel's libraries before the attempt, to keep the attempt short. May throw. */
  prepare?: () => Promise<void>;
  /**
   * Makes one attempt, with a timeout. For a long message, calls `onPart` with the number of parts sent so
   * far.
   */
  send: (parcel: Parcel, onPart: (sent: number) => void) => Promise<Outcome>;
}

/** Dependencies of the channel factories; each factory uses some of them. */
export interface ChannelDeps {
  clock: Clock;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  run: Run;
  /** Returns the HTTP library, loaded once. */
  http: () => Promise<Pick<HttpLibrary, 'origin'>>;
  /** Response timeout, in ms. Default: 10 s. */
  answerMs?: number;
  /** The current settings. */
  settings: () => SettingsConfig['notifications'];
  /** Returns the value of a secret, or undefined if it is not set. Throws `config` if it cannot be read. */
  secret: (from: Secret) => string | undefined;
  voice: Pick<Voice, 'isOff' | 'status'> & { speech: Pick<Voice['speech'], 'say'> };
  muted: () => boolean;
  /** The machine-local file that stores the ids of replaceable banners. */
  banners: string;
  /** Returns the SMS program and its arguments; empty if not configured. */
  smsCommand: () => readonly string[];
}

/** Prepares a channel; returns an outcome only if that fails. */
export async function prepared(channel: Channel): Promise<Outcome | undefined> {
  try {
    await channel.prepare?.();
    return undefined;
  } catch (error) {
    return fault(error);
  }
}

/** Makes one attempt, and catches exceptions so that they affect only this channel. */
export async function attempt(channel: Channel, ...args: Parameters<Channel['send']>): Promise<Outcome> {
  try {
    return await channel.send(...args);
  } catch (error) {
    return fault(error);
  }
}

/** Converts an error to an outcome. Errors whose kind is in `final` are not retried. */
export function fault(error: unknown, final: readonly string[] = []): Outcome {
  const { kind, message, hint = 'Try again.' } = toStewardError(error);
  return { outcome: final.includes(kind) ? 'failed' : 'again', reason: message, hint };
}

export interface TestResult {
  channel: ChannelId;
  state: 'ok' | 'off' | 'failed';
  reason: string | null;
  /** How to fix the problem. */
  hint: string | null;
}

/**
 * Sends a test message through every channel at the same time, bypassing the outbox, mute and quiet hours.
 */
export function testChannels(deps: { clock: Clock; channels: readonly Channel[] }): Promise<TestResult[]> {
  return Promise.all(deps.channels.map((channel) => testChannel(deps.clock, channel)));
}

export async function testChannel(clock: Clock, channel: Channel): Promise<TestResult> {
  const off = channel.off();
  if (off !== undefined) return { channel: channel.id, state: 'off', ...off };
  const text = { title: 'steward', message: 'This is a test.', event: 'taskComplete', priority: 3 } as const;
  const parcel: Parcel = { id: newId(clock), acceptedMs: clock.now(), ...text, ...PLAIN };
  const outcome = (await prepared(channel)) ?? (await attempt(channel, parcel, () => undefined));
  if (outcome.outcome === 'delivered') return { channel: channel.id, state: 'ok', reason: null, hint: null };
  if (outcome.outcome !== 'show') {
    return { channel: channel.id, state: 'failed', reason: outcome.reason, hint: outcome.hint };
  }
  const reason = `${outcome.reason.replace(/\.$/, '')}.`;
  return {
    channel: channel.id,
    state: 'failed',
    reason,
    hint: 'steward uses banners until the voice works.',
  };
}

/** Default values for a parcel's fields. */
export const PLAIN = { tags: [], silent: false, count: 1, sentParts: 0 } satisfies Partial<Parcel>;
