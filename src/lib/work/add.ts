import { randomBytes } from 'node:crypto';

import { StewardError, toStewardError } from '../errors';
import { toIso } from '../platform/time/clock';
import { toItem, type Item } from './board';
import { queueIssue } from './capture/deliver';
import type { WorkDeps } from './deps';
import { dueWords, readDue, readWhen } from './due';
import { ensureIssue, wantedTitle, type Wanted } from './ensure';
import { failureOf } from './host/failure';
import { titleHolds } from './issue';
import { codeBlock } from './markdown';
import { openForWriting } from './privacy';

/** What `work add` and `work remind` made. */
export interface Added extends Item {
  /** Labels that were wanted and that the repository does not have. */
  missingLabels: string[];
}

export interface AddInput {
  title: string;
  body?: string | undefined;
  type?: string | undefined;
  status?: string | undefined;
  priority?: string | undefined;
  property?: string | undefined;
  labels?: readonly string[];
}

/** An issue to be made by hand. */
type NewIssue = Wanted & { kind: 'reminder' | null };

/** The issue of `work add`. */
export function newIssue(input: AddInput): NewIssue {
  const families = {
    Type: input.type,
    Status: input.status ?? 'queued',
    Priority: input.priority?.toUpperCase(),
    Property: input.property,
  };
  return withId({
    kind: null,
    text: input.title,
    body: withWhole(null, input.title, input.title, input.body ?? ''),
    labels: [
      ...Object.entries(families).flatMap(([family, value]) =>
        value === undefined ? [] : [`${family}:${value}`],
      ),
      ...(input.labels ?? []),
    ],
  });
}

export interface ReminderInput {
  text: string;
  at?: string | undefined;
  priority?: string | undefined;
}

/** The issue of `work remind`: the date is read out of the text, or of `at`. Without any it is a reminder without a time. */
export async function newReminder(deps: WorkDeps, input: ReminderInput): Promise<NewIssue> {
  const options = { nowMs: deps.clock.now(), zone: deps.timezone };
  const { text: rest, dueMs } =
    input.at === undefined
      ? await readDue(input.text, options)
      : { text: input.text, dueMs: await readWhen(input.at, options) };
  const text = rest === '' ? input.text : rest;
  const words = dueMs === undefined ? '' : dueWords(dueMs, deps.timezone);
  return withId({
    kind: 'reminder',
    text,
    body: withWhole('reminder', text, input.text, words),
    labels: [
      'Type:reminder',
      'Status:queued',
      ...(input.priority === undefined ? [] : [`Priority:${input.priority.toUpperCase()}`]),
    ],
    ...(dueMs === undefined ? {} : { due: toIso(dueMs) }),
  });
}

/** The body, with what was typed where the title cuts it. */
function withWhole(kind: 'reminder' | null, text: string, typed: string, body: string): string {
  if (titleHolds(kind, text, typed) || body.includes(typed.trim())) return body;
  return [body, codeBlock(typed.trim())].filter((part) => part !== '').join('\n\n');
}

function withId(wanted: Omit<NewIssue, 'identity'>): NewIssue {
  if (wanted.text.trim() === '') {
    throw new StewardError('usage', 'The title is empty.', { hint: 'Give it in a few words.' });
  }
  return { identity: { kind: 'id', value: randomBytes(8).toString('hex') }, ...wanted };
}

/** Creates an issue on the service, exactly once. */
export async function create(deps: WorkDeps, wanted: NewIssue): Promise<Added> {
  const { issue, missingLabels } = await ensureIssue(await openForWriting(deps), wanted);
  return { ...toItem(issue, deps.config.KANBAN_COLUMNS), missingLabels };
}

/** An issue that waits in the spool: GitHub could not be reached. */
export interface Queued {
  queued: true;
  title: string;
  /** ISO-8601 UTC, of a reminder with a time. */
  due: string | null;
  /** Why, in a sentence. */
  reason: string;
}

/** The same; where GitHub cannot be reached, the issue is queued and created later. */
export async function createOrQueue(deps: WorkDeps, wanted: NewIssue): Promise<Added | Queued> {
  try {
    return await create(deps, wanted);
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind !== 'unavailable' || failureOf(error)?.reason === 'rejected') throw error;
    queueIssue(deps, wanted);
    return { queued: true, title: wantedTitle(wanted), due: wanted.due ?? null, reason: message };
  }
}
