import { randomBytes } from 'node:crypto';

import { StewardError, toStewardError } from '../errors';
import { definedOnly } from '../platform/files/json-object';
import { toIso } from '../platform/time/clock';
import { toItem, type Item } from './board';
import { queueIssue, whileCreating, type QueuedIssue } from './capture/queued';
import type { WorkDeps } from './deps';
import { dueWords, readDue, readWhen } from './due';
import { ensureIssue, readLedger, wantedTitle } from './ensure';
import { identityKey, titleContainsAll } from './issue';
import { codeBlock } from './outgoing';
import { openForWriting, repoOf } from './privacy';

/** The result of `work add` and `work remind`. */
export interface Added extends Item {
  /** Requested labels that the repository doesn't have. */
  missingLabels: string[];
  /** Whether an earlier command had queued the issue. */
  resumed: boolean;
}

type Optional = 'body' | 'type' | 'status' | 'priority' | 'property';

export interface AddInput extends Partial<Record<Optional, string | undefined>> {
  title: string;
  labels?: readonly string[];
}

export function newIssue(input: AddInput): QueuedIssue {
  const labels = Object.entries({
    Type: input.type,
    Status: input.status ?? 'queued',
    Priority: input.priority?.toUpperCase(),
    Property: input.property,
  }).flatMap(([prefix, value]) => (value === undefined ? [] : [`${prefix}:${value}`]));
  return withId({
    kind: null,
    text: input.title,
    body: withFullText(null, input.title, input.title, input.body ?? ''),
    labels: [...labels, ...(input.labels ?? [])],
  });
}

export interface ReminderInput {
  text: string;
  at?: string | undefined;
  priority?: string | undefined;
}

/** Builds the issue for `work remind`. Takes the due time from `at` or from the text. */
export async function newReminder(deps: WorkDeps, input: ReminderInput): Promise<QueuedIssue> {
  const now = { nowMs: deps.clock.now(), zone: deps.timezone };
  const due =
    input.at === undefined
      ? await readDue(input.text, now)
      : { text: input.text, dueMs: await readWhen(input.at, now) };
  const text = due.text === '' ? input.text : due.text;
  const words = due.dueMs === undefined ? '' : dueWords(due.dueMs, deps.timezone);
  const priority = input.priority === undefined ? [] : [`Priority:${input.priority.toUpperCase()}`];
  return withId({
    kind: 'reminder',
    text,
    body: withFullText('reminder', text, input.text, words),
    labels: ['Type:reminder', 'Status:queued', ...priority],
    ...(due.dueMs === undefined ? {} : { due: toIso(due.dueMs) }),
  });
}

/** Adds the text to the body if the title doesn't contain the whole text. */
function withFullText(kind: 'reminder' | null, text: string, typed: string, body: string): string {
  if (titleContainsAll(kind, text, typed) || body.includes(typed.trim())) return body;
  return [body, codeBlock(typed.trim())].filter((part) => part !== '').join('\n\n');
}

function withId(wanted: Omit<QueuedIssue, 'identity'>): QueuedIssue {
  if (wanted.text.trim() === '') {
    throw new StewardError('usage', 'The title is empty.', { hint: 'Describe the task in a few words.' });
  }
  return { identity: { kind: 'id', value: randomBytes(8).toString('hex') }, ...wanted };
}

export async function create(deps: WorkDeps, wanted: QueuedIssue, resumed = false): Promise<Added> {
  const { issue, missingLabels } = await ensureIssue(await openForWriting(deps), wanted);
  return { ...toItem(issue, deps.config.KANBAN_COLUMNS), missingLabels, resumed };
}

/** An issue that stays queued because GitHub has not confirmed it; `due` is ISO 8601 in UTC. */
export type Queued = Extract<Awaited<ReturnType<typeof createOrQueue>>, { queued: true }>;

/**
 * Queues an issue and creates it. It stays queued until GitHub confirms it, so that a delivery can create it
 * if this process is killed.
 */
export async function createOrQueue(deps: WorkDeps, wanted: QueuedIssue) {
  const repo = repoOf(deps.workRepo());
  const { issue, resumed, remove } = queueIssue(deps, wanted);
  return whileCreating(deps, issue, async () => {
    try {
      const added = await create(deps, issue, resumed);
      remove();
      return added;
    } catch (error) {
      const { kind, message, hint } = toStewardError(error);
      const { due = null } = issue;
      if (kind === 'unavailable' || kind === 'locked')
        return { queued: true as const, title: wantedTitle(issue), due, reason: message, resumed };
      // If GitHub may have created the issue, it stays queued until a delivery has checked that.
      const mayExist = readLedger(deps.paths.ledger, repo).has(identityKey(issue.identity));
      if (resumed || mayExist) throw error;
      remove();
      throw new StewardError(kind, `Not saved: ${message}`, { ...definedOnly({ hint }), cause: error });
    }
  });
}

/** Returns the error for Ctrl-C while `createOrQueue` waits for GitHub. */
export function addInterrupted(): StewardError {
  return new StewardError('canceled', 'Interrupted before GitHub confirmed the issue.', {
    hint: 'The issue is queued. The daemon or the next "steward work sweep" creates it once.',
  });
}
