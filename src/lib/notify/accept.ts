import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { claimFile } from '../platform/files/atomic-file';
import { ensureFolder, listFolder, removeFile } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import { shortHash } from '../platform/files/short-hash';
import { type Clock, toIso } from '../platform/time/clock';
import { type Delivery, ID_GRAMMAR, channelOf, nameOf, newId, timeOfId } from './delivery';
import type { ChannelId } from './events';
import { type HistoryDeps, entryOf, logAccepted, logResult, readHistory } from './history';
import { type NotifyRequest, parseRequest } from './message';
import { type OutboxDeps, put, readWaiting, takeBack, withdraw } from './outbox';
import { type MuteDeps, type Plan, type RoutingSettings, muteState, route } from './routing';

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

/*
 * A sender that gets no answer from the daemon cannot know whether its message was taken, and a daemon that hung
 * goes on with it later. So the sender chooses the id, and whoever accepts it takes that id first, by making a
 * file: one of the two does, and the other one finds out.
 */

const HOUR_MS = 3_600_000;
/** A daemon that was stopped for longer leaves the request alone: what shows that it was taken is kept for longer. */
const OLDEST_MS = 24 * HOUR_MS;
const KEEP_MS = 7 * 24 * HOUR_MS;
/** How long a process may be in the midst of taking a message before it counts as hung there, too. */
const MIDST_MS = 2_000;
const LOOK_MS = 50;

/**
 * Accepts a body whose id the sender has chosen; one that the sender has sent by itself meanwhile goes nowhere.
 * What is no id, or older than a day, is refused: `usage`, `conflict`.
 */
export async function acceptOnce(deps: AcceptDeps, body: unknown, id: unknown): Promise<Accepted> {
  const request = parseRequest(body);
  if (typeof id !== 'string' || !ID_GRAMMAR.test(id)) {
    throw new StewardError('usage', 'id is not right.', { hint: 'Leave it out: the answer has one.' });
  }
  if (!(Math.abs(deps.clock.now() - timeOfId(id)) < OLDEST_MS)) {
    throw new StewardError('conflict', 'The message is older than a day.', { hint: 'Send it again.' });
  }
  if (!take(deps, id)) return { status: 'accepted', id };
  try {
    return await acceptRequest(deps, request, id);
  } finally {
    // It is in the log now, or was refused: then the sender may try by itself.
    removeFile(takenPath(deps, id));
  }
}

/** Who accepted a message that the daemon gave no answer to. */
export interface Unanswered {
  accepted: Accepted;
  by: 'daemon' | 'sender';
}

/**
 * Accepts a body that the daemon was sent, and gave no answer to. Where the daemon has accepted it nothing more is
 * done; where it has not, it never will, whenever it goes on. A process that stands still, or was killed, between
 * the two is `unavailable`: then nothing is known, and nothing is sent a second time.
 */
export async function acceptUnanswered(deps: AcceptDeps, body: unknown, id: string): Promise<Unanswered> {
  const request = parseRequest(body);
  forgetOld(deps);
  const endMs = deps.clock.monotonic() + MIDST_MS;
  for (;;) {
    const isMine = take(deps, id);
    if (entryOf(deps, id) !== undefined) {
      const phase = request.phase === undefined ? {} : { phase: 'not known' };
      return { accepted: { status: 'accepted', id, ...phase }, by: 'daemon' };
    }
    if (isMine) return { accepted: await acceptRequest(deps, request, id), by: 'sender' };
    if (deps.clock.monotonic() >= endMs) throw inTheMidst(id);
    await delay(LOOK_MS);
  }
}

function inTheMidst(id: string): StewardError {
  return new StewardError(
    'unavailable',
    `The daemon stopped answering while it took the message: whether ${id} goes out is not known.`,
    {
      hint: '`steward notify history` shows it if it does. It was not sent a second time; sending it again may.',
    },
  );
}

function take(deps: AcceptDeps, id: string): boolean {
  const path = takenPath(deps, id);
  const made = claimFile(path);
  if (made !== undefined) return made;
  ensureFolder(folderOf(deps));
  return claimFile(path) === true;
}

function takenPath(deps: AcceptDeps, id: string): string {
  return join(folderOf(deps), id);
}

function folderOf({ locks }: AcceptDeps): string {
  return join(locks, 'notify-taken');
}

function forgetOld(deps: AcceptDeps): void {
  for (const name of listFolder(folderOf(deps))) {
    if (ID_GRAMMAR.test(name) && Math.abs(deps.clock.now() - timeOfId(name)) > KEEP_MS) {
      removeFile(takenPath(deps, name));
    }
  }
}
