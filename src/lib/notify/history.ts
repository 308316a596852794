import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { appendLog, rotatedName } from '../platform/files/log';
import { type Clock, parseIso, toIso } from '../platform/time/clock';
import { type Delivery, type Result, nameOf, ID_GRAMMAR } from './delivery';
import type { ChannelId, EventName } from './events';
import { type OutboxDeps, askRetry, deadOf, put, readWaiting, revive, waiting } from './outbox';
import { short } from './text';

export interface HistoryDeps {
  clock: Clock;
  /** `observability/notify.jsonl` */
  history: string;
}

/** A notification was accepted, and this is where it goes. */
export interface AcceptedLine {
  kind: 'accepted';
  ts: string;
  id: string;
  event: EventName;
  priority: number;
  source: string;
  /** Its beginning. */
  text: string;
  title?: string;
  channels: ChannelId[];
  skipped: { channel: ChannelId; reason: string }[];
  /** The quiet hours' end, where the push waits for it. */
  heldUntil?: string;
  dedupe?: string;
  /** Hash of the text, to know the same again. */
  hash: string;
  /** The one before with the same key and text: this one goes nowhere. */
  duplicateOf?: string;
}

/** What came of an attempt on one channel. `waiting`: it is tried again at `nextAt`. */
export interface ResultLine {
  kind: 'result';
  ts: string;
  id: string;
  channel: ChannelId;
  result: Result | 'waiting';
  attempts: number;
  reason?: string;
  nextAt?: string;
  /** It may have arrived before as well: a process ended in the midst of sending it. */
  maybeTwice?: true;
}

export type HistoryLine = AcceptedLine | ResultLine;

/** Why a push waits that is fine. */
export const HELD = 'quiet hours';

const ROTATE_BYTES = 1024 * 1024;
const TEXT_CHARS = 200;

export function logAccepted(deps: HistoryDeps, line: Omit<AcceptedLine, 'kind' | 'ts'>): void {
  const text = short(line.text, TEXT_CHARS);
  append(deps, { kind: 'accepted', ts: toIso(deps.clock.now()), ...line, text });
}

export function logResult(
  deps: HistoryDeps,
  delivery: Delivery,
  result: ResultLine['result'],
  reason: string | undefined,
): void {
  append(deps, {
    kind: 'result',
    ts: toIso(deps.clock.now()),
    id: delivery.id,
    channel: delivery.channel,
    result,
    attempts: delivery.attempts,
    ...(reason === undefined ? {} : { reason }),
    ...(result === 'waiting' ? { nextAt: delivery.nextAt } : {}),
    ...(delivery.interrupted > 0 ? { maybeTwice: true } : {}),
  });
}

/** Something that nobody foresaw while delivering; `history` does not show it. */
export function logFault(deps: HistoryDeps, message: string): void {
  const line = { kind: 'fault', ts: toIso(deps.clock.now()), message };
  appendLog(deps.history, JSON.stringify(line), { rotateBytes: ROTATE_BYTES, nowMs: deps.clock.now() });
}

function append(deps: HistoryDeps, line: HistoryLine): void {
  appendLog(deps.history, JSON.stringify(line), { rotateBytes: ROTATE_BYTES, nowMs: deps.clock.now() });
}

/** Every line that is kept, the oldest first; lines that are none of ours are passed over. */
export function readHistory(path: string): HistoryLine[] {
  const lines: HistoryLine[] = [];
  for (const file of [rotatedName(path), path]) {
    readLines(file, {}, ({ text }) => {
      const line = text === undefined ? undefined : parseLine(text);
      if (line !== undefined) lines.push(line);
    });
  }
  return lines;
}

function parseLine(text: string): HistoryLine | undefined {
  const value = parseObject(text);
  if (value === undefined || typeof value['id'] !== 'string' || typeof value['ts'] !== 'string')
    return undefined;
  if (parseIso(value['ts']) === undefined) return undefined;
  if (value['kind'] === 'accepted') return Array.isArray(value['channels']) ? (value as never) : undefined;
  return value['kind'] === 'result' && typeof value['channel'] === 'string' ? (value as never) : undefined;
}

/** A notification with what came of it on each channel. */
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
  /** `waiting`: not over; `skipped`: it was not sent there. */
  result: Result | 'waiting' | 'skipped';
  attempts: number;
  reason: string | null;
  nextAt: string | null;
  maybeTwice: boolean;
}

/** The last notifications, the newest first; the last word of each channel counts. */
export function historyEntries(lines: readonly HistoryLine[], count: number): HistoryEntry[] {
  const entries = new Map<string, HistoryEntry>();
  for (const line of lines) {
    if (line.kind === 'accepted') entries.set(line.id, acceptedEntry(line));
  }
  for (const line of lines) {
    const entry = line.kind === 'result' ? entries.get(line.id) : undefined;
    if (line.kind === 'result' && entry !== undefined) setResult(entry, line);
  }
  return [...entries.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, count);
}

function acceptedEntry(line: AcceptedLine): HistoryEntry {
  const waits = { attempts: 0, reason: null, nextAt: null, maybeTwice: false };
  return {
    id: line.id,
    at: line.ts,
    event: line.event,
    priority: line.priority,
    source: line.source,
    text: line.text,
    title: line.title ?? null,
    duplicateOf: line.duplicateOf ?? null,
    channels: [
      ...line.channels.map((channel) => ({
        ...waits,
        channel,
        result: 'waiting' as const,
        ...(channel === 'push' && line.heldUntil !== undefined
          ? { nextAt: line.heldUntil, reason: HELD }
          : {}),
      })),
      ...line.skipped.map(({ channel, reason }) => ({
        ...waits,
        channel,
        result: 'skipped' as const,
        reason,
      })),
    ],
  };
}

