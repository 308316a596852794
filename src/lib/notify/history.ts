import { setTimeout as delay } from 'node:timers/promises';

import { StewardError, toStewardError } from '../errors';
import { isObject, parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { appendLog, rotatedName } from '../platform/files/journal';
import { revive, takeAside, timeOfName, withdraw } from '../platform/files/spool';
import { isIso, toIso, type Clock } from '../platform/time/clock';
import { CHANNEL_ORDER, type ChannelId, type EventName } from './events';
import {
  ID_GRAMMAR,
  deadDeliveries,
  nameOf,
  outboxOf,
  pendingDeliveries,
  type Delivery,
  type OutboxDeps,
  type Result,
} from './outbox';
import { short } from './text';

export interface HistoryDeps {
  clock: Clock;
  /** The path of `observability/notify.jsonl`. */
  history: string;
}

type Records = HistoryDeps & Pick<OutboxDeps, 'outbox'>;

export interface HistoryEntry {
  id: string;
  at: string;
  event: EventName;
  priority: number;
  source: string;
  text: string;
  title: string | null;
  /** The id of the earlier notification with the same key and text. A duplicate isn't sent. */
  duplicateOf: string | null;
  channels: ChannelResult[];
}

export interface ChannelResult {
  channel: ChannelId;
  /** `waiting` means still pending; `skipped` means not sent on this channel. */
  result: Result | 'waiting' | 'skipped';
  attempts: number;
  reason: string | null;
  nextAt: string | null;
  maybeTwice: boolean;
}

/**
 * A line of the notification log: the final results of one notification on some channels. It is written when
 * a delivery ends, and on acceptance for skipped channels; until then, the outbox file is the only record.
 */
export interface HistoryLine extends HistoryEntry {
  dedupe?: string | undefined;
  /** Hash of the text, used to find duplicates. */
  hash?: string | undefined;
}

/** The reasons shown for what is held: by quiet hours, or until a break. */
const HELD = 'quiet hours';
const BREAK = 'waiting for a break';

const ROTATE_BYTES = 1024 * 1024;
const TEXT_CHARS = 200;

/** Logs the result of a delivery that has ended. */
export function logEnd(deps: HistoryDeps, ended: Delivery): void {
  logLine(deps, lineOf(ended, [resultOf(ended)]));
}

/** Withdraws a pending delivery, unless it is being sent. */
export function supersede(deps: HistoryDeps & OutboxDeps, old: Delivery, reason: string): void {
  if (withdraw(outboxOf(deps), nameOf(old))) logEnd(deps, { ...old, result: 'superseded', reason });
}

/** Appends a line: a `HistoryLine`, or a fault of steward. */
export function logLine(deps: HistoryDeps, line: HistoryLine | { kind: 'fault'; message: string }): void {
  const nowMs = deps.clock.now();
  const text = JSON.stringify({ ts: toIso(nowMs), ...line });
  appendLog(deps.history, text, { rotateBytes: ROTATE_BYTES, nowMs });
}

/** Logs a fault of the delivery. */
export function noteFault(deps: HistoryDeps, error: unknown): void {
  try {
    logLine(deps, { kind: 'fault', message: toStewardError(error).message });
  } catch {
    // Ignore the error. If the disk is full, it can't be logged, but undelivered notifications stay in the
    // outbox.
  }
}

/** Reads the lines of the notification log that contain `part`, oldest first. */
export function readHistory(path: string, part = ''): HistoryLine[] {
  const lines: HistoryLine[] = [];
  for (const file of [rotatedName(path), path]) {
    readLines(file, {}, ({ text }) => {
      const line = text?.includes(part) === true ? parseObject(text) : undefined;
      if (line !== undefined && isLine(line)) lines.push(line);
    });
  }
  return lines;
}

function isLine(line: Record<string, unknown>): line is Record<string, unknown> & HistoryLine {
  const { id, at, channels } = line;
  return typeof id === 'string' && isIso(at) && Array.isArray(channels) && channels.every(isObject);
}

/** Returns what is logged about a notification. */
export function lineOf(
  about: Pick<Delivery, 'id' | 'event' | 'priority' | 'source' | 'message' | 'title' | 'dedupe' | 'hash'>,
  channels: ChannelResult[],
): HistoryLine {
  const { id, event, priority, source = 'da', message, title = null, dedupe, hash } = about;
  const text = short(message, TEXT_CHARS);
  const at = toIso(timeOfName(id));
  return { id, at, event, priority, source, text, title, duplicateOf: null, channels, dedupe, hash };
}

export const NO_RESULT = { attempts: 0, reason: null, nextAt: null, maybeTwice: false } as const;

function resultOf(delivery: Delivery): ChannelResult {
  const { channel, result = 'waiting', attempts, interrupted, reason = null, atBreak } = delivery;
  const isDelayed = result === 'waiting' && delivery.nextAt !== delivery.at;
  const isHeld = isDelayed && delivery.nextAt === delivery.heldUntil;
  const nextAt = isDelayed ? delivery.nextAt : null;
  const held = atBreak ? BREAK : HELD;
  return { channel, result, attempts, reason: isHeld ? held : reason, nextAt, maybeTwice: interrupted > 0 };
}

/**
 * Returns the latest `count` notifications, newest first, with their results: those of the outbox, and for
 * deliveries that have ended, those of the log.
 */
export function readEntries(deps: Pick<Records, 'history' | 'outbox'>, count: number, id = '') {
  // Read the outbox first, because a delivery that ends meanwhile is then in the log.
  const pending = pendingDeliveries(deps);
  const entries = new Map<string, HistoryEntry>();
  for (const line of readHistory(deps.history, id)) merge(entries, line);
  for (const delivery of pending) merge(entries, lineOf(delivery, [resultOf(delivery)]));
  const latest = [...entries.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, count);
  const order = ({ channel }: ChannelResult): number => CHANNEL_ORDER.indexOf(channel);
  for (const { channels } of latest) channels.sort((a, b) => order(a) - order(b));
  return latest;
}

function merge(entries: Map<string, HistoryEntry>, line: HistoryLine): void {
  const { id, at, event, priority, source, text, title, duplicateOf } = line;
  const about = { id, at, event, priority, source, text, title, duplicateOf };
  const entry = entries.get(id) ?? { ...about, channels: [] };
  entries.set(id, entry);
  for (const result of line.channels) {
    const index = entry.channels.findIndex(({ channel }) => channel === result.channel);
    entry.channels.splice(index === -1 ? entry.channels.length : index, 1, result);
  }
}

/** Returns a notification, or undefined if it is neither in the outbox nor in the log. */
export function entryOf(deps: Records, id: string): HistoryEntry | undefined {
  return readEntries(deps, Infinity, id).find((entry) => entry.id === id);
}

/** Returns whether every channel has a result. What is held counts as a result. */
export function isAnswered(entry: HistoryEntry): boolean {
  return entry.channels.every(
    ({ result, attempts, nextAt }) => result !== 'waiting' || attempts > 0 || nextAt !== null,
  );
}

/**
 * Waits up to `timeoutMs` for a result on every channel. Returns undefined if the log doesn't contain the
 * notification.
 */
export async function awaitAnswers(deps: Records, id: string, timeoutMs: number) {
  const endMs = deps.clock.monotonic() + timeoutMs;
  for (;;) {
    const entry = entryOf(deps, id);
    if ((entry !== undefined && isAnswered(entry)) || deps.clock.monotonic() >= endMs) return entry;
    await delay(25);
  }
}

/**
 * Returns the reason for `--strict` to report a failure; undefined if every channel accepted the notification.
 * What is held counts as accepted.
 */
export function whyUndelivered(entry: HistoryEntry): string | undefined {
  const sent = entry.channels.filter(({ result }) => result !== 'skipped');
  const missed = sent.filter(({ result, attempts, reason }) => {
    const isAccepted = ['delivered', 'shown', 'superseded'].includes(result);
    return !isAccepted && !(result === 'waiting' && attempts === 0 && [HELD, BREAK].includes(reason ?? ''));
  });
  if (missed.length > 0) {
    return missed
      .map(
        ({ channel, result, reason }) =>
          `${channel}: ${reason ?? (result === 'waiting' ? 'no result yet' : result)}`,
      )
      .join('; ');
  }
  if (sent.length > 0 || entry.duplicateOf !== null) return undefined;
  const reasons = entry.channels.map(({ channel, reason }) => `${channel}: ${reason ?? 'off'}`);
  return ['no channel is configured for this event', ...reasons].join('; ');
}

/** Returns the notifications that weren't delivered on any channel but can still be retried. */
export function undelivered(deps: Pick<Records, 'history' | 'outbox'>): HistoryEntry[] {
  const ids = new Set(deadDeliveries(deps).map(({ id }) => id));
  if (ids.size === 0) return [];
  const isReached = ({ result }: ChannelResult): boolean =>
    ['delivered', 'superseded', 'waiting'].includes(result);
  return readEntries(deps, Infinity).filter(({ id, channels }) => ids.has(id) && !channels.some(isReached));
}

/**
 * Retries a notification immediately on each channel where it failed or is pending. Throws `not_found` if the
 * id is unknown, and `conflict` if there is nothing to retry.
 */
export function retry(deps: OutboxDeps & HistoryDeps, id: string): Delivery[] {
  const hint = 'Find the id with `steward notify history`.';
  if (!ID_GRAMMAR.test(id)) throw new StewardError('usage', `"${id}" is not a notification id.`, { hint });
  const at = toIso(deps.clock.now());
  const outbox = outboxOf(deps);
  const isMeant = (delivery: Delivery): boolean => delivery.id === id;
  // Take the waiting files aside, so that the delivering process doesn't claim them meanwhile.
  for (const waiting of pendingDeliveries(deps).filter(isMeant)) takeAside(outbox, nameOf(waiting));
  const retried = deadDeliveries(deps).filter(isMeant);
  for (const delivery of retried) {
    revive(outbox, nameOf(delivery), {
      ...delivery,
      result: undefined,
      reason: undefined,
      waitingSince: undefined,
      boot: undefined,
      machine: deps.machineId,
      at,
      nextAt: at,
      forced: true,
      attempts: 0,
      interrupted: 0,
    });
  }
  if (retried.length > 0) return retried;
  if (entryOf(deps, id) === undefined) {
    throw new StewardError('not_found', `Notification ${id} not found.`, { hint });
  }
  throw new StewardError('conflict', 'Nothing to retry: there are no failed or pending deliveries.', {
    hint: 'See the results with `steward notify history`.',
  });
}
