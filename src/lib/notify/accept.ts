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
import {
  ID_GRAMMAR,
  nameOf,
  newId,
  parseName,
  type Delivery,
  outboxOf,
  readWaiting,
  takeBack,
  type OutboxDeps,
} from './outbox';
import { entryOf, logAccepted, logResult, readHistory, type AcceptedLine, type HistoryDeps } from './history';
import { parseRequest, type NotifyRequest } from './message';
import { muteState, route, type MuteDeps, type Plan, type RoutingSettings } from './routing';

/** What accepting needs. `settings` and `channels` are asked each time: the configuration may change under a daemon. */
export interface AcceptDeps extends OutboxDeps, HistoryDeps, MuteDeps {
  clock: Clock;
  /** Machine-local folder of the locks. */
  locks: string;
  settings: () => RoutingSettings;
  channels: readonly Channel[];
  /** Throws where the outbox has no room for so many more (outbox.ts). */
  room: (deliveries: number) => void;
  /** DAEMON_CRON_VOICE is 1. */
  cronVoice: boolean;
  /** Does the phase writes of a request that has a phase, and says in a word what did not happen. Never throws. */
  phaseEffect?: (phase: string, slug: string | undefined) => Promise<string | undefined>;
  /** Told of what there is to deliver. */
  wake?: (deliveries: readonly Delivery[]) => void;
}

/** The answer to `POST /notify`, status 202. */
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
 * What is delivered is delivered later. A body that is wrong is `usage`, and names the key.
 */
export async function acceptNotification(deps: AcceptDeps, body: unknown): Promise<Accepted> {
  return acceptRequest(deps, parseRequest(body));
}

/** @param id where the sender has chosen it */
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
  const deliveries = deliveriesOf(deps, request, plan, id);
  const about = aboutOf(request, plan, id);
  const { dedupe } = request;
  if (dedupe === undefined) store(deps, about, plan, deliveries);
  else {
    const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: LOCK_WAIT_MS };
    await withLock(join(deps.locks, 'notify-dedupe.lock'), lock, async () => {
      const { same, open } = sentBefore(deps, dedupe, about.hash);
      if (same !== undefined) {
        logAccepted(deps, { ...about, channels: [], skipped: [], duplicateOf: same });
        return;
      }
      store(deps, about, plan, deliveries);
      supersede(deps, open, deliveries);
    });
  }
  const phase =
    request.phase === undefined ? undefined : await deps.phaseEffect?.(request.phase, request.slug);
  return { status: 'accepted', id, ...(phase === undefined ? {} : { phase }) };
}

type AboutLine = Omit<AcceptedLine, 'kind' | 'ts' | 'channels' | 'skipped'>;

function store(deps: AcceptDeps, about: AboutLine, plan: Plan, deliveries: readonly Delivery[]): void {
  deps.room(deliveries.length);
  try {
    for (const delivery of deliveries) put(outboxOf(deps), delivery);
    logAccepted(deps, {
      ...about,
      channels: deliveries.map(({ channel }) => channel),
      skipped: plan.skipped,
      heldUntil: deliveries.find(({ heldUntil }) => heldUntil !== undefined)?.heldUntil,
    });
  } catch (error) {
    // On a full disk it is refused as a whole: the sender is told, and sends it again.
    for (const delivery of deliveries) takeBack(deps, delivery);
    throw error;
  }
  deps.wake?.(deliveries);
}

function aboutOf(
  { title, dedupe, source, message, event }: NotifyRequest,
  plan: Plan,
  id: string,
): AboutLine {
  const text = JSON.stringify([event, title ?? null, message]);
  const hash = shortHash(text) + shortHash(`${text} `);
  return { id, event: plan.event, priority: plan.priority, source, text: message, hash, title, dedupe };
}

/**
 * What the log has of a key: `open` are the deliveries, by name, that have not ended; `same` is the notification of the
 * last hours with the same text, that went out or will.
 */
