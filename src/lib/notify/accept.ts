import { join } from 'node:path';

import { toIso, type Clock } from '../platform/time/clock';
import { shortHash } from '../platform/files/short-hash';
import { withLock } from '../platform/files/lock';
import { channelOf, nameOf, type Delivery } from './delivery';
import type { ChannelId } from './events';
import { logAccepted, logResult, readHistory, type HistoryDeps } from './history';
import { newId } from './id';
import { parseRequest, type NotifyRequest } from './message';
import { muteState, type MuteDeps } from './mute';
import { put, readWaiting, takeBack, withdraw, type OutboxDeps } from './outbox';
import { route, type Plan, type RoutingSettings } from './routing';

/** What accepting needs. `settings` and `off` are asked each time: the configuration may change under a daemon. */
export interface AcceptDeps extends OutboxDeps, HistoryDeps, MuteDeps {
  clock: Clock;
  /** Machine-local folder of the locks. */
  locks: string;
  settings: () => RoutingSettings;
  off: (channel: ChannelId) => string | undefined;
  /** Throws where the outbox has no room for so many more (outbox.ts). */
  room: (deliveries: number) => void;
  /** DAEMON_CRON_VOICE is 1. */
  cronVoice: boolean;
  /** Does the phase writes of a request that has a phase, and says in a word what did not happen. Never throws. */
  phaseEffect?: (phase: string, slug: string | undefined) => Promise<string | undefined>;
  /** Told of what there is to deliver. */
  wake?: (deliveries: readonly Delivery[]) => void;
}

/** The answer to `POST /notify`, status 202 (decisions.md 5). */
export interface Accepted {
  status: 'accepted';
  id: string;
  /** What came of the phase, where it was not written: `no session`, `unknown`, `not written` for a fault, `not known`. */
  phase?: string;
}

const DEDUPE_MS = 12 * 3_600_000;
const LOCK_WAIT_MS = 5_000;

/**
 * Accepts a request body: checks it, decides where it goes, and puts a file for each channel into the outbox.
 * What is delivered is delivered later, by whoever delivers. A body that is wrong is `usage`, and names the key.
 */
export async function acceptNotification(deps: AcceptDeps, body: unknown): Promise<Accepted> {
  return acceptRequest(deps, parseRequest(body));
}

/** @param id where the sender has chosen it (accept-once.ts) */
export async function acceptRequest(
  deps: AcceptDeps,
  request: NotifyRequest,
  id = newId(deps.clock),
): Promise<Accepted> {
  const nowMs = deps.clock.now();
  const plan = route(request, deps.settings(), {
    nowMs,
    muted: muteState(deps).muted,
    cronVoice: deps.cronVoice,
    off: deps.off,
  });
  const at = toIso(nowMs);
  const deliveries = plan.deliveries.map((planned) => deliveryOf(deps, request, plan, { id, at }, planned));
  const enter = (): void => store(deps, request, plan, id, deliveries);
  if (request.dedupe === undefined) enter();
  else {
    const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: LOCK_WAIT_MS };
    const key = request.dedupe;
    await withLock(join(deps.locks, 'notify-dedupe.lock'), lock, async () => {
      const { same, open } = sentBefore(deps, key, hashOf(request), nowMs);
      if (same === undefined) {
        enter();
        supersede(deps, open, deliveries);
      } else {
        logAccepted(deps, { ...aboutOf(request, plan, id), channels: [], skipped: [], duplicateOf: same });
      }
    });
  }
  const phase =
    request.phase === undefined ? undefined : await deps.phaseEffect?.(request.phase, request.slug);
  return { status: 'accepted', id, ...(phase === undefined ? {} : { phase }) };
}

function store(
  deps: AcceptDeps,
  request: NotifyRequest,
  plan: Plan,
  id: string,
  deliveries: readonly Delivery[],
): void {
  const heldUntil = deliveries.find((delivery) => delivery.heldUntil !== undefined)?.heldUntil;
  deps.room(deliveries.length);
  try {
    for (const delivery of deliveries) put(deps, delivery);
    logAccepted(deps, {
      ...aboutOf(request, plan, id),
      channels: deliveries.map(({ channel }) => channel),
      skipped: plan.skipped,
      ...(heldUntil === undefined ? {} : { heldUntil }),
    });
  } catch (error) {
    // On a full disk it is refused as a whole: who is told so sends it again.
    for (const delivery of deliveries) takeBack(deps, delivery);
    throw error;
  }
  deps.wake?.(deliveries);
}

