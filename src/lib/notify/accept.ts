import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { claimFile } from '../platform/files/atomic-file';
import { ensureFolder, listFolder, removeFile } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import { shortHash } from '../platform/files/short-hash';
import { put, timeOfName, withdraw } from '../platform/files/spool';
import { toIso, type Clock } from '../platform/time/clock';
import type { Channel } from './channels/channel';
import { entryOf, logAccepted, logResult, readHistory, type AcceptedLine, type HistoryDeps } from './history';
import { parseRequest, type NotifyRequest } from './message';
import {
  ID_GRAMMAR,
  nameOf,
  newId,
  outboxOf,
  parseName,
  readWaiting,
  type Delivery,
  type OutboxDeps,
} from './outbox';
import { muteState, route, type MuteDeps, type Plan, type RoutingSettings } from './routing';

export interface AcceptDeps extends OutboxDeps, HistoryDeps, MuteDeps {
  clock: Clock;
  locks: string;
  settings: () => RoutingSettings;
  channels: readonly Channel[];
  /** Throws if the outbox has no room for the given number of deliveries. */
  room: (deliveries: number) => void;
  /** Whether notifications from jobs may be spoken. Set with DAEMON_CRON_VOICE=1. */
  cronVoice: boolean;
  /** Sets a session's phase. Returns the reason for a failure, or undefined; never throws. */
  phaseEffect?: (phase: string, slug: string | undefined) => Promise<string | undefined>;
  /** Returns whether the session with this slug is restricted. */
  isRestricted?: (slug: string) => Promise<boolean>;
  wake?: (deliveries: readonly Delivery[]) => void;
}

/** The body of a 202 response to `POST /notify`. */
export interface Accepted {
  status: 'accepted';
  id: string;
  /**
   * Why the phase wasn't written: `no session`, `unknown` (no such phase), `not written` (an error), or
   * `not known` if the daemon didn't respond.
   */
  phase?: string;
}

/** How long to suppress a repeated text with the same dedupe key. */
const DEDUPE_MS = 12 * 3_600_000;
const LOCK_WAIT_MS = 5_000;

/** Accepts a request body and queues a delivery for each channel. Throws `usage` if the body is invalid. */
export async function acceptNotification(deps: AcceptDeps, body: unknown): Promise<Accepted> {
  return acceptRequest(deps, parseRequest(body));
}

export async function acceptRequest(
  deps: AcceptDeps,
  request: NotifyRequest,
  id = newId(deps.clock),
): Promise<Accepted> {
  const plan = route(request, deps.settings(), {
    nowMs: deps.clock.now(),
    muted: muteState(deps).muted,
    cronVoice: deps.cronVoice,
    channels: deps.channels,
  });
  const restricted = request.slug !== undefined && (await deps.isRestricted?.(request.slug)) === true;
  const deliveries = deliveriesOf(deps, request, plan, id).map((delivery) =>
    restricted ? { ...delivery, restricted } : delivery,
  );
  const line = lineOf(request, plan, id);
  const { dedupe } = request;
  if (dedupe === undefined) store(deps, line, plan, deliveries);
  else {
    const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: LOCK_WAIT_MS };
    await withLock(join(deps.locks, 'notify-dedupe.lock'), lock, async () => {
      const { duplicateOf, pending } = sentBefore(deps, dedupe, line.hash);
      if (duplicateOf !== undefined) {
        logAccepted(deps, { ...line, channels: [], skipped: [], duplicateOf });
        return;
      }
      store(deps, line, plan, deliveries);
      supersede(deps, pending, deliveries);
    });
  }
  const phase =
    request.phase === undefined ? undefined : await deps.phaseEffect?.(request.phase, request.slug);
  return { status: 'accepted', id, ...(phase === undefined ? {} : { phase }) };
}

type Line = Omit<AcceptedLine, 'kind' | 'ts' | 'channels' | 'skipped'>;

function store(deps: AcceptDeps, line: Line, plan: Plan, deliveries: readonly Delivery[]): void {
  deps.room(deliveries.length);
  try {
    for (const delivery of deliveries) put(outboxOf(deps), delivery);
    logAccepted(deps, {
      ...line,
      channels: deliveries.map(({ channel }) => channel),
      skipped: plan.skipped,
      heldUntil: deliveries.find(({ heldUntil }) => heldUntil !== undefined)?.heldUntil,
    });
  } catch (error) {
    // If the disk is full, reject the whole notification, so that the sender can retry it.
    for (const delivery of deliveries) removeFile(join(deps.outbox, nameOf(delivery)));
    throw error;
  }
  deps.wake?.(deliveries);
}

function lineOf({ title, dedupe, source, message, event }: NotifyRequest, plan: Plan, id: string): Line {
  const text = JSON.stringify([event, title ?? null, message]);
  const hash = shortHash(text) + shortHash(`${text} `);
  return { id, event: plan.event, priority: plan.priority, source, text: message, hash, title, dedupe };
}

/**
 * Returns the pending deliveries with the given dedupe key, and the id of a recent notification with the same
 * text. Reads the log instead of the outbox, which may contain thousands of files.
 */
