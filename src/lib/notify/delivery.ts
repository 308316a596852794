import { parseObject } from '../platform/files/json-object';
import { randomName } from '../platform/files/short-hash';
import { type BootTime, isBootTime } from '../platform/time/boot-time';
import { type Clock, isIso, toIso } from '../platform/time/clock';
import { type ChannelId, type EventName, isEventName } from './events';

/** What becomes of a delivery in the end. */
export type Result =
  /** The channel took it. */
  | 'delivered'
  /** It was to be spoken, and is shown instead. */
  | 'shown'
  /** The channel will not take it, whenever it is tried. */
  | 'failed'
  /** It could not be delivered as long as it was worth it. */
  | 'expired'
  /** A newer message of the same key took its place before it went out. */
  | 'superseded'
  /** Two processes ended in the midst of it: it may have arrived. */
  | 'unknown';

/** A notification on its way to one channel: the content of a file of the outbox. Times are ISO-8601 UTC. */
export interface Delivery {
  /** Of the notification: the same for all its channels. */
  id: string;
  channel: ChannelId;
  /** The machine that accepted it: another one that shares the folder leaves it alone. */
  machine: string;
  at: string;
  /** The same moment by the clock that nobody sets. */
  boot?: BootTime;
  event: EventName;
  priority: number;
  message: string;
  title?: string;
  voiceId?: string;
  url?: string;
  dedupe?: string;
  tags: string[];
  silent: boolean;
  /** Of the voice: the message goes to the desktop as well, and need not be shown in place of being spoken. */
  alsoShown?: boolean;
  /** It waited for the end of the quiet hours, to go out with the others. */
  heldUntil?: string;
  /** Not before this. */
  nextAt: string;
  /** When `nextAt` was set, after an attempt: a time that is still to come shows that the clock was put back. */
  waitingSince?: string;
  /** Attempts that ended with an answer, or with none. */
  attempts: number;
  /** How often a process ended in the midst of one. */
  interrupted: number;
  /** Of a message in several parts, how many the channel has taken. */
  sentParts: number;
  /** Set when it is over: what is left to do is to log it and remove the file. */
  result?: Result;
  reason?: string;
}

const VERSION = 1;
const CHANNELS: readonly string[] = ['voice', 'push', 'chat', 'desktop', 'sms'] satisfies ChannelId[];

/** `20261120T080000123Z-0123456789ab`: in the order of time. */
const ID_LENGTH = 32;

export function nameOf(delivery: Pick<Delivery, 'id' | 'channel'>): string {
  return `${delivery.id}.${delivery.channel}.json`;
}

/** The channel in the name of a file of the outbox, which is not looked at closely; `parseName` does. */
export function channelOf(name: string): string {
  return name.slice(ID_LENGTH + 1, -'.json'.length);
}

/** Notification and channel of a file of the outbox; undefined for a file that is none. */
export function parseName(name: string): { id: string; channel: ChannelId } | undefined {
  const [id = '', channel = '', end] = name.split('.');
  if (end !== 'json' || !ID_GRAMMAR.test(id) || !CHANNELS.includes(channel)) return undefined;
  return { id, channel: channel as ChannelId };
}

export function deliveryText(delivery: Delivery): string {
  return `${JSON.stringify({ version: VERSION, ...delivery })}\n`;
}

/** The delivery in a file's text; undefined when it is none, or of a format that this version does not know. */
export function parseDelivery(text: string): Delivery | undefined {
  const value = parseObject(text);
  if (value === undefined || value['version'] !== VERSION) return undefined;
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'version'));
  const { id, channel, machine, at, event, message, nextAt, tags } = rest;
  const isKnown = typeof id === 'string' && ID_GRAMMAR.test(id) && CHANNELS.includes(String(channel));
  const isTimed = isIso(at) && isIso(nextAt);
  if (!isKnown || !isTimed || typeof machine !== 'string' || typeof message !== 'string') return undefined;
  if (typeof event !== 'string' || !isEventName(event) || !Array.isArray(tags)) return undefined;
  if (rest['boot'] !== undefined && !isBootTime(rest['boot'])) return undefined;
  const counts = ['priority', 'attempts', 'interrupted', 'sentParts'].map((key) => rest[key]);
  return counts.every(Number.isSafeInteger) ? (rest as unknown as Delivery) : undefined;
}

/** The id of a notification: the time it was accepted at, and what tells it from others. */
export const ID_GRAMMAR = /^\d{8}T\d{9}Z-[0-9a-f]{12}$/;

/** In the order of time, also within the millisecond of one process. */
export function newId(clock: Clock): string {
  const micros = Math.floor(clock.monotonic() * 1000) % 16 ** 7;
  const unique = micros.toString(16).padStart(7, '0') + randomName(5);
  return `${toIso(clock.now()).replace(/[-:.]/g, '')}-${unique}`;
}

/** When an id was made, wall-clock ms. */
export function timeOfId(id: string): number {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(id) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}