function aboutOf(
  request: NotifyRequest,
  plan: Plan,
  id: string,
): Omit<Parameters<typeof logAccepted>[1], 'channels' | 'skipped'> {
  const { title, dedupe, source, message } = request;
  return {
    id,
    event: plan.event,
    priority: plan.priority,
    source,
    text: message,
    hash: hashOf(request),
    ...(title === undefined ? {} : { title }),
    ...(dedupe === undefined ? {} : { dedupe }),
  };
}

function hashOf({ title, message, event }: NotifyRequest): string {
  const text = JSON.stringify([event, title ?? null, message]);
  return shortHash(text) + shortHash(`${text} `);
}

/**
 * What the log has of a key: `open` are the deliveries, by name, that have not ended; `same` is the notification of the
 * last hours with the same text, that went out or will.
 */
function sentBefore(
  deps: AcceptDeps,
  key: string,
  hash: string,
  nowMs: number,
): { open: ReadonlySet<string>; same: string | undefined } {
  const ids = new Set<string>();
  const open = new Set<string>();
  let last: { id: string; hash: string } | undefined;
  for (const line of readHistory(deps.history)) {
    const { id } = line;
    if (line.kind === 'result') {
      if (!ids.has(id)) continue;
      const { channel, result } = line;
      if (result !== 'waiting') open.delete(nameOf({ id, channel }));
      if (channel === 'voice' && result === 'shown') open.add(nameOf({ id, channel: 'desktop' }));
      if (id === last?.id && (result === 'failed' || result === 'expired')) last = undefined;
    } else if (line.dedupe === key && line.duplicateOf === undefined) {
      ids.add(id);
      for (const channel of line.channels) open.add(nameOf({ id, channel }));
      last = Math.abs(nowMs - Date.parse(line.ts)) < DEDUPE_MS ? line : undefined;
    }
  }
  return { open, same: last?.hash === hash ? last.id : undefined };
}

/**
 * What still waits of them for the same channels has been overtaken. They are known by the log, since an outbox may hold
 * thousands of others.
 */
function supersede(deps: AcceptDeps, open: ReadonlySet<string>, by: readonly Delivery[]): void {
  const channels = new Set<string>(by.map(({ channel }) => channel));
  for (const name of open) {
    if (!channels.has(channelOf(name))) continue;
    const old = readWaiting(deps, name);
    if (old?.machine !== deps.machineId || !withdraw(deps, name)) continue;
    logResult(deps, old, 'superseded', 'a newer message of the same key took its place');
  }
}

function deliveryOf(
  deps: AcceptDeps,
  request: NotifyRequest,
  plan: Plan,
  { id, at }: { id: string; at: string },
  planned: Plan['deliveries'][number],
): Delivery {
  const { message, title, voiceId, url, dedupe, tags } = request;
  const heldUntil = planned.heldUntil === undefined ? undefined : toIso(planned.heldUntil);
  const boot = deps.clock.boot?.();
  const isShown = plan.deliveries.some(({ channel }) => channel === 'desktop');
  return {
    id,
    channel: planned.channel,
    machine: deps.machineId,
    at,
    ...(boot === undefined ? {} : { boot }),
    event: plan.event,
    priority: plan.priority,
    message,
    ...(title === undefined ? {} : { title }),
    ...(voiceId === undefined ? {} : { voiceId }),
    ...(url === undefined ? {} : { url }),
    ...(dedupe === undefined ? {} : { dedupe }),
    tags,
    silent: planned.silent,
    ...(planned.channel === 'voice' && isShown ? { alsoShown: true } : {}),
    ...(heldUntil === undefined ? {} : { heldUntil }),
    nextAt: heldUntil ?? at,
    attempts: 0,
    interrupted: 0,
    sentParts: 0,
  };
}
