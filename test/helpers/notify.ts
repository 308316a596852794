import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { secret } from '../../src/lib/config/secret';
import { defaultConfig } from '../../src/lib/config/load';
import type { SettingsConfig } from '../../src/lib/config/schema';
import { userArea } from '../../src/lib/config/user-area';
import type { AcceptDeps } from '../../src/lib/notify/accept';
import type { Channel, Outcome, Parcel } from '../../src/lib/notify/channels/channel';
import type { WebDeps } from '../../src/lib/notify/channels/web';
import type { DeliverDeps } from '../../src/lib/notify/deliver';
import type { ChannelId } from '../../src/lib/notify/events';
import type { Delivery } from '../../src/lib/notify/outbox';
import { readEntries, type ChannelResult, type HistoryEntry } from '../../src/lib/notify/history';
import type { PushDeps } from '../../src/lib/notify/pushes';
import { loadHttp } from '../../src/lib/platform/net/origin-client';

/** Friday, 20 November 2026, 09:00 UTC. */
export const NINE = Date.UTC(2026, 10, 20, 9);
export const MINUTE = 60_000;

/** A channel that is told what to answer, and remembers what it was given. */
export interface Fake extends Channel {
  got: Parcel[];
  answers: (Outcome | (() => Promise<Outcome>))[];
  offReason: string | undefined;
}

export function fakeChannel(id: ChannelId): Fake {
  const fake: Fake = {
    id,
    got: [],
    answers: [],
    offReason: undefined,
    off: () => (fake.offReason === undefined ? undefined : { reason: fake.offReason, hint: 'Set it up.' }),
    send: async (parcel) => {
      fake.got.push(parcel);
      const answer = fake.answers.shift() ?? { outcome: 'delivered' as const };
      return typeof answer === 'function' ? answer() : answer;
    },
  };
  return fake;
}

export type Fakes = Record<ChannelId, Fake>;

export interface NotifyWorld {
  deps: AcceptDeps & DeliverDeps;
  channels: Fakes;
  notifications: SettingsConfig['notifications'];
  /** What the settings say beside the notifications. */
  quietHours: string | undefined;
  nowMs: number;
  faults: unknown[];
  entries: () => HistoryEntry[];
  /** The result of a notification on a channel. */
  result: (id: string, channel: ChannelId) => ChannelResult | undefined;
  remove: () => void;
}

/** Notifications in a folder of their own, with a clock that is set by hand and channels that are told what to do. */
export function notifyWorld(): NotifyWorld {
  const home = mkdtempSync(join(tmpdir(), 'steward-notify-'));
  const area = userArea({
    platform: 'linux',
    env: { STEWARD_HOME: home, XDG_STATE_HOME: join(home, 'm') },
    home,
  });
  const ids = ['voice', 'desktop', 'terminal', 'push', 'chat', 'telegram', 'sms'] as const;
  const channels = Object.fromEntries(ids.map((id) => [id, fakeChannel(id)])) as Fakes;
  Object.assign(channels.voice, { keepMs: 15 * MINUTE });
  Object.assign(channels.desktop, { keepMs: 15 * MINUTE, joinsFrom: 4 });
  Object.assign(channels.push, { isHeld: true });
  channels.sms.offReason = 'no command is set';
  const clock = { now: () => world.nowMs, monotonic: () => performance.now() };
  const world: NotifyWorld = {
    channels,
    notifications: structuredClone({
      ...defaultConfig(area, home).settings.notifications,
      push: null,
      chat: null,
      telegram: null,
    }) as never,
    quietHours: undefined,
    nowMs: NINE,
    faults: [],
    entries: () => readEntries(world.deps, 1000),
    result: (id, channel) =>
      world
        .entries()
        .find((entry) => entry.id === id)
        ?.channels.find((one) => one.channel === channel),
    remove: () => rmSync(home, { recursive: true, force: true }),
    deps: {
      clock,
      machineId: '0123456789ab',
      outbox: area.outbox,
      history: area.notifyLog,
      mute: area.mute,
      locks: area.machine,
      settings: () => ({
        routing: world.notifications.routing,
        spoken: world.notifications.voice.events,
        ...world.notifications.thresholds,
        quietHours: world.quietHours,
        zone: 'UTC',
      }),
      cronVoice: false,
      maySpeak: () => true,
      channels: Object.values(channels),
      random: () => 0.5,
      report: (error) => world.faults.push(error),
    },
  };
  return world;
}

/** A push that was accepted at nine and is due at once; the nth of that time. */
export function delivery(n: number, more: Partial<Delivery> = {}): Delivery {
  const at = new Date(NINE).toISOString();
  return {
    id: `20261120T090000000Z-${n.toString(16).padStart(12, '0')}`,
    channel: 'push',
    machine: '0123456789ab',
    at,
    event: 'taskComplete',
    priority: 3,
    message: 'x',
    tags: [],
    silent: false,
    nextAt: more.at ?? at,
    attempts: 0,
    interrupted: 0,
    sentParts: 0,
    ...more,
  };
}

/** What the HTTP channels need, with settings that a test may change. */
export function httpDeps(server: string) {
  const settings = {
    push: {
      enabled: true,
      topic: secret('notifications.push.topic', 'steward-topic-3f9a1c'),
      token: secret('notifications.push.token', ''),
      server,
      detail: 'full' as string,
    },
    chat: { enabled: true, webhook: secret('notifications.chat.webhook', server) },
    telegram: {
      token: secret('notifications.telegram.token', '123456:AAsecret-token_0123456789'),
      chatId: secret('notifications.telegram.chatId', '-1001234'),
      server,
    },
  };
  let loading: ReturnType<typeof loadHttp> | undefined;
  const deps: WebDeps = {
    clock: { now: () => NINE, monotonic: () => performance.now() },
    http: () => (loading ??= loadHttp()),
    settings: () => settings as unknown as SettingsConfig['notifications'],
    secret: (from) => from.stored() || undefined,
    pushes: noPushes(),
  };
  return { ...settings, deps };
}

/** Nothing waits, so that no push has buttons. */
export function noPushes(): PushDeps {
  const clock = { now: () => NINE, monotonic: () => performance.now() };
  return { clock, machineId: '0123456789ab', pushes: '/dev/null', waitOf: () => Promise.resolve(undefined) };
}

export function parcel(more: Partial<Parcel> = {}): Parcel {
  return {
    id: '20261120T090000000Z-0123456789ab',
    acceptedMs: NINE,
    event: 'taskComplete',
    priority: 3,
    message: 'The build is done.',
    tags: [],
    silent: false,
    count: 1,
    sentParts: 0,
    ...more,
  };
}
