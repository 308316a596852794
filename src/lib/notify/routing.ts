import type { RoutedChannel } from '../config/schema';
import { EVENTS, type ChannelId, type EventName } from './events';
import type { NotifyRequest } from './message';
import { parseQuietHours, quietUntil } from './quiet-hours';

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
