import type { RoutedChannel } from '../config/schema';
import { readText } from '../platform/files/atomic-file';
import { exists, removeFile } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { writeObject } from '../platform/files/object-file';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { wallClock } from '../platform/time/time';
import type { Channel, Trouble } from './channels/channel';
import { EVENTS, EVENT_NAMES, type ChannelId, type EventName } from './events';
import type { NotifyRequest } from './message';

export interface RoutingSettings {
  /** The channels for each event, excluding voice. */
  routing: Readonly<Record<EventName, readonly (RoutedChannel | 'atBreak')[]>>;
  /** Events that are spoken. */
  spoken: readonly EventName[];
  longTaskMinutes: number;
  /** The longest wait for a break. */
  breakMinutes: number;
  /** The quiet hours as a range such as `22:00-07:00`; `undefined` if there are none. */
  quietHours: string | undefined;
  zone: string;
}

export interface RoutingMoment {
  nowMs: number;
  muted: boolean;
  /** Whether jobs may speak, as set by DAEMON_CRON_VOICE=1. */
  cronVoice: boolean;
  /** Whether the events that steward notices may be spoken. */
  maySpeak: boolean;
  channels: readonly Pick<Channel, 'id' | 'off' | 'isHeld'>[];
}

export interface Plan {
  event: EventName;
  priority: number;
  deliveries: { channel: ChannelId; silent: boolean; heldUntil?: number; atBreak?: true }[];
  /** Channels on the event's route that don't get the notification. */
  skipped: { channel: ChannelId; reason: string }[];
}

/** The lowest priority of messages that terminals show where there is no desktop. */
export const NEEDS_YOU = 4;

/** Decides which channels get a notification, and when. */
export function route(request: NotifyRequest, settings: RoutingSettings, moment: RoutingMoment): Plan {
  const isLong = (request.durationSec ?? 0) > settings.longTaskMinutes * 60;
  const event = request.event === 'taskComplete' && isLong ? 'longTask' : request.event;
  const facts = EVENTS[event];
  const priority = request.priority ?? facts.priority;
  const isUrgent = facts.urgent === true || priority >= 5;
  const quietEndMs = isUrgent ? undefined : quietEnd(settings, moment.nowMs);
  const atBreak = !isUrgent && event !== 'attention' && settings.routing[event].includes('atBreak');
  const breakEndMs = moment.nowMs + settings.breakMinutes * MINUTE_MS;
  const held = atBreak ? ({ heldUntil: breakEndMs, atBreak } as const) : {};
  const silent = moment.muted || quietEndMs !== undefined || request.source === 'job';
  const offReason = (id: ChannelId): string | undefined => {
    const channel = moment.channels.find((known) => known.id === id);
    return channel === undefined ? 'unsupported' : channel.off()?.reason;
  };
  const plan: Plan = { event, priority, deliveries: [], skipped: [] };

  const wanted = new Set<ChannelId>(channelsOf(settings, event));
  if (request.source === 'job') {
    wanted.add('desktop');
    if (offReason('sms') === undefined) wanted.add('sms');
  }
  if (request.reach === 'desk' || request.isBridged) wanted.delete('push');
  if (request.isBridged) wanted.delete('telegram');
  // If there is no push, show the banner anyway, so that you see it when you return.
  const isPushed = wanted.has('push') && offReason('push') === undefined;
  if (request.reach === 'away' && isPushed) wanted.delete('desktop');
  const isSpoken = settings.spoken.includes(event);
  const voice =
    voiceFor(request, isSpoken, moment, quietEndMs !== undefined) ??
    (atBreak ? 'waits for a break' : offReason('voice')) ??
    'speak';
  if (voice === 'speak') plan.deliveries.push({ channel: 'voice', silent: false });
  else if (voice !== 'unwanted') {
    plan.skipped.push({ channel: 'voice', reason: voice });
    wanted.add('desktop');
  }
  if (needsTerminal(wanted, priority, offReason)) wanted.add('terminal');
  for (const { id: channel, isHeld } of moment.channels) {
    if (!wanted.has(channel)) continue;
    const reason = offReason(channel);
    if (reason !== undefined) plan.skipped.push({ channel, reason });
    else if (isHeld === true && quietEndMs !== undefined)
      plan.deliveries.push({ channel, silent, heldUntil: quietEndMs });
    else plan.deliveries.push({ channel, silent, ...held });
  }
  return plan;
}

function channelsOf({ routing }: Pick<RoutingSettings, 'routing'>, event: EventName): RoutedChannel[] {
  return routing[event].filter((one) => one !== 'atBreak');
}

/** Returns whether a message that needs you reaches none of its channels: then your terminals show it. */
function needsTerminal(
  wanted: ReadonlySet<ChannelId>,
  priority: number,
  offReason: (id: ChannelId) => string | undefined,
): boolean {
  return priority >= NEEDS_YOU && wanted.size > 0 && [...wanted].every((id) => offReason(id) !== undefined);
}

/** Returns the reason why the notification isn't spoken; undefined if it is spoken. */
function voiceFor(request: NotifyRequest, isSpoken: boolean, moment: RoutingMoment, isQuiet: boolean) {
  if (!isSpoken || !request.voiceEnabled || request.reach === 'away') return 'unwanted';
  if (request.source === 'job' && !moment.cronVoice) return 'unwanted';
  if (request.source === 'subagent') return 'subagent messages are not spoken';
  if (request.isNoticed === true && !moment.maySpeak) return 'speech of events is off';
  if (moment.muted) return 'muted';
  return isQuiet ? 'quiet hours' : undefined;
}

