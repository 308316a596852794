import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { toIso, type Clock } from '../platform/time/clock';
import { nameOf, type Delivery } from './delivery';
import { HELD, historyEntries, readHistory, type HistoryDeps, type HistoryEntry } from './history';
import { ID_GRAMMAR } from './id';
import { askRetry, deadOf, put, readWaiting, revive, waiting, type OutboxDeps } from './outbox';

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
