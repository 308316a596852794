import { join } from 'node:path';

import { StewardError } from '../errors';
import { removeFile } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import { shortHash } from '../platform/files/short-hash';
import { checkRoom, put, timeOfName } from '../platform/files/spool';
import { toIso, type Clock } from '../platform/time/clock';
import type { Channel } from './channels/channel';
import {
  NO_RESULT,
  entryOf,
  lineOf,
  logLine,
  readHistory,
  supersede,
  type HistoryDeps,
  type HistoryLine,
} from './history';
import { parseRequest, type NotifyRequest } from './message';
import {
  ID_GRAMMAR,
  nameOf,
  newId,
  outboxOf,
  pendingDeliveries,
  type Delivery,
  type OutboxDeps,
} from './outbox';
import { muteState, route, type MuteDeps, type Plan, type RoutingSettings } from './routing';

export interface AcceptDeps extends OutboxDeps, HistoryDeps, MuteDeps {
  clock: Clock;
  locks: string;
  settings: () => RoutingSettings;
  channels: readonly Channel[];
  /** Whether notifications from jobs may be spoken. Set with DAEMON_CRON_VOICE=1. */
  cronVoice: boolean;
  /** Returns whether the events that steward notices may be spoken. */
  maySpeak: () => boolean;
  /** Sets a session's phase. Returns the reason for a failure, or undefined; never throws. */
  phaseEffect?: (phase: string, slug: string | undefined) => Promise<string | undefined>;
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
/** How long an id chosen by the sender can be accepted. */
const MAX_AGE_MS = 24 * 3_600_000;
/** How long a process may take to accept a message before it counts as hung. */
const LOCK_WAIT_MS = 5_000;

/** Accepts a request body and queues a delivery for each channel. Throws `usage` if the body is invalid. */
export async function acceptNotification(deps: AcceptDeps, body: unknown): Promise<Accepted> {
  return acceptRequest(deps, parseRequest(body));
}

export async function acceptRequest(deps: AcceptDeps, request: NotifyRequest): Promise<Accepted> {
  const id = newId(deps.clock);
  const store = prepare(deps, request, id);
  if (request.dedupe === undefined) store();
  else await oneAtATime(deps, store);
  return { status: 'accepted', id, ...(await phaseOf(deps, request)) };
}

/**
 * Accepts a request with the id that the sender has chosen, so that a message is accepted only once even if
 * the daemon accepts it without responding; does nothing if the id was already accepted. Throws `usage` if the
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
  const isNew = await storeOnce(deps, request, id);
  return { status: 'accepted', id, ...(isNew ? await phaseOf(deps, request) : {}) };
}

/**
 * Accepts a request that the daemon didn't answer, unless the daemon has already accepted it. If the daemon
 * was killed meanwhile, queues the deliveries that it hasn't queued. Throws `unavailable` if the daemon hangs
 * while accepting the request.
 */
export async function acceptUnanswered(
  deps: AcceptDeps,
  body: unknown,
  id: string,
): Promise<{ accepted: Accepted; by: 'daemon' | 'sender' }> {
  const request = parseRequest(body);
  try {
    if (await storeOnce(deps, request, id))
      return { accepted: { status: 'accepted', id, ...(await phaseOf(deps, request)) }, by: 'sender' };
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'locked')) throw error;
    throw new StewardError(
      'unavailable',
      `The daemon hung while accepting ${id}. It may still send the message.`,
      { hint: 'Send the message again if `steward notify history` does not list it.' },
    );
  }
  const phase = request.phase === undefined ? {} : { phase: 'not known' };
  return { accepted: { status: 'accepted', id, ...phase }, by: 'daemon' };
}

/** Returns whether a notification with this dedupe key was accepted. */
export function wasAccepted(deps: HistoryDeps & OutboxDeps, key: string): boolean {
  return earlierOf(deps, key).length > 0;
}

/** Queues the deliveries that another process, which may have been killed, hasn't queued with this id. */
function storeOnce(deps: AcceptDeps, request: NotifyRequest, id: string): Promise<boolean> {
  const store = prepare(deps, request, id);
  return oneAtATime(deps, () => {
    const entry = entryOf(deps, id);
    const known = entry?.channels.map(({ channel }) => channel);
    return (entry === undefined || entry.duplicateOf === null) && store(known);
  });
}

function oneAtATime<T>(deps: AcceptDeps, work: () => T): Promise<T> {
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: LOCK_WAIT_MS };
  return withLock(join(deps.locks, 'notify-accept.lock'), lock, work);
}

async function phaseOf(deps: AcceptDeps, { phase, slug }: NotifyRequest): Promise<Pick<Accepted, 'phase'>> {
  const problem = phase === undefined ? undefined : await deps.phaseEffect?.(phase, slug);
  return problem === undefined ? {} : { phase: problem };
}

/**
 * Returns a function that queues the deliveries of a request, except on channels that already have them, and
 * returns whether there was anything to queue or log.
 */