function sentBefore(
  deps: AcceptDeps,
  key: string,
  hash: string,
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
      last = Math.abs(deps.clock.now() - Date.parse(line.ts)) < DEDUPE_MS ? line : undefined;
    }
  }
  return { open, same: last?.hash === hash ? last.id : undefined };
}

/** What still waits for the same channels has been overtaken. The log knows them: an outbox may hold thousands. */
function supersede(deps: AcceptDeps, open: ReadonlySet<string>, by: readonly Delivery[]): void {
  for (const name of open) {
    if (!by.some(({ channel }) => channel === parseName(name)?.channel)) continue;
    const old = readWaiting(deps, name);
    if (old?.machine !== deps.machineId || !withdraw(outboxOf(deps), name)) continue;
    logResult(deps, old, 'superseded', 'a newer message of the same key took its place');
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

/*
 * A sender that gets no answer from the daemon cannot know whether its message was taken, and a daemon that hung
 * goes on with it later. So the sender chooses the id, and whoever accepts it takes that id first, by making a
 * file: one of the two does, and the other one finds out.
 */

/** A daemon that was stopped for longer leaves the request alone: what shows that it was taken is kept for longer. */
const OLDEST_MS = 24 * 3_600_000;
const KEEP_MS = 7 * OLDEST_MS;
/** How long a process may take over accepting a message before it counts as hung. */
const MIDST_MS = 2_000;
const LOOK_MS = 50;

/**
 * Accepts a body whose id the sender has chosen; one that the sender has sent by itself meanwhile goes nowhere.
 * An invalid id is `usage`, one that is older than a day `conflict`.
 */
export async function acceptOnce(deps: AcceptDeps, body: unknown, id: unknown): Promise<Accepted> {
  const request = parseRequest(body);
  if (typeof id !== 'string' || !ID_GRAMMAR.test(id)) {
    throw new StewardError('usage', 'id is not right.', { hint: 'Leave it out: the answer has one.' });
  }
  if (!(Math.abs(deps.clock.now() - timeOfName(id)) < OLDEST_MS)) {
    throw new StewardError('conflict', 'The message is older than a day.', { hint: 'Send it again.' });
  }
  if (!take(deps, id)) return { status: 'accepted', id };
  try {
    return await acceptRequest(deps, request, id);
  } finally {
    // It is in the log now, or was refused: then the sender may try by itself.
    removeFile(join(takenFolder(deps), id));
  }
}

/**
 * Accepts a body that the daemon was sent, and gave no answer to, and says who accepted it. Where the daemon has
 * accepted it nothing more is done; where it has not, it never will. A process that stands still, or was killed,
 * between the two is `unavailable`: then nothing is known, and nothing is sent a second time.
 */
export async function acceptUnanswered(
  deps: AcceptDeps,
  body: unknown,
  id: string,
): Promise<{ accepted: Accepted; by: 'daemon' | 'sender' }> {
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
    if (deps.clock.monotonic() >= endMs) {
      throw new StewardError(
        'unavailable',
        `The daemon stopped answering while it took the message: whether ${id} goes out is not known.`,
        {
          hint: '`steward notify history` shows it if it does. It was not sent a second time; sending it again may.',
        },
      );
    }
    await delay(LOOK_MS);
  }
}

function takenFolder({ locks }: AcceptDeps): string {
  return join(locks, 'notify-taken');
}

/** Undefined is the answer of `claimFile` where the folder is missing. */
function take(deps: AcceptDeps, id: string): boolean {
  const path = join(takenFolder(deps), id);
  const made = claimFile(path);
  if (made !== undefined) return made;
  ensureFolder(takenFolder(deps));
  return claimFile(path) === true;
}

function forgetOld(deps: AcceptDeps): void {
  for (const name of listFolder(takenFolder(deps))) {
    if (!ID_GRAMMAR.test(name) || Math.abs(deps.clock.now() - timeOfName(name)) <= KEEP_MS) continue;
    removeFile(join(takenFolder(deps), name));
  }
}
