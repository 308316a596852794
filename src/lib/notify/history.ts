import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { appendLog, rotatedName } from '../platform/files/journal';
import { put, revive, timeOfName } from '../platform/files/spool';
import { isIso, toIso, type Clock } from '../platform/time/clock';
import {
  ID_GRAMMAR,
  nameOf,
  type Delivery,
  type Result,
  askRetry,
  deadOf,
  outboxOf,
  readWaiting,
  waiting,
  type OutboxDeps,
} from './outbox';
import type { ChannelId, EventName } from './events';
import { short } from './text';

export interface HistoryDeps {
  clock: Clock;
  /** `observability/notify.jsonl` */
  history: string;
}

/** What a notification says, as the log has it. */
interface About {
  event: EventName;
  priority: number;
  source: string;
  /** Its beginning. */
  text: string;
  title?: string | undefined;
}

/** A notification was accepted, and this is where it goes. */
export interface AcceptedLine extends About {
  kind: 'accepted';
  ts: string;
  id: string;
  channels: ChannelId[];
  skipped: { channel: ChannelId; reason: string }[];
  /** The quiet hours' end, where the push waits for it. */
  heldUntil?: string | undefined;
  dedupe?: string | undefined;
  /** Hash of the text, to know the same again. */
  hash: string;
  /** The one before with the same key and text: this one goes nowhere. */
  duplicateOf?: string;
}

/** What came of an attempt on one channel. `waiting`: it is retried at `nextAt`. */
export interface ResultLine {
  kind: 'result';
  ts: string;
  id: string;
  channel: ChannelId;
  result: Result | 'waiting';
  attempts: number;
  reason?: string | undefined;
  nextAt?: string;
  /** It may have arrived before as well: a process ended in the midst of sending it. */
  maybeTwice?: true;
  /** What it is about: all that shows it where the process that accepted it was killed before its line was written. */
  about?: About;
}

export type HistoryLine = AcceptedLine | ResultLine;

/** Why a push waits that is fine. */
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

/** An unexpected error while delivering; `history` does not show it. */
export function logFault(deps: HistoryDeps, message: string): void {
  append(deps, { kind: 'fault', message });
}

function append(deps: HistoryDeps, line: object): void {
  const nowMs = deps.clock.now();
  const text = JSON.stringify({ ts: toIso(nowMs), ...line });
  appendLog(deps.history, text, { rotateBytes: ROTATE_BYTES, nowMs });
}

/** Every line that is kept, the oldest first; other lines are passed over. */
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
    if (line.kind === 'accepted')
      entries.set(line.id, { ...aboutOf(line, line), channels: channelsOf(line) });
  }
  for (const line of lines) {
    if (line.kind === 'accepted') continue;
    const entry = entries.get(line.id) ?? (line.about && { ...aboutOf(line, line.about), channels: [] });
    if (entry === undefined) continue;
    entries.set(line.id, entry);
    setResult(entry, line);
  }
  return [...entries.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, count);
}

function aboutOf(line: HistoryLine, about: About): Omit<HistoryEntry, 'channels'> {
  const { event, priority, source, text, title = null } = about;
  const at = line.kind === 'accepted' ? line.ts : toIso(timeOfName(line.id));
  const duplicateOf = line.kind === 'accepted' ? (line.duplicateOf ?? null) : null;
  return { id: line.id, at, event, priority, source, text, title, duplicateOf };
}

const WAITS = { result: 'waiting', attempts: 0, reason: null, nextAt: null, maybeTwice: false } as const;

function channelsOf({ channels, skipped, heldUntil }: AcceptedLine): ChannelResult[] {
  const held = heldUntil === undefined ? {} : { nextAt: heldUntil, reason: HELD };
  return [
    ...channels.map((channel) => ({ ...WAITS, channel, ...(channel === 'push' ? held : {}) })),
    ...skipped.map(({ channel, reason }) => ({ ...WAITS, channel, result: 'skipped' as const, reason })),
  ];
}

function setResult({ channels }: HistoryEntry, line: ResultLine): void {
  const { channel, result, attempts, reason = null, nextAt = null, maybeTwice = false } = line;
  const at = channels.findIndex((one) => one.channel === channel);
  channels.splice(at === -1 ? channels.length : at, 1, {
    ...{ channel, result, attempts, reason, nextAt, maybeTwice },
  });
  // What is shown in place of the voice goes on to the desktop, which answers in a line of its own.
  const isMoved = channel === 'voice' && result === 'shown';
  if (isMoved && !channels.some((one) => one.channel === 'desktop')) {
    channels.push({ ...WAITS, channel: 'desktop' });
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
  deps: HistoryDeps,
  id: string,
  timeoutMs: number,
): Promise<HistoryEntry | undefined> {
  const endMs = deps.clock.monotonic() + timeoutMs;
  for (;;) {
    const entry = entryOf(deps, id);
    if ((entry !== undefined && isAnswered(entry)) || deps.clock.monotonic() >= endMs) return entry;
    await delay(50);
  }
}

/**
 * Did it reach the principal, in the sense of `--strict`? Undefined: yes. Every channel that it went to has to
 * have taken it, and at least one has to be left; what waits for the quiet hours' end counts as taken.
 */
export function whyNotReached(entry: HistoryEntry): string | undefined {
  const sent = entry.channels.filter(({ result }) => result !== 'skipped');
  const missed = sent.filter(({ result, attempts, reason }) => {
    const isTaken = ['delivered', 'shown', 'superseded'].includes(result);
    return !isTaken && !(result === 'waiting' && attempts === 0 && reason === HELD);
  });
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
 * Has what is left of a notification tried again now: what was given up, and what waits for its time. An unknown id is
 * `not_found`; one whose channels have all taken it is `conflict`.
 */
export function retry(deps: OutboxDeps & HistoryDeps, id: string): Delivery[] {
  const hint = '`steward notify history` shows them.';
  if (!ID_GRAMMAR.test(id)) throw new StewardError('usage', 'That is no id of a notification.', { hint });
  const at = toIso(deps.clock.now());
  const outbox = outboxOf(deps);
  const fresh = ({
    result: _,
    reason: __,
    waitingSince: ___,
    boot: ____,
    ...delivery
  }: Delivery): Delivery => ({
    ...delivery,
    ...{ machine: deps.machineId, at, nextAt: at, attempts: 0, interrupted: 0 },
  });
  const dead = deadOf(deps, id).map(fresh);
  for (const delivery of dead) revive(outbox, nameOf(delivery), delivery);
  const waits = waiting(deps)
    .filter((name) => name.startsWith(`${id}.`) && !dead.some((delivery) => nameOf(delivery) === name))
    .flatMap((name) => readWaiting(deps, name) ?? []);
  for (const delivery of waits) if (delivery.machine !== deps.machineId) put(outbox, fresh(delivery));
  // The process that delivers has them in memory with their time: told by a mark.
  if (waits.length > 0) askRetry(deps, id);
  const all = [...dead, ...waits];
  if (all.length > 0) return all;
  if (entryOf(deps, id) === undefined) {
    throw new StewardError('not_found', 'There is no such notification.', { hint });
  }
  throw new StewardError(
    'conflict',
    'There is nothing to try again: each channel has taken it, or none was to.',
    { hint: 'Send it again with `steward notify send`.' },
  );
}
