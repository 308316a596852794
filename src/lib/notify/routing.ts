import { dirname } from 'node:path';

import type { RoutedChannel } from '../config/schema';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, removeFile } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { wallClock } from '../platform/time/time';
import type { Channel, Trouble } from './channels/channel';
import { EVENTS, EVENT_NAMES, type ChannelId, type EventName } from './events';
import type { NotifyRequest } from './message';

export interface RoutingSettings {
  /** By event, the channels beside the voice. */
  routing: Readonly<Record<EventName, readonly RoutedChannel[]>>;
  /** The events that are spoken, where nothing speaks against it. */
  spoken: readonly EventName[];
  longTaskMinutes: number;
  /** `22:00-07:00`; undefined: never quiet. */
  quietHours: string | undefined;
  /** The zone of the wall clock that quiet hours are read from. */
  zone: string;
}

/** What routing depends on beside the request and the settings. */
export interface RoutingMoment {
  nowMs: number;
  muted: boolean;
  /** DAEMON_CRON_VOICE is 1: jobs may speak. */
  cronVoice: boolean;
  channels: readonly Pick<Channel, 'id' | 'off' | 'isHeld'>[];
}

export interface PlannedDelivery {
  channel: ChannelId;
  /** Without a sound, where the channel has one. */
  silent: boolean;
  /** Wall-clock ms until which it waits, to go out with the others that waited; undefined: at once. */
  heldUntil?: number;
}

export interface Plan {
  event: EventName;
  priority: number;
  deliveries: PlannedDelivery[];
  /** Channels that it would have gone to, and why it does not. */
  skipped: { channel: ChannelId; reason: string }[];
}

/** Which channels a notification goes to, and when: the same request, settings and moment give the same plan. */
export function route(request: NotifyRequest, settings: RoutingSettings, moment: RoutingMoment): Plan {
  const event = eventFor(request, settings.longTaskMinutes);
  const facts = EVENTS[event];
  const priority = request.priority ?? facts.priority;
  const isUrgent = facts.urgent === true || priority >= 5;
  const quiet = isUrgent ? undefined : quietEnd(settings, moment.nowMs);
  const silent = moment.muted || quiet !== undefined || request.source === 'job';
  const offReason = (id: ChannelId): string | undefined => {
    const channel = moment.channels.find((one) => one.id === id);
    return channel === undefined ? 'not here' : channel.off()?.reason;
  };
  const plan: Plan = { event, priority, deliveries: [], skipped: [] };

  const wanted = new Set<ChannelId>(settings.routing[event]);
  if (request.source === 'job') {
    // A job goes to the silent banner, the log, and the principal's own tool.
    wanted.add('desktop');
    if (offReason('sms') === undefined) wanted.add('sms');
  }
  if (request.reach === 'desk') wanted.delete('push');
  // The banner stays where nothing else would be seen: it is there when the person comes back.
  const isPushed = wanted.has('push') && offReason('push') === undefined;
  if (request.reach === 'away' && isPushed) wanted.delete('desktop');
  const isSpoken = settings.spoken.includes(event);
  const voice = voiceFor(request, isSpoken, moment, quiet !== undefined) ?? offReason('voice') ?? 'speak';
  if (voice === 'speak') plan.deliveries.push({ channel: 'voice', silent: false });
  else if (voice !== 'not asked') {
    plan.skipped.push({ channel: 'voice', reason: voice });
    wanted.add('desktop');
  }
  for (const { id: channel, isHeld } of moment.channels) {
    if (!wanted.has(channel)) continue;
    const reason = offReason(channel);
    if (reason !== undefined) plan.skipped.push({ channel, reason });
    else if (isHeld === true && quiet !== undefined)
      plan.deliveries.push({ channel, silent, heldUntil: quiet });
    else plan.deliveries.push({ channel, silent });
  }
  return plan;
}

/** A task that took longer than the threshold is a long one. */
function eventFor({ event, durationSec = 0 }: NotifyRequest, longTaskMinutes: number): EventName {
  return event === 'taskComplete' && durationSec > longTaskMinutes * 60 ? 'longTask' : event;
}

/** `not asked` where the event or the caller wants no voice; else why it is shown in its place; undefined: it speaks. */
function voiceFor(
  request: NotifyRequest,
  isSpoken: boolean,
  moment: RoutingMoment,
  isQuiet: boolean,
): string | undefined {
  if (!isSpoken || !request.voiceEnabled || request.reach === 'away') return 'not asked';
  // A job is silent unless the principal has allowed it, and then it asks for the voice as any other sender.
  if (request.source === 'job' && !moment.cronVoice) return 'not asked';
  if (request.source === 'subagent') return 'subagents do not speak';
  if (moment.muted) return 'muted';
  return isQuiet ? 'quiet hours' : undefined;
}

