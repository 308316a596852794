import { join } from 'node:path';

import { StewardError } from '../errors';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, listFolder, lstatOf, removeFile } from '../platform/files/folder';
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
  /** `state/outbox` */
  outbox: string;
}

type At = Pick<OutboxDeps, 'outbox'>;

/** A full outbox takes nothing more. */
export const MAX_WAITING = 20_000;
const RETRY = '.retry';

/** A notification survives the end of any process, not the loss of the machine's power. */
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
      new StewardError('unavailable', `${count} notifications wait already; no more are taken.`, {
        hint: 'See which channel keeps them with "steward notify history", and test it with "steward notify test".',
      }),
  };
}

/** The outbox is made with what is put there first; where it exists it is a real folder, and not a link elsewhere. */
export function checkOutbox(deps: At): void {
  for (const place of ['waiting', 'claimed', 'dead'] as const) {
    const folder = folderOf({ path: deps.outbox }, place);
    if (exists(folder)) ensureFolder(folder);
  }
}

/** Takes back what was just put there; what is claimed already goes on. */
export function takeBack(deps: At, delivery: Delivery): void {
  removeFile(join(deps.outbox, nameOf(delivery)));
}

/** Names of the deliveries that wait, the oldest first. */
export function waiting(deps: At): string[] {
  return namesIn(outboxOf(deps), 'waiting');
}

/** A delivery that waits; undefined when it has gone, or cannot be read. */
export function readWaiting(deps: At, name: string): Delivery | undefined {
  return readEntry(outboxOf(deps), 'waiting', name);
}

/** How many of the oldest that wait another machine has accepted. */
export function foreignDeliveries(deps: Pick<OutboxDeps, 'outbox' | 'machineId'>): number {
  return countForeign(outboxOf(deps), deps.machineId);
}

/** Deliveries of a notification that were given up. */
export function deadOf(deps: At, id: string): Delivery[] {
  return entriesIn(outboxOf(deps), 'dead').filter((delivery) => delivery.id === id);
}

/** The folder of what was given up. */
export function dead(deps: At): string {
  return folderOf({ path: deps.outbox }, 'dead');
}

/** Leaves word for the process that delivers: what waits of this notification is to be tried now. */
export function askRetry(deps: At, id: string): void {
  replaceFile(join(deps.outbox, `${id}${RETRY}`), '', { sync: false });
}

/** What lies in the outbox, by one look at the folder. */
export interface Found {
  /** Deliveries that wait and are not known yet, the oldest first. */
  unknown: string[];
  /** The notifications that `askRetry` was called for since. */
  retries: string[];
}

/** Looks for what others have put there, once a second: a name that is known costs next to nothing. */
export function look(deps: At, isKnown: (name: string) => boolean): Found {
  const strange = listFolder(deps.outbox).filter((name) => !isKnown(name));
  const retries = strange.filter((name) => name.endsWith(RETRY));
  for (const name of retries) removeFile(join(deps.outbox, name));
  return {
    unknown: strange.filter((name) => parseName(name) !== undefined).sort(),
    retries: retries.map((name) => name.slice(0, -RETRY.length)),
  };
}

/** Buries what waits and cannot be read: of a crash of the machine, or of a newer version. False: it is no file, and stays. */
export function buryUnreadable(deps: OutboxDeps, name: string): boolean {
  if (lstatOf(join(deps.outbox, name))?.isFile === false) return false;
  if (readWaiting(deps, name) === undefined)
    bury(outboxOf(deps), 'waiting', name, { atMs: deps.clock.now() });
  return true;
}

export interface OutboxStatus {
  waiting: number;
  /** Given up, and kept for a while. */
  dead: number;
}

export function outboxStatus(deps: At): OutboxStatus {
  const outbox = outboxOf(deps);
  return {
    waiting: namesIn(outbox, 'waiting').length + namesIn(outbox, 'claimed').length,
    dead: deadNames(dead(deps)).length,
  };
}

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
  boot?: BootTime | undefined;
  event: EventName;
  priority: number;
  /** Who speaks; earlier versions left it out. */
  source?: string;
  message: string;
  title?: string | undefined;
  voiceId?: string | undefined;
  url?: string | undefined;
  dedupe?: string | undefined;
  tags: string[];
  silent: boolean;
  /** Of the voice: the message goes to the desktop as well, and need not be shown in place of being spoken. */
  alsoShown?: boolean | undefined;
  /** It waits for the end of the quiet hours, to go out with the others. */
  heldUntil?: string | undefined;
  /** Not before this. */
  nextAt: string;
  /** When `nextAt` was set, after an attempt: a time that is still to come shows that the clock moved back. */
  waitingSince?: string | undefined;
  /** Attempts that ended with an answer, or with none. */
  attempts: number;
  /** How often a process ended in the midst of one. */
  interrupted: number;
  /** Of a message in several parts, how many the channel has taken. */
  sentParts: number;
  /** Set when it is over: what is left to do is to log it and remove the file. */
  result?: Result;
  reason?: string | undefined;
}

export const VERSION = 1;
/** The time it was accepted at, and what tells it from others. */
export const ID_GRAMMAR = /^\d{8}T\d{9}Z-[0-9a-f]{12}$/;
const NAME = /^(\d{8}T\d{9}Z-[0-9a-f]{12})\.([a-z]{1,20})\.json$/;

/** The id of a notification; in the order of time, also within the millisecond of one process. */
export function newId(clock: Clock): string {
  const micros = Math.floor(clock.monotonic() * 1000) % 16 ** 7;
  const unique = micros.toString(16).padStart(7, '0') + randomName(5);
  return `${compactTime(clock.now())}-${unique}`;
}

export function nameOf({ id, channel }: Pick<Delivery, 'id' | 'channel'>): string {
  return `${id}.${channel}.json`;
}

/** Notification and channel of a file of the outbox; undefined for any other file. */
export function parseName(name: string): { id: string; channel: ChannelId } | undefined {
  const [, id, channel] = NAME.exec(name) ?? [];
  return id === undefined ? undefined : { id, channel: channel as ChannelId };
}

/** Is it the content of a file of the outbox? */
export function isDelivery(value: Record<string, unknown>): value is Record<string, unknown> & Delivery {
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
