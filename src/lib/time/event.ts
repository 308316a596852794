import { isObject, textOf } from '../platform/files/json-object';
import { parseIso } from '../platform/time/clock';
import type { Browser } from './site';

const FOCUS = ['app-focus', 'away', 'web-focus'] as const;
export const EVENT_TYPES = [...FOCUS, 'git-commit', 'agent-session', 'session-state'] as const;
export type EventType = (typeof EVENT_TYPES)[number];
/** The types of the events that tell what was in front. */
export const FOCUS_TYPES: ReadonlySet<EventType> = new Set(FOCUS);

/** The source ids, which are also the keys in `sense.sources`. */
export const SOURCE_IDS = ['appFocus', 'git', 'agentSession', 'web'] as const;
export type SourceId = (typeof SOURCE_IDS)[number];

/** A line of `events/<date>.jsonl`. Contains times and names, never content. */
export interface SenseEvent {
  /** Time of the event, in ISO 8601 format (UTC). */
  ts: string;
  type: EventType;
  source: string;
  app?: string;
  repo?: string;
  detail?: Record<string, unknown>;
}

/** The `detail` of an app-focus event, which covers the `intervalSec` seconds before `ts`. */
export interface FocusDetail {
  /** Length of the interval. Default: the poll interval. */
  intervalSec?: number;
  /** Seconds between the last input and `ts`, or absent if unknown. */
  idleSec?: number;
  /**
   * Id of the adapter that reported the application. Ends in `-events` if the daemon was watching for focus
   * changes.
   */
  via?: string;
  bundleId?: string;
  machine?: string;
  /** Path of the checkout or worktree that contains the focused pane's folder. */
  path?: string;
  /** The checked-out branch, or absent if HEAD is detached. */
  branch?: string;
  /** Set if the focused pane's folder is outside the watched repositories. */
  otherFolder?: true;
  /** The assistant sessions in the focused pane. */
  sessions?: (string | { id: string; assistant?: string })[];
}

/**
 * `ready` means that the turn has finished. `waiting` means that the session needs your response to continue.
 */
export type SessionState = 'working' | 'waiting' | 'ready' | 'over';

/** The `detail` of a session-state event. The state begins at `ts`. */
export interface SessionStateDetail {
  session: string;
  state: SessionState;
  /** The assistant's name. Default: Claude Code. */
  assistant?: string;
  branch?: string;
  /** Set if the session's folder is outside the watched repositories. */
  otherFolder?: true;
  /** Why the session is waiting, such as `permission_prompt`. */
  reason?: string;
  /** Set if you sent a prompt at `ts`, which shows that the session was in the foreground. */
  prompt?: true;
  /** When the state began, in ISO 8601 format (UTC). Set only if it began on an earlier day. */
  since?: string;
  machine?: string;
}

/** The `detail` of an away event, which covers the time from `from` to `ts`. */
export interface AwayDetail {
  /** Start of the time away, in ISO 8601 format (UTC). */
  from: string;
  reason: 'idle' | 'locked';
  machine?: string;
}

/**
 * The `detail` of a web-focus event, which covers the time from `from` to `ts`. The event's `app` is the site, such as
 * `site:github.com`, or absent for a site that was not ticked.
 */
export type WebDetail = Omit<AwayDetail, 'reason'> & { via: Browser };

/** Validates a parsed value. Returns the event, or the reason why the value is invalid. */
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

/** Parses an event log line. Returns the event, or the reason why the line is invalid. */
export function readEventLine(text: string): SenseEvent | { invalid: string } {
  // Reject lines that can't be objects before parsing. Throwing a syntax error for each line of a large
  // damaged file would take minutes.
  if (!text.trimStart().startsWith('{')) return { invalid: 'not an object' };
  try {
    return readEvent(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { invalid: 'not JSON' };
    throw error;
  }
}

/** Returns a commit's identity within its repository. */
export function changeOf({ detail }: Readonly<Pick<SenseEvent, 'detail'>>): string | undefined {
  return textOf(detail?.['identity']);
}

/**
 * Version of the sense component. Change it when the event schema, the adapter interface or the record format
 * changes.
 */
export const SENSE_VERSION = '1.5.0';
