import { dirname } from 'node:path';

import type { RoutedChannel } from '../config/schema';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, removeFile } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { type Clock, parseIso, toIso } from '../platform/time/clock';
import { wallClock } from '../platform/time/zone';
import type { Channel } from './channels/channel';
import { type ChannelId, EVENTS, EVENT_NAMES, type EventName } from './events';
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
  /** Is there a command for short messages (notify.smsCommand)? */
  hasSms: boolean;
}

/** What routing depends on beside the request and the settings. */
export interface RoutingMoment {
  nowMs: number;
  muted: boolean;
  /** DAEMON_CRON_VOICE is 1: jobs may speak. */
  cronVoice: boolean;
  /** Why a channel can take nothing (no topic, switched off); undefined where it can. */
  off: (channel: ChannelId) => string | undefined;
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

/**
 * Which channels a notification goes to, and when (service.md: Events and its rules 7 to 9; decisions.md 5).
 * Pure: the same request, settings and moment give the same plan.
 */
export function route(request: NotifyRequest, settings: RoutingSettings, moment: RoutingMoment): Plan {
  const event = eventFor(request, settings.longTaskMinutes);
  const facts = EVENTS[event];
  const priority = request.priority ?? facts.priority;
  const isUrgent = facts.urgent || priority >= 5;
  const quiet =
    isUrgent || settings.quietHours === undefined
      ? undefined
      : quietUntil(parseQuietHours(settings.quietHours), moment.nowMs, settings.zone);
  const silent = moment.muted || quiet !== undefined || request.source === 'job';
  const plan: Plan = { event, priority, deliveries: [], skipped: [] };

  const wanted = new Set<ChannelId>(settings.routing[event]);
  if (request.source === 'job') {
    // Cadence channels are the silent banner, the log, and the principal's own tool (rule 8).
    wanted.add('desktop');
    if (settings.hasSms) wanted.add('sms');
  }
  if (request.reach === 'desk') wanted.delete('push');
  // The banner stays where nothing else would be seen: it is there when the person comes back.
  const isPushed = wanted.has('push') && moment.off('push') === undefined;
  if (request.reach === 'away' && isPushed) wanted.delete('desktop');
  const voice = voiceFor(request, settings.spoken.includes(event), moment, quiet !== undefined);
  if (voice === 'speak') plan.deliveries.push({ channel: 'voice', silent: false });
  else if (voice !== 'not asked') {
    plan.skipped.push({ channel: 'voice', reason: voice });
    wanted.add('desktop');
  }
  for (const channel of ORDER) {
    if (!wanted.has(channel)) continue;
    const reason = moment.off(channel);
    if (reason !== undefined) plan.skipped.push({ channel, reason });
    else if (channel === 'push' && quiet !== undefined) {
      plan.deliveries.push({ channel, silent, heldUntil: quiet });
    } else plan.deliveries.push({ channel, silent });
  }
  return plan;
}

const ORDER: readonly ChannelId[] = ['desktop', 'push', 'chat', 'sms'];

/** A task that took longer than the threshold is a long one. */
function eventFor(request: Pick<NotifyRequest, 'event' | 'durationSec'>, longTaskMinutes: number): EventName {
  const isLong = request.durationSec !== undefined && request.durationSec > longTaskMinutes * 60;
  return request.event === 'taskComplete' && isLong ? 'longTask' : request.event;
}

/** `speak`; `not asked` where the event or the caller wants no voice; else why it is shown in its place. */
function voiceFor(
  request: NotifyRequest,
  eventSpeaks: boolean,
  moment: RoutingMoment,
  isQuiet: boolean,
): string {
  if (!eventSpeaks || !request.voiceEnabled || request.reach === 'away') return 'not asked';
  // A job is silent unless the principal has allowed it, and then it asks for the voice as anybody does.
  if (request.source === 'job' && !moment.cronVoice) return 'not asked';
  if (request.source === 'subagent') return 'subagents do not speak';
  if (moment.muted) return 'muted';
  if (isQuiet) return 'quiet hours';
  return moment.off('voice') ?? 'speak';
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
  const now = minuteOf(ms, zone);
  if (!isQuietAt(hours, now)) return undefined;
  const start = ms - wallClock(ms, zone).second * 1000 - (((ms % 1000) + 1000) % 1000);
  const left = (hours.to - now + DAY) % DAY;
  const end = start + left * MINUTE_MS;
  // The clock may be changed in between: then the minutes are gone through one by one.
  if (minuteOf(end, zone) === hours.to && left < DAY && !isChanged(start, end, zone)) return end;
  for (let at = start + MINUTE_MS; at < start + 2 * DAY * MINUTE_MS; at += MINUTE_MS) {
    if (!isQuietAt(hours, minuteOf(at, zone))) return at;
  }
  return end;
}

/** Did the wall clock move by something else than the time that passed? */
function isChanged(startMs: number, endMs: number, zone: string): boolean {
  const passed = Math.round((endMs - startMs) / MINUTE_MS);
  const shown = (minuteOf(endMs, zone) - minuteOf(startMs, zone) + DAY) % DAY;
  return passed % DAY !== shown;
}

function minuteOf(ms: number, zone: string): number {
  const { hour, minute } = wallClock(ms, zone);
  return hour * 60 + minute;
}

export interface MuteDeps {
  clock: Clock;
  /** `state/mute.json` */
  mute: string;
}

export interface MuteState {
  muted: boolean;
  /** Until when, ISO-8601 UTC; null: until it is taken back (or not muted). */
  until: string | null;
}

const VERSION = 1;

/** Mutes the voice, and the sound of banners, for so long; without a time until `unmute`. */
export function mute(deps: MuteDeps, forMs: number | undefined): MuteState {
  const until = forMs === undefined ? null : toIso(deps.clock.now() + forMs);
  ensureFolder(dirname(deps.mute));
  replaceFile(deps.mute, `${JSON.stringify({ version: VERSION, until })}\n`);
  return { muted: true, until };
}

/** Takes a mute back. Returns what was before. */
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
