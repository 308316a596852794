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

/** One notification, or several in one, as a channel gets it. Every text is free of controls. */
export interface Parcel extends Pick<Delivery, Sent | 'sentParts'> {
  /** Wall-clock ms. */
  acceptedMs: number;
  /** How many notifications it contains. */
  count: number;
}

/** The outcome of an attempt. `reason` and `hint` are shown to people and contain no secret. */
export type Outcome =
  | { outcome: 'delivered' }
  /** The voice failed; the desktop takes over. */
  | { outcome: 'show'; reason: string }
  /** A retry would fail too. */
  | { outcome: 'failed'; reason: string; hint: string }
  /** Retry, not before `afterMs`. With `all`, the whole channel pauses until then. */
  | { outcome: 'again'; reason: string; hint: string; afterMs?: number; all?: boolean };

/** What is wrong, and what to do. */
export interface Trouble {
  reason: string;
  hint: string;
}

/**
 * A way to send notifications. A new one is a file with a factory and a line in index.ts; the contract suite
 * (test/contracts/channel.ts) runs on it.
 */
export interface Channel {
  readonly id: ChannelId;
  /** How long a delivery is retried, ms; a day by default. */
  readonly keepMs?: number;
  /** Deliveries wait for the end of quiet hours, and go out as one. */
  readonly isHeld?: true;
  /** The number of waiting deliveries from which they are combined into one. */
  readonly joinsFrom?: number;
  /** Why it is switched off or not set up; undefined if it is on. Never throws. */
  off: () => Trouble | undefined;
  /** Why it cannot send, if that is known without starting a program or sending a request. */
  trouble?: () => Trouble | undefined;
  /** Loads its libraries before an attempt, to keep the attempt short. May throw. */
  prepare?: () => Promise<void>;
  /** Makes one attempt within a bounded time. Calls `onPart` with the number of parts sent, if there are several. */
  send: (parcel: Parcel, onPart: (sent: number) => void) => Promise<Outcome>;
}

/** What channels are made of; each factory takes a part. */
export interface ChannelDeps {
  clock: Clock;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  run: Run;
  /** Loads the HTTP library, once. */
  http: () => Promise<Pick<HttpLibrary, 'origin'>>;
  /** The time limit of one answer, ms; 10 s by default. */
  answerMs?: number;
  /** The current settings. */
  settings: () => SettingsConfig['notifications'];
  /** The value of a secret; undefined if none is set. A reference that cannot be resolved is `config`. */
  secret: (from: Secret) => string | undefined;
  voice: Pick<Voice, 'isOff' | 'status'> & { speech: Pick<Voice['speech'], 'say'> };
  muted: () => boolean;
  /** Machine-local file with the ids of banners that may be replaced. */
  banners: string;
  /** The SMS program and its arguments; empty: none. */
  smsCommand: () => readonly string[];
}

/** Prepares a channel; returns the outcome of the attempt if that fails. */
export async function prepared(channel: Channel): Promise<Outcome | undefined> {
  try {
    await channel.prepare?.();
    return undefined;
  } catch (error) {
    return fault(error);
  }
}

/** Makes one attempt; a channel that throws fails alone. */
export async function attempt(channel: Channel, ...args: Parameters<Channel['send']>): Promise<Outcome> {
  try {
    return await channel.send(...args);
  } catch (error) {
    return fault(error);
  }
}

/** The outcome of an error; kinds in `final` are not retried. */
export function fault(error: unknown, final: readonly string[] = []): Outcome {
  const { kind, message, hint = 'Try again.' } = toStewardError(error);
  return { outcome: final.includes(kind) ? 'failed' : 'again', reason: message, hint };
}

export interface TestResult {
  channel: ChannelId;
  state: 'ok' | 'off' | 'failed';
  reason: string | null;
  /** What to do. */
  hint: string | null;
}

/** Sends a test message over every channel at once, past outbox, mute and quiet hours. */
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
  return { channel: channel.id, state: 'failed', reason, hint: 'Until then, banners replace the voice.' };
}

/** The fields of a parcel without anything special. */
export const PLAIN = { tags: [], silent: false, count: 1, sentParts: 0 } satisfies Partial<Parcel>;