function setResult(entry: HistoryEntry, line: ResultLine): void {
  const at = entry.channels.findIndex(({ channel }) => channel === line.channel);
  const result: ChannelResult = {
    channel: line.channel,
    result: line.result,
    attempts: line.attempts,
    reason: line.reason ?? null,
    nextAt: line.nextAt ?? null,
    maybeTwice: line.maybeTwice === true,
  };
  if (at === -1) entry.channels.push(result);
  else entry.channels[at] = result;
  // What is shown in place of the voice goes on to the desktop, which answers in a line of its own.
  const isMoved = line.channel === 'voice' && line.result === 'shown';
  if (isMoved && !entry.channels.some(({ channel }) => channel === 'desktop')) {
    const waits = { attempts: 0, reason: null, nextAt: null, maybeTwice: false };
    entry.channels.push({ ...waits, channel: 'desktop', result: 'waiting' });
  }
}

/** One notification as the history has it; undefined while nothing is logged of it. */
export function entryOf(deps: HistoryDeps, id: string): HistoryEntry | undefined {
  const lines = readHistory(deps.history).filter((line) => line.id === id);
  return historyEntries(lines, 1)[0];
}

/** Has each channel answered at least once? What waits for the quiet hours' end is not waited for. */
export function isAnswered(entry: HistoryEntry): boolean {
  return entry.channels.every(
    ({ result, attempts, nextAt }) => result !== 'waiting' || attempts > 0 || nextAt !== null,
  );
}

/** Waits until each channel has answered once, at most so long. Undefined: nothing is known of the notification. */
export async function awaitAnswers(
  deps: HistoryDeps & { clock: Clock },
  id: string,
  timeoutMs: number,
): Promise<HistoryEntry | undefined> {
  const endMs = deps.clock.monotonic() + timeoutMs;
  for (;;) {
    const entry = entryOf(deps, id);
    if (entry !== undefined && isAnswered(entry)) return entry;
    if (deps.clock.monotonic() >= endMs) return entry;
    await delay(50);
  }
}

/**
 * Did it reach the principal, in the sense of `--strict`? Undefined: yes. Every channel that it went to has to
 * have taken it, and at least one has to be left; what waits for the quiet hours' end counts as taken.
 */
export function whyNotReached(entry: HistoryEntry): string | undefined {
  const sent = entry.channels.filter(({ result }) => result !== 'skipped');
  const isTaken = ({ result, attempts, reason }: (typeof sent)[number]): boolean =>
    ['delivered', 'shown', 'superseded'].includes(result) ||
    (result === 'waiting' && attempts === 0 && reason === HELD);
  const missed = sent.filter((one) => !isTaken(one));
  if (missed.length > 0) {
    return missed
      .map(
        ({ channel, result, reason }) =>
          `${channel}: ${reason ?? (result === 'waiting' ? 'no answer yet' : result)}`,
      )
      .join('; ');
  }
  if (sent.length > 0 || entry.duplicateOf !== null) return undefined;
  const reasons = entry.channels.map(({ channel, reason }) => `${channel}: ${reason ?? 'off'}`);
  return ['no channel takes it', ...reasons].join('; ');
}

/**
 * Has what is left of a notification tried again now: what was given up, and what waits for its time. An id that
 * nobody knows is `not_found`; one whose channels have all taken it is `conflict`.
 */
export function retry(deps: OutboxDeps & HistoryDeps, id: string): Delivery[] {
  if (!ID_GRAMMAR.test(id)) {
    throw new StewardError('usage', 'That is no id of a notification.', {
      hint: '`steward notify history` shows them.',
    });
  }
  const nowIso = toIso(deps.clock.now());
  const fresh = ({
    result: _,
    reason: __,
    waitingSince: ___,
    boot: ____,
    ...delivery
  }: Delivery): Delivery => ({
    ...delivery,
    machine: deps.machineId,
    at: nowIso,
    nextAt: nowIso,
    attempts: 0,
    interrupted: 0,
  });
  const dead = deadOf(deps, id).map(fresh);
  for (const delivery of dead) revive(deps, delivery);
  const waits = waiting(deps)
    .filter((name) => name.startsWith(`${id}.`) && !dead.some((delivery) => nameOf(delivery) === name))
    .map((name) => readWaiting(deps, name))
    .filter((delivery) => delivery !== undefined);
  for (const delivery of waits) if (delivery.machine !== deps.machineId) put(deps, fresh(delivery));
  // Whoever delivers has them in memory with their time: told by a mark.
  if (waits.length > 0) askRetry(deps, id);
  const all = [...dead, ...waits];
  if (all.length > 0) return all;
  if (entryOf(deps, id) === undefined) {
    throw new StewardError('not_found', 'There is no such notification.', {
      hint: '`steward notify history` shows them.',
    });
  }
  throw new StewardError(
    'conflict',
    'There is nothing to try again: each channel has taken it, or none was to.',
    {
      hint: 'Send it again with `steward notify send`.',
    },
  );
}
