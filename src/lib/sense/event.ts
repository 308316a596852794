import { parseIso } from '../platform/clock';

/** The kinds of captured signal (service.md: Sense event). */
export const EVENT_TYPES = ['app-focus', 'git-commit', 'agent-session'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The sources; an event's `source` is the key of its switch in sense/config.json (decisions.md 3). */
export const SOURCE_IDS = ['appFocus', 'git', 'agentSession'] as const;
export type SourceId = (typeof SOURCE_IDS)[number];

/** One captured signal, one line of `events/<date>.jsonl`: spans and metadata, never content. */
export interface SenseEvent {
  /** ISO-8601, UTC. */
  ts: string;
  type: EventType;
  /** The adapter that saw it. */
  source: string;
  app?: string;
  repo?: string;
  detail?: Record<string, unknown>;
}

/** What an event says beside its time. */
export type Signal = Omit<SenseEvent, 'ts'>;

/** A parsed value as an event, or why it is none. */
export function readEvent(value: unknown): SenseEvent | { invalid: string } {
  if (!isRecord(value)) return { invalid: 'not an object' };
  const { ts, type, source, app, repo, detail } = value;
  if (typeof ts !== 'string' || parseIso(ts) === undefined) return { invalid: 'ts is not an ISO-8601 time' };
  if (!EVENT_TYPES.includes(type as EventType)) return { invalid: 'type is unknown' };
  if (typeof source !== 'string' || source === '') return { invalid: 'source is missing' };
  if (app !== undefined && typeof app !== 'string') return { invalid: 'app is not a string' };
  if (repo !== undefined && typeof repo !== 'string') return { invalid: 'repo is not a string' };
  if (detail !== undefined && !isRecord(detail)) return { invalid: 'detail is not an object' };
  // Without spreads: a day may have ten thousand.
  const event: SenseEvent = { ts, type: type as EventType, source };
  if (app !== undefined) event.app = app;
  if (repo !== undefined) event.repo = repo;
  if (detail !== undefined) event.detail = detail;
  return event;
}

/** One line of a log: what happened, and when, as it is written and in milliseconds. */
export interface SignalAt {
  /** Lines that say the same share it. */
  signal: Readonly<Signal>;
  ts: string;
  ms: number;
}

/**
 * Reads the lines of a log. Those of a day differ in little but their time, so what follows the time is parsed
 * once: events whose lines say the same share one signal.
 */
export function lineReader(): (text: string) => SignalAt | { invalid: string } {
  const known = new Map<string, Signal>();
  return (text) => {
    const isUsual = text.startsWith(USUAL_START) && text.charCodeAt(USUAL_END) === QUOTE;
    const rest = isUsual ? text.slice(USUAL_END) : '';
    const before = isUsual ? known.get(rest) : undefined;
    if (before !== undefined) {
      const ts = text.slice(USUAL_START.length, USUAL_END);
      const ms = parseIso(ts);
      if (ms !== undefined) return { signal: before, ts, ms };
    }
    const event = parseLine(text);
    if ('invalid' in event) return event;
    const { ts, ...signal } = event;
    // Unless a second "ts" follows, which then is the one that counts.
    const repeats = isUsual && text.startsWith(ts, USUAL_START.length) && ts.length === USUAL_LENGTH;
    if (repeats && known.size < MAX_KNOWN) known.set(rest, signal);
    return { signal, ts, ms: Date.parse(ts) };
  };
}

/** How steward writes an event: `{"ts":"2026-11-21T08:14:00.000Z",…`. */
const USUAL_START = '{"ts":"';
const USUAL_LENGTH = 24;
const USUAL_END = USUAL_START.length + USUAL_LENGTH;
const QUOTE = 34;
/** Kinds of line that are kept in mind; a day has some dozens. */
const MAX_KNOWN = 1000;

function parseLine(text: string): SenseEvent | { invalid: string } {
  // An exception for each line of a file of noise takes minutes.
  if (!text.trimStart().startsWith('{')) return { invalid: 'not an object' };
  try {
    return readEvent(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { invalid: 'not JSON' };
    throw error;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
