import type { Config, SettingsConfig } from '../../config/schema';
import type { Secret } from '../../config/secret';
import type { UserArea } from '../../config/user-area';
import { toStewardError } from '../../errors';
import type { CheckedHost } from '../../platform/check';
import type { GetUrl } from '../../platform/net/fetch';
import type { HttpLibrary } from '../../platform/net/origin-client';
import type { Run } from '../../platform/process/process';
import type { Clock } from '../../platform/time/clock';
import type { ChannelId } from '../events';
import { newId, type Delivery } from '../outbox';
import type { PushDeps, SentPush } from '../pushes';
import type { Voice, VoiceDeps } from '../speech/voice';

export interface NotifyChecked extends CheckedHost {
  area: UserArea;
  config: Pick<Config, 'settings'>;
  sound: boolean;
  askHost: GetUrl;
  voice: () => Promise<Omit<VoiceDeps, 'onProblem'>>;
  secret: (stored: Secret) => string | undefined;
}

type Sent =
  | ('id' | 'event' | 'priority' | 'message' | 'title' | 'voiceId' | 'url' | 'dedupe' | 'thread')
  | ('tags' | 'silent');

/** One or more notifications, as passed to a channel. Their text contains no control characters. */
export interface Parcel extends Pick<Delivery, Sent | 'sentParts'> {
  acceptedMs: number;
  count: number;
}

/** The outcome of an attempt. `reason` and `hint` are shown to users and must not contain secrets. */
export type Outcome =
  | { outcome: 'delivered' }
  /** The message could not be spoken, so the desktop shows it instead. */
  | { outcome: 'show'; reason: string }
  /** There is nothing here that could show the message. */
  | { outcome: 'skipped'; reason: string; hint: string }
  /** Permanent failure: a retry would fail too. */
  | { outcome: 'failed'; reason: string; hint: string }
  /**
   * Temporary failure. The delivery is retried after at least `afterMs`. With `all`, the whole channel pauses
   * until the retry.
   */
  | { outcome: 'again'; reason: string; hint: string; afterMs?: number; all?: boolean };

export interface Trouble {
  reason: string;
  hint: string;
}

/**
 * A way to send notifications. To add one, write a factory and list it in index.ts. The contract tests in
 * test/contracts/channel.ts run for every channel.
 */
export interface Channel {
  readonly id: ChannelId;
  /** How long to keep retrying a delivery, in ms. Default: one day. */
  readonly keepMs?: number;
  /** Whether deliveries wait until quiet hours end and are then combined into one. */
  readonly isHeld?: true;
  /** If at least this many deliveries are pending, they are combined into one. */
  readonly joinsFrom?: number;
  /** Returns why the channel is off or not set up; undefined if it is on. Never throws. */
  off: () => Trouble | undefined;
  /** Returns why nothing here can show a message now; undefined if something can. */
  absent?: () => Promise<Trouble | undefined>;
  /** Returns a known problem with sending, if any, without running programs or sending requests. */
  trouble?: () => Trouble | undefined;
  /** Loads the channel's libraries before the attempt, to keep the attempt short. May throw. */
  prepare?: () => Promise<void>;
  /**
   * Makes one attempt, with a timeout. For a long message, calls `onPart` with the number of parts sent so
   * far.
   */
  send: (parcel: Parcel, onPart: (sent: number) => void) => Promise<Outcome>;
  /** Removes the push with this id, or replaces it by the text. */
  end?: (ref: string, text: string) => Promise<void>;
  /** Returns the buttons that you pressed since the last call. `reply` shows a text where one was pressed. */
  presses?: (
    pushes: readonly SentPush[],
  ) => Promise<{ token: string; reply?: (text: string) => Promise<void> }[]>;
}

/** The dependencies of all channel factories. */
export interface ChannelDeps {
  clock: Clock;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  run: Run;
  /** Loads the HTTP library on first use. */
  http: () => Promise<Pick<HttpLibrary, 'origin'>>;
  /** Response timeout, in ms. Default: 10 s. */
  answerMs?: number;
  settings: () => SettingsConfig['notifications'];
  /** Returns the value of a secret, or undefined if it is not set. Throws `config` if it cannot be read. */
  secret: (from: Secret) => string | undefined;
  voice: Pick<Voice, 'isOff' | 'status'> & { speech: Pick<Voice['speech'], 'say'> };
  muted: () => boolean;
  /** Path of the machine-local file with the ids of replaceable desktop notifications. */
  banners: string;
  pushes: PushDeps;
  /** Returns the SMS program and its arguments; empty if not configured. */
  smsCommand: () => readonly string[];
}

/** Calls the channel's `prepare`. Returns an outcome only if the call fails. */
export async function prepared(channel: Channel): Promise<Outcome | undefined> {
  try {
    await channel.prepare?.();
    return undefined;
  } catch (error) {
    return fault(error);
  }
}

/** Makes one attempt. Converts exceptions to outcomes, so that an exception affects only this channel. */
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
  const { reason } = outcome;
  if (outcome.outcome === 'skipped') return { channel: channel.id, state: 'off', reason, hint: outcome.hint };
  const failedTest = { channel: channel.id, state: 'failed' } as const;
  if (outcome.outcome !== 'show') return { ...failedTest, reason, hint: outcome.hint };
  const hint = 'Messages are shown instead until the voice works again.';
  return { ...failedTest, reason: `${reason.replace(/\.$/, '')}.`, hint };
}

/** Default values for a parcel's fields. */
export const PLAIN = { tags: [], silent: false, count: 1, sentParts: 0 } satisfies Partial<Parcel>;
