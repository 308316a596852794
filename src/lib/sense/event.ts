import { isObject, textOf } from '../platform/files/json-object';
import { parseIso } from '../platform/time/clock';

export const EVENT_TYPES = ['app-focus', 'git-commit', 'agent-session'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The source ids, which are also their keys in `sense.sources`. */
export const SOURCE_IDS = ['appFocus', 'git', 'agentSession'] as const;
export type SourceId = (typeof SOURCE_IDS)[number];

/** One line of `events/<date>.jsonl`: times and names, never content. */
export interface SenseEvent {
  /** ISO-8601, UTC. */
  ts: string;
  type: EventType;
  /** The source that reported it. */
  source: string;
  app?: string;
  repo?: string;
  detail?: Record<string, unknown>;
}

/** Returns a parsed value as an event, or why it is invalid. */
export function readEvent(value: unknown): SenseEvent | { invalid: string } {
  if (!isObject(value)) return { invalid: 'not an object' };
  const { ts, type, source, app, repo, detail } = value;
  if (typeof ts !== 'string' || parseIso(ts) === undefined) return { invalid: 'ts is not an ISO-8601 time' };
  if (!EVENT_TYPES.includes(type as EventType)) return { invalid: 'type is unknown' };
  if (typeof source !== 'string' || source === '') return { invalid: 'source is missing' };
  if (app !== undefined && typeof app !== 'string') return { invalid: 'app is not a string' };
  if (repo !== undefined && typeof repo !== 'string') return { invalid: 'repo is not a string' };
  if (detail !== undefined && !isObject(detail)) return { invalid: 'detail is not an object' };
  const event: SenseEvent = { ts, type: type as EventType, source };
  if (app !== undefined) event.app = app;
  if (repo !== undefined) event.repo = repo;
  if (detail !== undefined) event.detail = detail;
  return event;
}

/** Parses a line of an event log; returns the event, or why it is invalid. */
export function readEventLine(text: string): SenseEvent | { invalid: string } {
  // Exceptions are slow: a large damaged file would take minutes.
  if (!text.trimStart().startsWith('{')) return { invalid: 'not an object' };
  try {
    return readEvent(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { invalid: 'not JSON' };
    throw error;
  }
}

/** Returns whether a backfill added this event, rather than a capture. */
export function isBackfilled({ detail }: Readonly<Pick<SenseEvent, 'detail'>>): boolean {
  return detail?.['backfilled'] === true;
}

/**
 * Returns the identity of a commit's change within its repository. Events before sense 1.1 have none; there, author date
 * and subject identify it.
 */
export function changeOf({ detail }: Readonly<Pick<SenseEvent, 'detail'>>): string | undefined {
  const identity = textOf(detail?.['identity']);
  if (identity !== undefined) return identity;
  const authored = textOf(detail?.['authoredAt']);
  const subject = textOf(detail?.['subject']);
  if (authored === undefined || subject === undefined) return textOf(detail?.['sha']);
  return `${Date.parse(authored)}\n${subject}`;
}

/**
 * The version of the sense component. Raise it with any change of the event schema, the adapter contract or the daily
 * record; test/lib/sense/fingerprint.test.ts fails if you forget.
 */
export const SENSE_VERSION = '1.1.0';