function sentBefore(
  deps: AcceptDeps,
  key: string,
  hash: string,
): { pending: ReadonlySet<string>; duplicateOf: string | undefined } {
  const ids = new Set<string>();
  const pending = new Set<string>();
  let last: { id: string; hash: string } | undefined;
  for (const line of readHistory(deps.history)) {
    const { id } = line;
    if (line.kind === 'result') {
      if (!ids.has(id)) continue;
      const { channel, result } = line;
      if (result !== 'waiting') pending.delete(nameOf({ id, channel }));
      if (channel === 'voice' && result === 'shown') pending.add(nameOf({ id, channel: 'desktop' }));
      if (id === last?.id && (result === 'failed' || result === 'expired')) last = undefined;
    } else if (line.dedupe === key && line.duplicateOf === undefined) {
      ids.add(id);
      for (const channel of line.channels) pending.add(nameOf({ id, channel }));
      last = Math.abs(deps.clock.now() - Date.parse(line.ts)) < DEDUPE_MS ? line : undefined;
    }
  }
  return { pending, duplicateOf: last?.hash === hash ? last.id : undefined };
}

/** Withdraws the pending deliveries that a newer notification replaces. */
function supersede(deps: AcceptDeps, pending: ReadonlySet<string>, by: readonly Delivery[]): void {
  for (const name of pending) {
    if (!by.some(({ channel }) => channel === parseName(name)?.channel)) continue;
    const old = readWaiting(deps, name);
    if (old?.machine !== deps.machineId || !withdraw(outboxOf(deps), name)) continue;
    logResult(deps, old, 'superseded', 'a newer message has the same key');
  }
}

function deliveriesOf(deps: AcceptDeps, request: NotifyRequest, plan: Plan, id: string): Delivery[] {
  const { message, title, voiceId, url, dedupe, tags, source } = request;
  const at = toIso(deps.clock.now());
  const boot = deps.clock.boot?.();
  const isShown = plan.deliveries.some(({ channel }) => channel === 'desktop');
  return plan.deliveries.map(({ channel, silent, heldUntil: heldMs }) => {
    const heldUntil = heldMs === undefined ? undefined : toIso(heldMs);
    return {
      ...{ id, channel, machine: deps.machineId, at, boot, event: plan.event, priority: plan.priority },
      ...{ source, message, title, voiceId, url, dedupe, tags, silent, heldUntil },
      alsoShown: (channel === 'voice' && isShown) || undefined,
      nextAt: heldUntil ?? at,
      ...{ attempts: 0, interrupted: 0, sentParts: 0 },
    };
  });
}

/**
 * The sender chooses the id, so that a message is accepted only once even if the daemon accepts it without
 * responding. Only the process that creates the file named after the id accepts the message.
 */

const MAX_AGE_MS = 24 * 3_600_000;
/**
 * How long to keep the id files. Longer than MAX_AGE_MS, because a suspended daemon may handle a request days
 * later.
 */
const KEEP_MS = 7 * MAX_AGE_MS;
/** How long a process may take to accept a message before it counts as hung. */
const HANG_MS = 2_000;
const POLL_MS = 50;

/**
 * Accepts a request with the sender's id; does nothing if the id was already accepted. Throws `usage` if the
 * id is invalid, and `conflict` if the id is older than a day.
 */
export async function acceptOnce(deps: AcceptDeps, body: unknown, id: unknown): Promise<Accepted> {
  const request = parseRequest(body);
  if (typeof id !== 'string' || !ID_GRAMMAR.test(id)) {
    throw new StewardError('usage', 'The id is invalid.', {
      hint: 'Omit the id; the response contains a new one.',
    });
  }
  if (!(Math.abs(deps.clock.now() - timeOfName(id)) < MAX_AGE_MS)) {
    throw new StewardError('conflict', 'The id is older than a day.', {
      hint: 'Send the message with a new id.',
    });
  }
  if (!takeId(deps, id)) return { status: 'accepted', id };
  try {
    return await acceptRequest(deps, request, id);
  } finally {
    removeFile(join(idFolder(deps), id));
  }
}

/**
 * Accepts a request that the daemon didn't answer, unless the daemon has already accepted it. Throws
 * `unavailable` if the daemon hangs while accepting the request.
 */
export async function acceptUnanswered(
  deps: AcceptDeps,
  body: unknown,
  id: string,
): Promise<{ accepted: Accepted; by: 'daemon' | 'sender' }> {
  const request = parseRequest(body);
  for (const name of listFolder(idFolder(deps))) {
    const ageMs = ID_GRAMMAR.test(name) ? Math.abs(deps.clock.now() - timeOfName(name)) : 0;
    if (ageMs > KEEP_MS) removeFile(join(idFolder(deps), name));
  }
  const endMs = deps.clock.monotonic() + HANG_MS;
  for (;;) {
    const isOurs = takeId(deps, id);
    if (entryOf(deps, id) !== undefined) {
      const phase = request.phase === undefined ? {} : { phase: 'not known' };
      return { accepted: { status: 'accepted', id, ...phase }, by: 'daemon' };
    }
    if (isOurs) return { accepted: await acceptRequest(deps, request, id), by: 'sender' };
    if (deps.clock.monotonic() >= endMs) {
      throw new StewardError(
        'unavailable',
        `The daemon hung while accepting ${id}. It may still send the message.`,
        {
          hint: 'Send the message again if `steward notify history` does not list it.',
        },
      );
    }
    await delay(POLL_MS);
  }
}

function idFolder({ locks }: AcceptDeps): string {
  return join(locks, 'notify-taken');
}

function takeId(deps: AcceptDeps, id: string): boolean {
  const path = join(idFolder(deps), id);
  const isTaken = claimFile(path);
  if (isTaken !== undefined) return isTaken;
  ensureFolder(idFolder(deps));
  return claimFile(path) === true;
}
