import { join } from 'node:path';

import { StewardError } from '../errors';
import { ensureFolder, exists, lstatOf } from '../platform/files/folder';
import { deadNames } from '../platform/files/dead-letters';
import { randomName } from '../platform/files/short-hash';
import {
  type Spool,
  bury,
  compactTime,
  countForeign,
  entriesIn,
  folderOf,
  namesIn,
  readEntry,
  timeOfName,
} from '../platform/files/spool';
import { type BootTime, isBootTime, type Clock, isIso } from '../platform/time/clock';
import { type ChannelId, type EventName, isEventName } from './events';

export interface OutboxDeps {
  clock: Clock;
  machineId: string;
  /** The path of `state/outbox`. */
  outbox: string;
}

type At = Pick<OutboxDeps, 'outbox'>;

export type Result =
  | 'delivered'
  /** Not spoken, but shown by another channel. */
  | 'shown'
  /** Not sent, because the channel is off or has nothing to show messages on. */
  | 'skipped'
  /** Rejected by the channel; a retry would fail too. */
  | 'failed'
  /** Not delivered before its deadline. */
  | 'expired'
  /** Replaced, before it was sent, by a newer message with the same dedupe key. */
  | 'superseded'
  /** The delivery may have arrived, but sending was interrupted twice. */
  | 'unknown';

/** A notification for one channel, and all that is known about it: an outbox file. Times are ISO 8601 in UTC. */
export interface Delivery {
  /** The notification's id, which is the same on all channels. */
  id: string;
  channel: ChannelId;
  /** Id of the machine that accepted the delivery. Other machines ignore the delivery. */
  machine: string;
  at: string;
  /** The time of acceptance, measured since boot and therefore unaffected by changes to the system clock. */
  boot?: BootTime | undefined;
  event: EventName;
  priority: number;
  /** Undefined if an earlier version stored the delivery. */
  source?: string | undefined;
  message: string;
  title?: string | undefined;
  voiceId?: string | undefined;
  url?: string | undefined;
  dedupe?: string | undefined;
  /** The session's slug or the question's id. A newer push about it replaces the earlier one. */
  thread?: string | undefined;
  /** Hash of the text, used to find duplicates. */
  hash?: string | undefined;
  tags: string[];
  silent: boolean;
  /** Set on a voice delivery if the notification is also shown on the desktop. */
  alsoShown?: boolean | undefined;
  /** The time at which quiet hours end and the held deliveries are sent together, or a wait for a break ends. */
  heldUntil?: string | undefined;
  /** Whether it waits for a break in your work. */
  atBreak?: true | undefined;
  /** How long it waited for a break, and what ended the wait. */
  waited?: string | undefined;
  nextAt: string;
  /** The time at which an attempt set `nextAt`. If it is in the future, the clock has been set back. */
  waitingSince?: string | undefined;
  /** Whether the user asked for an attempt now, even if the channel is paused. */
  forced?: boolean | undefined;
  attempts: number;
  /** Number of attempts that were interrupted because the process died. */
  interrupted: number;
  /** Number of parts of a long message that have been sent. */
  sentParts: number;
  /** The final result. Stored before it is logged, so that a crash can't lose it. */
  result?: Result | undefined;
  /** Why the last attempt failed, or why the channel is paused. */
  reason?: string | undefined;
}

export const MAX_WAITING = 2_000;
const VERSION = 1;
/** A notification id: the time of acceptance and a unique suffix. */
export const ID_GRAMMAR = /^\d{8}T\d{9}Z-[0-9a-f]{12}$/;
const NAME = /^(\d{8}T\d{9}Z-[0-9a-f]{12})\.([a-z]{1,20})\.json$/;

/** Returns the outbox. Entries are not fsynced: they survive a crash of steward, but not a power failure. */
export function outboxOf({ outbox }: At): Spool<Delivery> {
  return {
    path: outbox,
    version: VERSION,
    parse: (value) => (isDelivery(value) ? value : undefined),
    isName: (name) => parseName(name) !== undefined,
    nameOf,
    machineOf: ({ machine }) => machine,
    timeOf: timeOfName,
    durable: false,
    cap: MAX_WAITING,
    full: (count) =>
      new StewardError('unavailable', `The queue is full: ${count} deliveries are waiting.`, {
        hint: 'See the cause with `steward status`, and check the channels with `steward notify test`.',
      }),
  };
}

