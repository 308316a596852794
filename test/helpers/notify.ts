import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { secret } from '../../src/lib/config/secret';
import { defaultConfig } from '../../src/lib/config/load';
import type { SettingsConfig } from '../../src/lib/config/schema';
import { userArea } from '../../src/lib/config/user-area';
import type { AcceptDeps } from '../../src/lib/notify/accept';
import type { Channel, Outcome, Parcel } from '../../src/lib/notify/channels/channel';
import type { DeliverDeps } from '../../src/lib/notify/deliver';
import type { ChannelId } from '../../src/lib/notify/events';
import {
  historyEntries,
  readHistory,
  type ChannelResult,
  type HistoryEntry,
} from '../../src/lib/notify/history';
import { outboxRoom } from '../../src/lib/notify/outbox';
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

function fakeChannel(id: ChannelId): Fake {
  const fake: Fake = {
    id,
    got: [],
    answers: [],
    offReason: undefined,
    off: () => (fake.offReason === undefined ? undefined : { reason: fake.offReason, hint: 'Set it up.' }),
    prepare: () => Promise.resolve(),
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
  const ids = ['voice', 'desktop', 'push', 'chat', 'sms'] as const;
  const channels = Object.fromEntries(ids.map((id) => [id, fakeChannel(id)])) as Fakes;
  channels.sms.offReason = 'no command is set';
  const clock = { now: () => world.nowMs, monotonic: () => performance.now() };
  const world: NotifyWorld = {
    channels,
    notifications: structuredClone({
      ...defaultConfig(area, home).settings.notifications,
      push: null,
      chat: null,
    }) as never,
    quietHours: undefined,
    nowMs: NINE,
    faults: [],
    entries: () => historyEntries(readHistory(area.notifyLog), 1000),
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
      room: outboxRoom({ clock, outbox: area.outbox }),
      history: area.notifyLog,
      mute: area.mute,
      locks: area.machine,
      settings: () => ({
        routing: world.notifications.routing,
        spoken: world.notifications.voice.events,
        longTaskMinutes: world.notifications.thresholds.longTaskMinutes,
        quietHours: world.quietHours,
        zone: 'UTC',
        hasSms: channels.sms.offReason === undefined,
      }),
      off: (channel) => channels[channel].off()?.reason,
      cronVoice: false,
      channels: Object.values(channels),
      random: () => 0.5,
      report: (error) => world.faults.push(error),
    },
  };
  return world;
}

/** What the HTTP channels need, with settings that a test may change. */
export function httpDeps(server: string) {
  const clock = { now: () => NINE, monotonic: () => performance.now() };
  let loading: ReturnType<typeof loadHttp> | undefined;
  const http = { clock, load: () => (loading ??= loadHttp()) };
  const push = {
    enabled: true,
    topic: secret('notifications.push.topic', 'steward-topic-3f9a1c'),
    token: secret('notifications.push.token', ''),
    server,
    detail: 'full' as 'full' | 'generic',
  };
  const chat = { enabled: true, webhook: secret('notifications.chat.webhook', server) };
  return {
    push,
    chat,
    pushDeps: {
      http,
      settings: () => push,
      secret: (from: { stored(): string }) => from.stored() || undefined,
    },
    chatDeps: {
      http,
      settings: () => chat,
      secret: (from: { stored(): string }) => from.stored() || undefined,
    },
  };
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
