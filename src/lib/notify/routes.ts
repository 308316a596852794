import type { RoutedChannel } from '../config/schema';
import { toIso, type Clock } from '../platform/time/clock';
import type { Channel } from './channels/channel';
import { EVENTS, EVENT_NAMES, type ChannelId, type EventName } from './events';
import { muteState, type MuteState } from './mute';
import { parseQuietHours, quietUntil } from './quiet-hours';
import type { RoutingSettings } from './routing';

/** What `notify routes` shows. */
export interface RoutesReport {
  events: { event: EventName; title: string; voice: boolean; channels: RoutedChannel[] }[];
  longTaskMinutes: number;
  muted: MuteState;
  /** As configured; null: none. */
  quietHours: string | null;
  /** When the quiet hours end that are now, ISO-8601 UTC; null: it is not quiet. */
  quietUntil: string | null;
  /** Channels that take nothing as things are. */
  off: { channel: ChannelId; reason: string; hint: string }[];
  /** Channels that are in use, and that something keeps from sending here. */
  broken: { channel: ChannelId; reason: string; hint: string }[];
}

export function routesReport(deps: {
  clock: Clock;
  mute: string;
  settings: () => RoutingSettings;
  channels: readonly Channel[];
}): RoutesReport {
  const { routing, spoken, longTaskMinutes, quietHours, zone } = deps.settings();
  const quietMs =
    quietHours === undefined ? undefined : quietUntil(parseQuietHours(quietHours), deps.clock.now(), zone);
  return {
    events: EVENT_NAMES.map((event) => ({
      event,
      title: EVENTS[event].title,
      voice: spoken.includes(event),
      channels: [...new Set(routing[event])],
    })),
    longTaskMinutes,
    muted: muteState(deps),
    quietHours: quietHours ?? null,
    quietUntil: quietMs === undefined ? null : toIso(quietMs),
    off: deps.channels.flatMap((channel) => {
      const off = channel.off();
      return off === undefined ? [] : [{ channel: channel.id, ...off }];
    }),
    broken: deps.channels.flatMap((channel) => {
      const trouble = channel.off() === undefined ? channel.trouble?.() : undefined;
      return trouble === undefined ? [] : [{ channel: channel.id, ...trouble }];
    }),
  };
}