/** Minutes of the wall clock since midnight; a start after the end wraps midnight. */
export interface QuietHours {
  from: number;
  to: number;
}

const DAY = 1440;
const MINUTE_MS = 60_000;

/** `22:00-07:00`, as the configuration has checked it. */
export function parseQuietHours(text: string): QuietHours {
  const [h1 = 0, m1 = 0, h2 = 0, m2 = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return { from: h1 * 60 + m1, to: h2 * 60 + m2 };
}

/** Is it quiet when the wall clock shows this minute of the day? The end itself is not. */
export function isQuietAt({ from, to }: QuietHours, minute: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/**
 * The first instant (ms) after `ms` at which it is not quiet any more by the wall clock of the zone, its changes
 * between summer and winter included; undefined when it is not quiet at `ms`.
 */
export function quietUntil(hours: QuietHours, ms: number, zone: string): number | undefined {
  const minuteAt = (at: number): number => {
    const { hour, minute } = wallClock(at, zone);
    return hour * 60 + minute;
  };
  const isQuiet = (at: number): boolean => isQuietAt(hours, minuteAt(at));
  if (!isQuiet(ms)) return undefined;
  const start = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
  const end = start + ((hours.to - minuteAt(ms) + DAY) % DAY) * MINUTE_MS;
  // The clock may be changed in between: then the minutes are gone through one by one.
  if (!isQuiet(end) && isQuiet(end - MINUTE_MS)) return end;
  for (let at = start + MINUTE_MS; at < start + 2 * DAY * MINUTE_MS; at += MINUTE_MS) {
    if (!isQuiet(at)) return at;
  }
  return end;
}

function quietEnd({ quietHours, zone }: RoutingSettings, nowMs: number): number | undefined {
  return quietHours === undefined ? undefined : quietUntil(parseQuietHours(quietHours), nowMs, zone);
}

export interface MuteDeps {
  clock: Clock;
  /** `state/mute.json` */
  mute: string;
}

export interface MuteState {
  muted: boolean;
  /** Until when, ISO-8601 UTC; null: until `unmute` (or not muted). */
  until: string | null;
}

/** Mutes the voice, and the sound of banners, for so long; without a time until `unmute`. */
export function mute(deps: MuteDeps, forMs: number | undefined): MuteState {
  const until = forMs === undefined ? null : toIso(deps.clock.now() + forMs);
  ensureFolder(dirname(deps.mute));
  replaceFile(deps.mute, `${JSON.stringify({ version: 1, until })}\n`);
  return { muted: true, until };
}

/** Ends a mute. Returns what was before. */
export function unmute(deps: MuteDeps): MuteState {
  const before = muteState(deps);
  removeFile(deps.mute);
  return before;
}

export function muteState(deps: MuteDeps): MuteState {
  // Asked at each notification: as a rule there is none.
  const text = exists(deps.mute) ? readText(deps.mute, { maxBytes: 4096 }) : undefined;
  if (text === undefined) return { muted: false, until: null };
  const until = parseObject(text)?.['until'];
  const untilMs = typeof until === 'string' ? parseIso(until) : undefined;
  // A file that cannot be read was written to mute: silence disturbs nobody, and `unmute` removes it.
  if (untilMs === undefined) return { muted: true, until: null };
  const muted = untilMs > deps.clock.now();
  return { muted, until: muted ? toIso(untilMs) : null };
}

type ChannelTrouble = { channel: ChannelId } & Trouble;

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
  off: ChannelTrouble[];
  /** Channels that are in use, and that something keeps from sending here. */
  broken: ChannelTrouble[];
}

export function routesReport(
  deps: MuteDeps & { settings: () => RoutingSettings; channels: readonly Channel[] },
): RoutesReport {
  const settings = deps.settings();
  const quietMs = quietEnd(settings, deps.clock.now());
  const found = (troubleOf: (channel: Channel) => Trouble | undefined): ChannelTrouble[] =>
    deps.channels.flatMap((channel) => {
      const trouble = troubleOf(channel);
      return trouble === undefined ? [] : [{ channel: channel.id, ...trouble }];
    });
  return {
    events: EVENT_NAMES.map((event) => ({
      event,
      title: EVENTS[event].title,
      voice: settings.spoken.includes(event),
      channels: [...new Set(settings.routing[event])],
    })),
    longTaskMinutes: settings.longTaskMinutes,
    muted: muteState(deps),
    quietHours: settings.quietHours ?? null,
    quietUntil: quietMs === undefined ? null : toIso(quietMs),
    off: found((channel) => channel.off()),
    broken: found((channel) => (channel.off() === undefined ? channel.trouble?.() : undefined)),
  };
}