function prepare(
  deps: AcceptDeps,
  request: NotifyRequest,
  id: string,
): (known?: readonly string[]) => boolean {
  const plan = route(request, deps.settings(), {
    nowMs: timeOfName(id),
    muted: muteState(deps).muted,
    cronVoice: deps.cronVoice,
    maySpeak: deps.maySpeak(),
    channels: deps.channels,
  });
  const { dedupe } = request;
  const hash = hashOf(request);
  const planned = deliveriesOf(deps, request, plan, id).map((delivery) => ({ ...delivery, hash }));
  const skipped = plan.skipped.map((channel) => ({ ...NO_RESULT, ...channel, result: 'skipped' as const }));
  const line = lineOf({ ...request, ...plan, id, hash }, skipped);
  return (known) => {
    const deliveries = planned.filter(({ channel }) => known?.includes(channel) !== true);
    if (known !== undefined && deliveries.length === 0) return false;
    const earlier = dedupe === undefined ? [] : earlierOf(deps, dedupe).filter((one) => one.id !== id);
    const duplicateOf = sameText(deps, earlier, hash);
    if (duplicateOf !== undefined) {
      logLine(deps, { ...line, channels: [], duplicateOf });
      return true;
    }
    store(deps, line, deliveries);
    if (dedupe !== undefined) replaceEarlier(deps, deliveries);
    deps.wake?.(deliveries);
    return true;
  };
}

function store(deps: AcceptDeps, line: HistoryLine, deliveries: readonly Delivery[]): void {
  checkRoom(outboxOf(deps), deliveries.length);
  try {
    for (const delivery of deliveries) put(outboxOf(deps), delivery);
    if (line.channels.length > 0 || deliveries.length === 0) logLine(deps, line);
  } catch (error) {
    // If the disk is full, reject the whole notification, so that the sender can retry it.
    for (const delivery of deliveries) removeFile(join(deps.outbox, nameOf(delivery)));
    throw error;
  }
}

function hashOf({ event, title, message }: NotifyRequest): string {
  const text = JSON.stringify([event, title ?? null, message]);
  return shortHash(text) + shortHash(`${text} `);
}

/** Returns what is known about the notifications with this dedupe key, oldest first. */
function earlierOf(
  deps: HistoryDeps & OutboxDeps,
  key: string,
): Pick<HistoryLine, 'id' | 'hash' | 'channels'>[] {
  const pending = pendingDeliveries(deps).filter(({ dedupe }) => dedupe === key);
  const lines = readHistory(deps.history, JSON.stringify(key)).filter(
    (line) => line.dedupe === key && line.duplicateOf === null,
  );
  const earlier = [...lines, ...pending.map((delivery) => lineOf(delivery, []))];
  return earlier.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns the id of the latest of these notifications if it has the same text, is recent and didn't fail. */
function sameText({ clock }: AcceptDeps, earlier: ReturnType<typeof earlierOf>, hash: string) {
  const last = earlier.at(-1);
  if (last?.hash !== hash || Math.abs(clock.now() - timeOfName(last.id)) >= DEDUPE_MS) return undefined;
  const results = earlier.filter(({ id }) => id === last.id).flatMap(({ channels }) => channels);
  return results.some(({ result }) => result === 'failed' || result === 'expired') ? undefined : last.id;
}

/** Withdraws the pending deliveries that a newer notification replaces. */
function replaceEarlier(deps: AcceptDeps, by: readonly Delivery[]): void {
  for (const old of pendingDeliveries(deps)) {
    const isReplaced = by.some(({ id, channel, dedupe, machine }) => {
      return old.dedupe === dedupe && old.channel === channel && old.machine === machine && old.id !== id;
    });
    if (isReplaced) supersede(deps, old, 'a newer message has the same key');
  }
}

function deliveriesOf(deps: AcceptDeps, request: NotifyRequest, plan: Plan, id: string): Delivery[] {
  const { message, title, voiceId, url, dedupe, thread, tags, source } = request;
  const at = toIso(deps.clock.now());
  const boot = deps.clock.boot?.();
  const isShown = plan.deliveries.some(({ channel }) => channel === 'desktop' || channel === 'terminal');
  return plan.deliveries.map(({ channel, silent, heldUntil: heldMs, atBreak }) => {
    const heldUntil = heldMs === undefined ? undefined : toIso(heldMs);
    return {
      id,
      channel,
      machine: deps.machineId,
      at,
      boot,
      event: plan.event,
      priority: plan.priority,
      source,
      message,
      title,
      voiceId,
      url,
      dedupe,
      thread,
      tags,
      silent,
      heldUntil,
      atBreak,
      alsoShown: (channel === 'voice' && isShown) || undefined,
      nextAt: heldUntil ?? at,
      attempts: 0,
      interrupted: 0,
      sentParts: 0,
    };
  });
}
