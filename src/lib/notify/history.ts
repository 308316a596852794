import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { appendLog, rotatedName } from '../platform/files/journal';
import { put, revive, timeOfName } from '../platform/files/spool';
import { isIso, toIso, type Clock } from '../platform/time/clock';
import type { ChannelId, EventName } from './events';
import {
  ID_GRAMMAR,
  deadDeliveries,
  nameOf,
  outboxOf,
  readWaiting,
  requestRetry,
  waitingNames,
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

interface About {
  event: EventName;
  priority: number;
  source: string;
  /** The beginning of the message. */
  text: string;
  title?: string | undefined;
}

/** Logged when a notification is accepted. */
export interface AcceptedLine extends About {
  kind: 'accepted';
  ts: string;
  id: string;
  channels: ChannelId[];
  skipped: { channel: ChannelId; reason: string }[];
  heldUntil?: string | undefined;
  dedupe?: string | undefined;
  /** Hash of the text, used to find duplicates. */
  hash: string;
  /** The id of the earlier notification with the same key and text. Set only on a duplicate, which isn't sent. */
  duplicateOf?: string;
}

/** The result of an attempt. After the result `waiting`, the delivery is retried at `nextAt`. */
export interface ResultLine {
  kind: 'result';
  ts: string;
  id: string;
  channel: ChannelId;
  result: Result | 'waiting';
  attempts: number;
  reason?: string | undefined;
  nextAt?: string;
  /** Set if a process died while sending the notification, which may therefore arrive twice. */
  maybeTwice?: true;
  /** The notification's data, used if the `accepted` line is missing. */
  about?: About;
}

export type HistoryLine = AcceptedLine | ResultLine;

/** The reason shown for a push delayed by quiet hours. */
export const HELD = 'quiet hours';

const ROTATE_BYTES = 1024 * 1024;
const TEXT_CHARS = 200;

export function logAccepted(deps: HistoryDeps, line: Omit<AcceptedLine, 'kind' | 'ts'>): void {
  append(deps, { kind: 'accepted', ...line, text: short(line.text, TEXT_CHARS) });
}

export function logResult(
  deps: HistoryDeps,
  delivery: Delivery,
  result: ResultLine['result'],
  reason: string | undefined,
): void {
  const { id, channel, attempts, nextAt, interrupted, event, priority, source = 'da', title } = delivery;
  append(deps, {
    ...{ kind: 'result', id, channel, result, attempts, reason },
    ...(result === 'waiting' ? { nextAt } : {}),
    ...(interrupted > 0 ? { maybeTwice: true } : {}),
    about: { event, priority, source, text: short(delivery.message, TEXT_CHARS), title },
  });
}

export function logFault(deps: HistoryDeps, message: string): void {
  append(deps, { kind: 'fault', message });
}

function append(deps: HistoryDeps, line: object): void {
  const nowMs = deps.clock.now();
  const text = JSON.stringify({ ts: toIso(nowMs), ...line });
  appendLog(deps.history, text, { rotateBytes: ROTATE_BYTES, nowMs });
}

/** Reads all lines of the notification log, oldest first. */
export function readHistory(path: string): HistoryLine[] {
  const lines: HistoryLine[] = [];
  for (const file of [rotatedName(path), path]) {
    readLines(file, {}, ({ text }) => {
      const line = parseObject(text ?? '');
      if (line !== undefined && isLine(line)) lines.push(line);
    });
  }
  return lines;
}

function isLine(line: Record<string, unknown>): line is Record<string, unknown> & HistoryLine {
  const { id, ts, kind, channels, channel } = line;
  if (typeof id !== 'string' || !isIso(ts)) return false;
  return kind === 'accepted' ? Array.isArray(channels) : kind === 'result' && typeof channel === 'string';
}

export interface HistoryEntry {
  id: string;
  at: string;
  event: EventName;
  priority: number;
  source: string;
  text: string;
  title: string | null;
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

/** Returns the latest `count` notifications, newest first, with their latest result on each channel. */
export function historyEntries(lines: readonly HistoryLine[], count: number): HistoryEntry[] {
  const entries = new Map<string, HistoryEntry>();
  for (const line of lines) {
    if (line.kind === 'accepted') entries.set(line.id, { ...headOf(line, line), channels: channelsOf(line) });
  }
  for (const line of lines) {
    if (line.kind === 'accepted') continue;
    const entry = entries.get(line.id) ?? (line.about && { ...headOf(line, line.about), channels: [] });
    if (entry === undefined) continue;
    entries.set(line.id, entry);
    setResult(entry, line);
  }
  return [...entries.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, count);
}

function headOf(line: HistoryLine, about: About): Omit<HistoryEntry, 'channels'> {
  const { event, priority, source, text, title = null } = about;
  const at = line.kind === 'accepted' ? line.ts : toIso(timeOfName(line.id));
  const duplicateOf = line.kind === 'accepted' ? (line.duplicateOf ?? null) : null;
  return { id: line.id, at, event, priority, source, text, title, duplicateOf };
}

const PENDING = { result: 'waiting', attempts: 0, reason: null, nextAt: null, maybeTwice: false } as const;

function channelsOf({ channels, skipped, heldUntil }: AcceptedLine): ChannelResult[] {
  const held = heldUntil === undefined ? {} : { nextAt: heldUntil, reason: HELD };
  return [
    ...channels.map((channel) => ({ ...PENDING, channel, ...(channel === 'push' ? held : {}) })),
    ...skipped.map(({ channel, reason }) => ({ ...PENDING, channel, result: 'skipped' as const, reason })),
  ];
}

function setResult({ channels }: HistoryEntry, line: ResultLine): void {
  const { channel, result, attempts, reason = null, nextAt = null, maybeTwice = false } = line;
  const at = channels.findIndex((known) => known.channel === channel);
  channels.splice(at === -1 ? channels.length : at, 1, {
    ...{ channel, result, attempts, reason, nextAt, maybeTwice },
  });
  // A voice delivery that was moved to the desktop counts as pending there until the desktop logs a result.
  const isMoved = channel === 'voice' && result === 'shown';
  if (isMoved && !channels.some((known) => known.channel === 'desktop')) {
    channels.push({ ...PENDING, channel: 'desktop' });
  }
}

/** Returns a notification from the log, or undefined if the log doesn't contain it. */
export function entryOf(deps: HistoryDeps, id: string): HistoryEntry | undefined {
  const lines = readHistory(deps.history).filter((line) => line.id === id);
  return historyEntries(lines, 1)[0];
}

/** Returns whether every channel has a result. A push held for quiet hours counts as a result. */
export function isAnswered(entry: HistoryEntry): boolean {
  return entry.channels.every(
    ({ result, attempts, nextAt }) => result !== 'waiting' || attempts > 0 || nextAt !== null,
  );
}

/**
 * Waits up to `timeoutMs` for a result on every channel. Returns undefined if the log doesn't contain the
 * notification.
 */
export async function awaitAnswers(
  deps: HistoryDeps,
  id: string,
  timeoutMs: number,
): Promise<HistoryEntry | undefined> {
  const endMs = deps.clock.monotonic() + timeoutMs;
  for (;;) {
    const entry = entryOf(deps, id);
    if ((entry !== undefined && isAnswered(entry)) || deps.clock.monotonic() >= endMs) return entry;
    await delay(25);
  }
}

/**
 * Returns the reason for `--strict` to report a failure; undefined if every channel accepted the notification.
 * A push held for quiet hours counts as accepted.
 */
export function whyUndelivered(entry: HistoryEntry): string | undefined {
  const sent = entry.channels.filter(({ result }) => result !== 'skipped');
  const missed = sent.filter(({ result, attempts, reason }) => {
    const isAccepted = ['delivered', 'shown', 'superseded'].includes(result);
    return !isAccepted && !(result === 'waiting' && attempts === 0 && reason === HELD);
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

/** Returns the number of notifications that weren't delivered on any channel but can still be retried. */
export function undeliveredCount(deps: Pick<OutboxDeps & HistoryDeps, 'outbox' | 'history'>): number {
  const ids = new Set(deadDeliveries(deps).map(({ id }) => id));
  if (ids.size === 0) return 0;
  const lines = readHistory(deps.history).filter(({ id }) => ids.has(id));
  const arrived = historyEntries(lines, Infinity).filter(({ channels }) =>
    channels.some(({ result }) => ['delivered', 'superseded', 'waiting'].includes(result)),
  );
  return ids.size - arrived.length;
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
  const restarted = (delivery: Delivery): Delivery => ({
    ...delivery,
    ...{ result: undefined, reason: undefined, waitingSince: undefined, boot: undefined },
    ...{ machine: deps.machineId, at, nextAt: at, attempts: 0, interrupted: 0 },
  });
  const dead = deadDeliveries(deps)
    .filter((delivery) => delivery.id === id)
    .map(restarted);
  for (const delivery of dead) {
    // Log this first, because the result may follow as soon as the delivery is back in the queue.
    logResult(deps, delivery, 'waiting', undefined);
    revive(outbox, nameOf(delivery), delivery);
  }
  const revived = new Set(dead.map(nameOf));
  const waiting = waitingNames(deps)
    .filter((name) => name.startsWith(`${id}.`) && !revived.has(name))
    .flatMap((name) => readWaiting(deps, name) ?? []);
  for (const delivery of waiting) if (delivery.machine !== deps.machineId) put(outbox, restarted(delivery));
  // The delivering process keeps deliveries in memory and must be told to retry.
  if (waiting.length > 0) requestRetry(deps, id);
  const retried = [...dead, ...waiting];
  if (retried.length > 0) return retried;
  if (entryOf(deps, id) === undefined) {
    throw new StewardError('not_found', `Notification ${id} not found.`, { hint });
  }
  throw new StewardError('conflict', 'Nothing to retry: there are no failed or pending deliveries.', {
    hint: 'See the results with `steward notify history`.',
  });
}
