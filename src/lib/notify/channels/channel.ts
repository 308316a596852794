import type { SettingsConfig } from '../../config/schema';
import type { Secret } from '../../config/secret';
import { toStewardError } from '../../errors';
import type { HttpLibrary } from '../../platform/net/origin-client';
import type { Run } from '../../platform/process/process';
import type { Clock } from '../../platform/time/clock';
import { newId, type Delivery } from '../outbox';
import type { ChannelId } from '../events';
import type { Voice } from '../speech/voice';

/** What a channel is given: one notification, or several in one. Every text is free of controls. */
export interface Parcel extends Pick<
  Delivery,
  | 'id'
  | 'event'
  | 'priority'
  | 'message'
  | 'title'
  | 'voiceId'
  | 'url'
  | 'dedupe'
  | 'tags'
  | 'silent'
  | 'sentParts'
> {
  /** Wall-clock ms at which it was accepted. */
  acceptedMs: number;
  /** How many notifications it stands for. */
  count: number;
}

/** What came of an attempt. `reason` and `hint` are for people and hold no secret. */
export type Outcome =
  | { outcome: 'delivered' }
  /** Not spoken, and to be shown instead. */
  | { outcome: 'show'; reason: string }
  /** No attempt will succeed. */
  | { outcome: 'failed'; reason: string; hint: string }
  /** Retried, not before `afterMs`; with `all`, nothing else goes out on this channel before that either. */
  | { outcome: 'again'; reason: string; hint: string; afterMs?: number; all?: boolean };

/** Why something does not work, and what to do. */
export interface Trouble {
  reason: string;
  hint: string;
}

/**
 * A way to reach the principal. A new one is a file with a function that returns such an object, and a line in index.ts;
 * the contract suite (test/contracts/channel.ts) runs on it.
 */
export interface Channel {
  readonly id: ChannelId;
  /** How long a delivery is retried, ms; a day when left out. */
  readonly keepMs?: number;
  /** In quiet hours a delivery waits for their end, and goes out with the others. */
  readonly isHeld?: true;
  /** So many deliveries that wait at once become one. */
  readonly joinsFrom?: number;
  /** Why it takes nothing while it is not set up; undefined when it is. Never throws. */
  off: () => Trouble | undefined;
  /** What keeps it from sending here, as far as that is known without starting or asking anything. */
  trouble?: () => Trouble | undefined;
  /** Loads what it needs before there is an attempt, so that the attempt is short. May throw. */
  prepare?: () => Promise<void>;
  /**
   * One attempt, bounded in time. After each part of a message that goes out in several, `onPart` is called with how
   * many are out.
   */
  send: (parcel: Parcel, onPart: (sent: number) => void) => Promise<Outcome>;
}

/** What channels are made of; each factory takes what it needs. */
export interface ChannelDeps {
  clock: Clock;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  run: Run;
  /** Loads the HTTP library, once. */
  http: () => Promise<Pick<HttpLibrary, 'origin'>>;
  /** How long a server may take for one answer, ms; ten seconds when left out. */
  answerMs?: number;
  /** The settings as they are now. */
  settings: () => SettingsConfig['notifications'];
  /** The value of a secret; undefined when none is set. A reference that gives nothing is `config`. */
  secret: (from: Secret) => string | undefined;
  voice: Pick<Voice, 'isOff' | 'status'> & { speech: Pick<Voice['speech'], 'say'> };
  muted: () => boolean;
  /** File of machine-local state with the ids of the banners that may be replaced. */
  banners: string;
  /** The principal's program for short messages, and its arguments; empty: none. */
  smsCommand: () => readonly string[];
}

/** Makes a channel ready; the outcome of what was to go out through it where that fails. */
export async function prepared(channel: Channel): Promise<Outcome | undefined> {
  try {
    await channel.prepare?.();
    return undefined;
  } catch (error) {
    return fault(error);
  }
}

/** One attempt; a channel that throws has failed by itself and stops no other. */
export async function attempt(channel: Channel, ...args: Parameters<Channel['send']>): Promise<Outcome> {
  try {
    return await channel.send(...args);
  } catch (error) {
    return fault(error);
  }
}

/** The outcome of an error; `last` are the kinds that no other attempt changes. */
export function fault(error: unknown, last: readonly string[] = []): Outcome {
  const { kind, message, hint = 'Try again.' } = toStewardError(error);
  return { outcome: last.includes(kind) ? 'failed' : 'again', reason: message, hint };
}

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
  const text = { title: 'steward', message: 'This is a test.', event: 'taskComplete', priority: 3 } as const;
  const parcel: Parcel = { id: newId(clock), acceptedMs: clock.now(), ...text, ...PLAIN };
  const outcome = (await prepared(channel)) ?? (await attempt(channel, parcel, () => undefined));
  if (outcome.outcome === 'delivered') return { channel: channel.id, state: 'ok', reason: null, hint: null };
  if (outcome.outcome !== 'show') {
    return { channel: channel.id, state: 'failed', reason: outcome.reason, hint: outcome.hint };
  }
  const reason = `Nothing was spoken: ${outcome.reason.replace(/\.$/, '')}.`;
  return { channel: channel.id, state: 'failed', reason, hint: 'What is to be spoken is shown instead.' };
}

/** A parcel that is nothing special. */
export const PLAIN = { tags: [], silent: false, count: 1, sentParts: 0 } satisfies Partial<Parcel>;
