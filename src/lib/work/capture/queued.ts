import * as v from 'valibot';

import { type Machine } from '../../config/user-area';
import type { Intention } from '../../sessions/intention';
import { keptIntentions, leave, removeWaiting } from '../../sessions/spool';
import { withWorkLock } from '../deps';

/** The format in which the queue stores an issue. */
const QueuedIssue = v.object({
  identity: v.object({ kind: v.literal('id'), value: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)) }),
  kind: v.nullable(v.literal('reminder')),
  text: v.string(),
  body: v.string(),
  labels: v.array(v.string()),
  due: v.exactOptional(v.string()),
});

/** An issue that you asked for, which is queued until GitHub confirms it. */
export type QueuedIssue = v.InferOutput<typeof QueuedIssue>;

export function queuedIssue({ wanted }: Pick<Intention, 'wanted'>): QueuedIssue | undefined {
  const parsed = v.safeParse(QueuedIssue, wanted);
  return parsed.success ? parsed.output : undefined;
}

interface Queue {
  issue: QueuedIssue;
  /** Whether an earlier command queued the same issue. */
  resumed: boolean;
  /** Removes the issue from the queue. */
  remove: () => void;
}

/** Queues an issue to be created exactly once, or returns the same issue if it is already in the queue. */
export function queueIssue({ area, clock, machineId }: Machine, wanted: QueuedIssue): Queue {
  const content = contentOf(wanted);
  const queueOf = (issue: QueuedIssue, intention: Intention, resumed: boolean): Queue => ({
    issue,
    resumed,
    remove: () => removeWaiting(area.spool, intention),
  });
  for (const intention of keptIntentions(area.spool)) {
    const issue = intention.machine === machineId ? queuedIssue(intention) : undefined;
    if (issue !== undefined && contentOf(issue) === content) return queueOf(issue, intention, true);
  }
  const stored: Record<string, unknown> = { ...wanted };
  const what = { kind: 'issue-wanted', session: '', slug: null, transcript: null, wanted: stored } as const;
  return queueOf(wanted, leave({ area, clock, machineId }, what), false);
}

function contentOf({ kind, text, body, labels, due }: QueuedIssue): string {
  return JSON.stringify([kind, text, body, labels, due]);
}

/** Runs `create` unless another process is creating the issue; throws `locked` if it doesn't finish in time. */
export function whileCreating<T>(
  deps: Machine,
  { identity }: QueuedIssue,
  create: () => Promise<T>,
  waitMs?: number,
): Promise<T> {
  return withWorkLock(deps, `issue-${identity.value}`, create, waitMs);
}