const DAY = 1440;
const MINUTE_MS = 60_000;

/** Parses a valid range such as `22:00-07:00`, in minutes since midnight. It spans midnight if `from` is later. */
export function parseQuietHours(text: string) {
  const [h1 = 0, m1 = 0, h2 = 0, m2 = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return { from: h1 * 60 + m1, to: h2 * 60 + m2 };
}

/**
 * Returns the time at which the current quiet hours end, in epoch ms; undefined if `ms` is outside quiet
 * hours.
 */
export function quietUntil({ from, to }: ReturnType<typeof parseQuietHours>, ms: number, zone: string) {
  const minuteAt = (at: number): number => {
    const { hour, minute } = wallClock(at, zone);
    return hour * 60 + minute;
  };
  const isQuiet = (at: number): boolean => {
    const minute = minuteAt(at);
    return from < to ? minute >= from && minute < to : minute >= from || minute < to;
  };
  if (!isQuiet(ms)) return undefined;
  const start = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
  const end = start + ((to - minuteAt(ms) + DAY) % DAY) * MINUTE_MS;
  // If the clock changes for daylight saving time before `end`, `end` is wrong. In that case, search minute by
  // minute.
  if (!isQuiet(end) && isQuiet(end - MINUTE_MS)) return end;
  for (let at = start + MINUTE_MS; at < start + 2 * DAY * MINUTE_MS; at += MINUTE_MS) {
    if (!isQuiet(at)) return at;
  }
  return end;
}

/** Returns the time at which the current quiet hours end; undefined if there are none now. */
export function quietEnd({ quietHours, zone }: Pick<RoutingSettings, 'quietHours' | 'zone'>, nowMs: number) {
  return quietHours === undefined ? undefined : quietUntil(parseQuietHours(quietHours), nowMs, zone);
}

export interface MuteDeps {
  clock: Clock;
  /** The path of `state/mute.json`. */
  mute: string;
}

export interface MuteState {
  muted: boolean;
  /** The time at which the mute ends, as ISO 8601 in UTC; `null` if not muted or muted indefinitely. */
  until: string | null;
}

/** Mutes the voice and banner sounds, for a duration or until `unmute`. */
export function mute(deps: MuteDeps, forMs: number | undefined): MuteState {
  const until = forMs === undefined ? null : toIso(deps.clock.now() + forMs);
  writeObject(deps.mute, { version: 1, until });
  return { muted: true, until };
}

/** Unmutes the voice and banner sounds; returns the previous state. */
export function unmute(deps: MuteDeps): MuteState {
  const before = muteState(deps);
  removeFile(deps.mute);
  return before;
}

export function muteState(deps: MuteDeps): MuteState {
  const text = exists(deps.mute) ? readText(deps.mute, { maxBytes: 4096 }) : undefined;
  if (text === undefined) return { muted: false, until: null };
  const until = parseObject(text)?.['until'];
  const untilMs = typeof until === 'string' ? parseIso(until) : undefined;
  // Treat a corrupt file as muted, because unwanted silence is harmless.
  if (untilMs === undefined) return { muted: true, until: null };
  const muted = untilMs > deps.clock.now();
  return { muted, until: muted ? toIso(untilMs) : null };
}

type ChannelTrouble = { channel: ChannelId } & Trouble;

export async function routesReport(
  deps: MuteDeps & {
    settings: () => RoutingSettings;
    maySpeak: () => boolean;
    channels: readonly Channel[];
  },
) {
  const settings = deps.settings();
  const quietMs = quietEnd(settings, deps.clock.now());
  const troubles = (found: readonly (Trouble | undefined)[]): ChannelTrouble[] =>
    deps.channels.flatMap(({ id }, index) => {
      const trouble = found[index];
      return trouble === undefined ? [] : [{ channel: id, ...trouble }];
    });
  const off = await Promise.all(deps.channels.map((channel) => channel.off() ?? channel.absent?.()));
  const offReason = (id: ChannelId): string | undefined =>
    deps.channels.find((channel) => channel.id === id)?.off()?.reason;
  return {
    events: EVENT_NAMES.map((event) => {
      const channels = new Set(channelsOf(settings, event));
      if (needsTerminal(channels, EVENTS[event].priority, offReason)) channels.add('terminal');
      return {
        event,
        title: EVENTS[event].title,
        voice: settings.spoken.includes(event),
        channels: [...channels],
        /** Whether it waits for a break in your work. */
        atBreak: settings.routing[event].includes('atBreak'),
      };
    }),
    longTaskMinutes: settings.longTaskMinutes,
    breakMinutes: settings.breakMinutes,
    /** Whether the events that steward notices may be spoken. */
    maySpeak: deps.maySpeak(),
    muted: muteState(deps),
    quietHours: settings.quietHours ?? null,
    /** The time at which the current quiet hours end, as ISO 8601 in UTC; `null` outside quiet hours. */
    quietUntil: quietMs === undefined ? null : toIso(quietMs),
    /** Channels that are switched off or not set up. */
    off: troubles(off),
    /** Channels that are enabled but can't send. */
    broken: troubles(deps.channels.map((channel, index) => (off[index] ? undefined : channel.trouble?.()))),
  };
}

export type RoutesReport = Awaited<ReturnType<typeof routesReport>>;