/** Throws if an outbox folder is a symbolic link. */
export function checkOutbox(deps: At): void {
  for (const place of ['waiting', 'claimed', 'dead'] as const) {
    const folder = folderOf({ path: deps.outbox }, place);
    if (exists(folder)) ensureFolder(folder);
  }
}

/** Returns the names of pending deliveries, oldest first. */
export function waitingNames(deps: At): string[] {
  return namesIn(outboxOf(deps), 'waiting');
}

/** Returns a pending delivery, or undefined if its file is missing or can't be read. */
export function readWaiting(deps: At, name: string): Delivery | undefined {
  return readEntry(outboxOf(deps), 'waiting', name);
}

/**
 * Returns the newest 2,000 pending deliveries, oldest first. Lists the waiting ones twice, because a delivery
 * may return to them meanwhile.
 */
export function pendingDeliveries(deps: At): Delivery[] {
  const outbox = outboxOf(deps);
  const found = new Map<string, Delivery>();
  for (const place of ['waiting', 'claimed', 'waiting'] as const) {
    for (const name of namesIn(outbox, place).slice(-MAX_WAITING)) {
      const delivery = found.has(name) ? undefined : readEntry(outbox, place, name);
      if (delivery !== undefined) found.set(name, delivery);
    }
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns why pending deliveries wait, such as `push: Server error 500.`, one line per channel. */
export function delays(deps: At): string[] {
  const causes = new Map<ChannelId, string>();
  for (const { channel, reason } of pendingDeliveries(deps))
    if (reason !== undefined) causes.set(channel, `${channel}: ${reason}`);
  return [...causes.values()];
}

/** Returns the number of pending deliveries accepted by another machine. */
export function foreignDeliveries(deps: Pick<OutboxDeps, 'outbox' | 'machineId'>): number {
  return countForeign(outboxOf(deps), deps.machineId);
}

export function deadDeliveries(deps: At): Delivery[] {
  return entriesIn(outboxOf(deps), 'dead');
}

export function deadFolder(deps: At): string {
  return folderOf({ path: deps.outbox }, 'dead');
}

/** Moves an unreadable delivery file to the dead-letter folder. Ignores folders and links. */
export function buryUnreadable(deps: OutboxDeps, name: string): void {
  if (lstatOf(join(deps.outbox, name))?.isFile === false) return;
  bury(outboxOf(deps), 'waiting', name, { atMs: deps.clock.now() });
}

export type OutboxStatus = ReturnType<typeof outboxStatus>;

export function outboxStatus(deps: At) {
  const outbox = outboxOf(deps);
  return {
    waiting: namesIn(outbox, 'waiting').length + namesIn(outbox, 'claimed').length,
    dead: deadNames(deadFolder(deps)).length,
  };
}

/** Returns a new notification id. Ids sort by creation time, even within one millisecond. */
export function newId(clock: Clock): string {
  const micros = Math.floor(clock.monotonic() * 1000) % 16 ** 7;
  const unique = micros.toString(16).padStart(7, '0') + randomName(5);
  return `${compactTime(clock.now())}-${unique}`;
}

export function nameOf({ id, channel }: Pick<Delivery, 'id' | 'channel'>): string {
  return `${id}.${channel}.json`;
}

/** Parses an outbox file name; returns undefined for other files. */
export function parseName(name: string): { id: string; channel: ChannelId } | undefined {
  const [, id, channel] = NAME.exec(name) ?? [];
  return id === undefined ? undefined : { id, channel: channel as ChannelId };
}

function isDelivery(value: Record<string, unknown>): value is Record<string, unknown> & Delivery {
  const { id, channel, machine, at, event, message, nextAt, tags, boot } = value;
  return (
    [id, channel, machine, message].every((text) => typeof text === 'string') &&
    parseName(`${String(id)}.${String(channel)}.json`) !== undefined &&
    isIso(at) &&
    isIso(nextAt) &&
    isEventName(event) &&
    Array.isArray(tags) &&
    (boot === undefined || isBootTime(boot)) &&
    ['priority', 'attempts', 'interrupted', 'sentParts'].every((key) => Number.isSafeInteger(value[key]))
  );
}
